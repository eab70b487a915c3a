// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

/** How much may be in the network at a time (RFC 5681); bytes. The rules for the time of a recovery are the {@link Recovery}'s. */
public abstract class CongestionControl {
    /** As long as no loss was seen, slow start does not end. */
    static final int UNLIMITED = Integer.MAX_VALUE;

    private static final int MOST = 1 << 30;

    /** Bytes of a full segment. */
    int segment;
    int window;
    int threshold = UNLIMITED;

    /** For kinds of this package. */
    CongestionControl() {}

    /** What Linux calls it. */
    public abstract String name();

    /** A connection stands; RFC 6928 has what it begins with. */
    void begin(int fullSegment, boolean synWasLost) {
        segment = fullSegment;
        window = synWasLost ? fullSegment : initialWindow();
    }

    final int initialWindow() {
        return Math.min(10 * segment, Math.max(2 * segment, 14_600));
    }

    /** The path takes segments of another size from now on. */
    void resize(int fullSegment) {
        window = (int) Math.max((long) window * fullSegment / segment, fullSegment);
        segment = fullSegment;
    }

    final boolean isSlowStart() {
        return window < threshold;
    }

    /** New data was acknowledged while nothing is being recovered, and the window was what limited the sender. */
    final void acknowledged(int bytes, RoundTrip roundTrip, long now) {
        int left = bytes;
        if (isSlowStart()) {
            int n = Math.min(left, threshold - window);
            grow(n);
            left -= n;
        }
        if (left > 0) {
            avoid(left, roundTrip, now);
        }
    }

    final void grow(long bytes) {
        window = (int) Math.min(window + bytes, MOST);
    }

    /** New data was acknowledged outside slow start. */
    abstract void avoid(int bytes, RoundTrip roundTrip, long now);

    /** A segment was lost, or congestion was told: sets the {@link #threshold}, and is called once in a round trip. */
    abstract void lost(int inFlight, long now);

    /** The retransmission timer ran out. */
    void timedOut(int inFlight, long now) {
        lost(inFlight, now);
        window = segment;
    }

    /** Nothing was sent for longer than the retransmission timer takes (RFC 5681, 4.1). */
    void restart() {
        window = Math.min(window, initialWindow());
    }
}
