// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.model;

/**
 * What a stack's TCP has seen since it was opened; numbers of segments where nothing else is said.
 *
 * @param segmentsIn received
 * @param segmentsOut sent
 * @param retransmitted sent again
 * @param malformed of a wrong length or checksum
 * @param signed with a signature, which needs a key
 * @param old dropped by their timestamp (PAWS)
 * @param outOfOrder behind a gap
 * @param noMemory dropped since there was no memory for them
 * @param resetsOut RST sent
 * @param resetsIn connections ended by a RST of the peer
 * @param challenges challenge ACKs (RFC 5961) sent
 * @param opened connections opened from this end
 * @param accepted connections of listeners that stand
 * @param backlogFull SYN dropped, since as many as may wait to be accepted
 * @param cookiesOut SYN answered with a cookie
 * @param cookiesIn connections that stand by a cookie
 * @param reused connections in TIME_WAIT whose ports were used again
 */
public record TcpStatistics(long segmentsIn, long segmentsOut, long retransmitted, long malformed, long signed,
        long old, long outOfOrder, long noMemory, long resetsOut, long resetsIn, long challenges, long opened,
        long accepted, long backlogFull, long cookiesOut, long cookiesIn, long reused) {}
