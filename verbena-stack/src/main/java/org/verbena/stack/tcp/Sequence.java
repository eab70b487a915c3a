// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

/** Order of sequence numbers, modulo 2^32 (RFC 9293, 3.4). */
final class Sequence {
    private Sequence() {}

    static boolean isBefore(int a, int b) {
        return a - b < 0;
    }

    static boolean isAfter(int a, int b) {
        return a - b > 0;
    }

    static int max(int a, int b) {
        return a - b >= 0 ? a : b;
    }

    static int min(int a, int b) {
        return a - b <= 0 ? a : b;
    }
}
