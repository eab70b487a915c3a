// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.header;

/** Packet sequence numbers: 24 bits, compared within half of their space (IBTA volume 1, 9.7.2). */
public final class Psn {
    public static final int MASK = 0xffffff;

    private Psn() {}

    public static int add(int psn, int n) {
        return psn + n & MASK;
    }

    /** The difference {@code a - b}: -2^23 to 2^23 - 1. */
    public static int diff(int a, int b) {
        return a - b << 8 >> 8;
    }
}
