// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import org.verbena.stack.model.TcpStatistics;

/** What has happened since the stack was opened; segments where nothing else is said. */
public final class TcpCounts {
    /** Received. */
    public long segmentsIn;
    /** Sent. */
    public long segmentsOut;
    /** Sent again. */
    public long retransmitted;
    /** Of a wrong length or checksum. */
    public long malformed;
    /** With a signature, which needs a key. */
    public long signed;
    /** Dropped by their timestamp (PAWS). */
    public long old;
    /** Behind a gap. */
    public long outOfOrder;
    /** Dropped since there was no memory for them. */
    public long noMemory;
    /** RST sent. */
    public long resetsOut;
    /** Connections ended by a RST of the peer. */
    public long resetsIn;
    /** Challenge ACKs (RFC 5961) sent. */
    public long challenges;
    /** Connections opened from this end. */
    public long opened;
    /** Connections of listeners that stand. */
    public long accepted;
    /** SYN dropped, since as many as may wait to be accepted. */
    public long backlogFull;
    /** SYN answered with a cookie. */
    public long cookiesOut;
    /** Connections that stand by a cookie. */
    public long cookiesIn;
    /** Connections in TIME_WAIT whose ports were used again. */
    public long reused;

    /** The numbers so far. */
    public TcpStatistics statistics() {
        return new TcpStatistics(segmentsIn, segmentsOut, retransmitted, malformed, signed, old, outOfOrder, noMemory,
                resetsOut, resetsIn, challenges, opened, accepted, backlogFull, cookiesOut, cookiesIn, reused);
    }
}
