// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.model;

/**
 * What is counted of stacks and of what belongs to them: sample points beside those of {@code org.verbena.verbs.SamplePoint}. The name begins with
 * the kind of object a point belongs to, see {@link StackObjectType}.
 */
public final class StackSamplePoint {
    // ---- a stack, as StackStatistics has it

    /** Frames received. */
    public static final int STACK_FRAMES_IN = 0xf00;
    /** Frames sent. */
    public static final int STACK_FRAMES_OUT = 0xf01;
    /** Packets dropped: a wrong length, checksum, version, address or option. */
    public static final int STACK_MALFORMED = 0xf02;
    /** Packets dropped: for another host, or of an unknown protocol. */
    public static final int STACK_NOT_FOR_US = 0xf03;
    /** Fragments received. */
    public static final int STACK_FRAGMENTS_IN = 0xf04;
    /** Fragments sent. */
    public static final int STACK_FRAGMENTS_OUT = 0xf05;
    /** Datagrams made whole. */
    public static final int STACK_REASSEMBLED = 0xf06;
    /** Datagrams whose fragments were dropped: too late, too many, or overlapping. */
    public static final int STACK_REASSEMBLY_FAILED = 0xf07;
    /** Packets not sent, since no buffer was free. */
    public static final int STACK_NO_BUFFER = 0xf08;
    /** Packets not sent, since the next host did not answer ARP, or more waited for its answer than may. */
    public static final int STACK_UNRESOLVED = 0xf09;
    /** Times that another host was heard with this address. */
    public static final int STACK_CONFLICTS = 0xf0a;
    /** Echo requests answered. */
    public static final int STACK_ECHOES = 0xf0b;
    /** ICMP errors sent. */
    public static final int STACK_ERRORS_OUT = 0xf0c;
    /** ICMP errors not sent, because of the limit of their rate. */
    public static final int STACK_ERRORS_LIMITED = 0xf0d;
    /** ICMP errors received about a socket. */
    public static final int STACK_ERRORS_IN = 0xf0e;
    /** Datagrams given to sockets. */
    public static final int STACK_DATAGRAMS_IN = 0xf0f;
    /** Datagrams sent by sockets. */
    public static final int STACK_DATAGRAMS_OUT = 0xf10;
    /** Datagrams for ports without a socket. */
    public static final int STACK_NO_PORT = 0xf11;
    /** Datagrams dropped since the socket's queue was full. */
    public static final int STACK_QUEUE_FULL = 0xf12;

    // ---- its TCP, as TcpStatistics has it; segments where nothing else is said

    /** Received. */
    public static final int STACK_TCP_SEGMENTS_IN = 0xf13;
    /** Sent. */
    public static final int STACK_TCP_SEGMENTS_OUT = 0xf14;
    /** Sent again. */
    public static final int STACK_TCP_RETRANSMITTED = 0xf15;
    /** Of a wrong length or checksum. */
    public static final int STACK_TCP_MALFORMED = 0xf16;
    /** With a signature, which needs a key. */
    public static final int STACK_TCP_SIGNED = 0xf17;
    /** Dropped by their timestamp (PAWS). */
    public static final int STACK_TCP_OLD = 0xf18;
    /** Behind a gap. */
    public static final int STACK_TCP_OUT_OF_ORDER = 0xf19;
    /** Dropped since there was no memory for them. */
    public static final int STACK_TCP_NO_MEMORY = 0xf1a;
    /** RST sent. */
    public static final int STACK_TCP_RESETS_OUT = 0xf1b;
    /** Connections ended by a RST of the peer. */
    public static final int STACK_TCP_RESETS_IN = 0xf1c;
    /** Challenge ACKs (RFC 5961) sent. */
    public static final int STACK_TCP_CHALLENGES = 0xf1d;
    /** Connections opened from this end. */
    public static final int STACK_TCP_OPENED = 0xf1e;
    /** Connections of listeners that stand. */
    public static final int STACK_TCP_ACCEPTED = 0xf1f;
    /** SYN dropped, since as many as may wait to be accepted. */
    public static final int STACK_TCP_BACKLOG_FULL = 0xf20;
    /** SYN answered with a cookie. */
    public static final int STACK_TCP_COOKIES_OUT = 0xf21;
    /** Connections that stand by a cookie. */
    public static final int STACK_TCP_COOKIES_IN = 0xf22;
    /** Connections in TIME_WAIT whose ports were used again. */
    public static final int STACK_TCP_REUSED = 0xf23;

    // ---- a connection of TCP

    /** Segments sent again. */
    public static final int TCP_RETRANSMITTED = 0x1000;
    /** Segments taken for lost. */
    public static final int TCP_LOST = 0x1001;

    // ---- a socket of UDP

    /** Datagrams dropped since the queue was full. */
    public static final int UDP_DROPPED = 0x1200;

    private StackSamplePoint() {}
}
