// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

/**
 * How many packets may be in flight: grows with acknowledgements, shrinks with losses and congestion (the rules of RFC
 * 5681, in packets). A socket's buffer is short, and without a window one burst would fill it.
 */
final class CongestionWindow {
    /** The smallest window: one READ request of the length that READs are split into. */
    static final int MIN = 16;
    private static final int FIRST = 32;
    static final int MAX = 256;

    private int size = FIRST;
    private int threshold = MAX;
    private int credit;

    int size() {
        return size;
    }

    void reset() {
        size = FIRST;
        threshold = MAX;
        credit = 0;
    }

    void acknowledged(long packets) {
        if (size >= MAX) {
            return;
        }
        if (size < threshold) {
            size = (int) Math.min(MAX, size + packets);
            return;
        }
        credit += (int) Math.min(packets, MAX);
        if (credit >= size) {
            credit -= size;
            size++;
        }
    }

    /** A packet was lost, or a router is congested. */
    void shrink() {
        size = Math.max(MIN, size / 2);
        threshold = size;
        credit = 0;
    }
}
