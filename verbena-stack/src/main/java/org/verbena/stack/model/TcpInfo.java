// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.model;

/**
 * How a connection does, as TCP_INFO has it. Times are nanoseconds; 0 if they are not known.
 *
 * @param state where it is
 * @param segment bytes of a full segment that it sends
 * @param peerSegment the maximum segment size that the peer told
 * @param congestionControl {@code cubic} or {@code reno}
 * @param congestionWindow bytes that may be in the network
 * @param slowStartThreshold bytes of the window at which it grows slower
 * @param roundTrip smoothed round-trip time
 * @param roundTripVariation its mean deviation
 * @param leastRoundTrip the least of some minutes
 * @param retransmissionTimeout after which the oldest segment is sent again
 * @param sendWindow bytes that the peer takes
 * @param receiveWindow bytes that the peer was told it may send
 * @param inFlight bytes that are thought to be in the network
 * @param unsent bytes that were written and not sent
 * @param unread bytes that have come and were not read
 * @param retransmitted segments sent again
 * @param lost segments taken for lost
 * @param timestamps whether both ends use timestamps
 * @param sack whether both ends use selective acknowledgments
 * @param ecn whether both ends use congestion notification
 * @param sendScale by how many bits the peer's windows are shifted
 * @param receiveScale by how many bits the own are
 */
public record TcpInfo(TcpState state, int segment, int peerSegment, String congestionControl, int congestionWindow,
        int slowStartThreshold, long roundTrip, long roundTripVariation, long leastRoundTrip,
        long retransmissionTimeout, int sendWindow, int receiveWindow, int inFlight, int unsent, int unread,
        long retransmitted, long lost, boolean timestamps, boolean sack, boolean ecn, int sendScale,
        int receiveScale) {}
