// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import org.verbena.stack.ip.Counts;

/**
 * What a stack has seen since it was opened. All are numbers of packets or frames where nothing else is said.
 *
 * @param framesIn frames received
 * @param framesOut frames sent
 * @param malformed dropped: a wrong length, checksum, version, address or option
 * @param notForUs dropped: for another host, or of an unknown protocol
 * @param fragmentsIn fragments received
 * @param fragmentsOut fragments sent
 * @param reassembled datagrams made whole
 * @param reassemblyFailed datagrams whose fragments were dropped: too late, too many, or overlapping
 * @param noBuffer not sent, since no buffer was free
 * @param unresolved not sent, since the next host did not answer ARP, or more waited for its answer than may
 * @param conflicts times that another host was heard with this address
 * @param echoes echo requests answered
 * @param errorsOut ICMP errors sent
 * @param errorsLimited ICMP errors not sent, because of the limit of their rate
 * @param errorsIn ICMP errors received about a socket
 * @param datagramsIn datagrams given to sockets
 * @param datagramsOut datagrams sent by sockets
 * @param noPort datagrams for ports without a socket
 * @param queueFull datagrams dropped since the socket's queue was full
 */
public record StackStatistics(long framesIn, long framesOut, long malformed, long notForUs, long fragmentsIn,
        long fragmentsOut,
        long reassembled, long reassemblyFailed, long noBuffer, long unresolved, long conflicts, long echoes,
        long errorsOut,
        long errorsLimited, long errorsIn, long datagramsIn, long datagramsOut, long noPort, long queueFull) {
    static StackStatistics of(Counts c) {
        return new StackStatistics(c.framesIn, c.framesOut, c.malformed, c.notForUs, c.fragmentsIn, c.fragmentsOut,
                c.reassembled, c.reassemblyFailed, c.noBuffer, c.unresolved, c.conflicts, c.echoes, c.errorsOut,
                c.errorsLimited, c.errorsIn, c.datagramsIn, c.datagramsOut, c.noPort, c.queueFull);
    }
}
