// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

/** What has happened since the stack was opened; packets where nothing else is said. */
public final class Counts {
    /** Frames received. */
    public long framesIn;
    /** Frames sent. */
    public long framesOut;
    /** Of a wrong length, checksum, version or option. */
    public long malformed;
    /** For another host, or of a protocol that nobody here knows. */
    public long notForUs;
    /** Fragments received. */
    public long fragmentsIn;
    /** Fragments sent. */
    public long fragmentsOut;
    /** Datagrams made whole. */
    public long reassembled;
    /** Datagrams whose fragments were dropped: too late, too many, overlapping. */
    public long reassemblyFailed;
    /** Dropped since no buffer was free. */
    public long noBuffer;
    /** Dropped since the next host did not answer ARP. */
    public long unresolved;
    /** Times that another host was heard with our address. */
    public long conflicts;
    /** Echo requests answered. */
    public long echoes;
    /** ICMP errors sent. */
    public long errorsOut;
    /** ICMP errors not sent because of the limit of their rate. */
    public long errorsLimited;
    /** ICMP errors received that are about a socket of ours. */
    public long errorsIn;
    /** Datagrams given to sockets. */
    public long datagramsIn;
    /** Datagrams sent by sockets. */
    public long datagramsOut;
    /** Datagrams to ports that have no socket. */
    public long noPort;
    /** Datagrams dropped since the socket's queue was full. */
    public long queueFull;
}
