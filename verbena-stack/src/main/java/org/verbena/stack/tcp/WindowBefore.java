// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

/** The congestion window before a recovery, to go back to if nothing was lost (Eifel, RFC 3522 and 4015). */
final class WindowBefore {
    private int window;
    private int threshold;
    private int firstRetransmission;
    private boolean undecided;

    /**
     * A recovery begins.
     *
     * @param timestamp of the first segment that is sent again
     */
    void remember(CongestionControl congestion, int timestamp) {
        window = congestion.window;
        threshold = congestion.threshold;
        firstRetransmission = timestamp;
        undecided = true;
    }

    /**
     * Whether the acknowledgment, if it is the first one since, answers a segment that was sent before the first retransmission.
     *
     * @param echo its echoed timestamp; 0 if it has none
     */
    boolean isSpurious(int echo) {
        boolean first = undecided;
        undecided = false;
        return first && echo != 0 && echo - firstRetransmission < 0;
    }

    void restore(CongestionControl congestion) {
        congestion.window = Math.max(congestion.window, window);
        congestion.threshold = Math.max(congestion.threshold, threshold);
    }
}
