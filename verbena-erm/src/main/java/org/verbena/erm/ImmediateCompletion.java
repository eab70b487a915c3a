// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

/**
 * A {@link RemoteCompletion} in the immediate value of the copy's own WRITE, where that suffices:
 * {@code name:12 | offset / 64:20}. It saves a request, and on a network a packet. The region's name, 1 to
 * {@value #NAMES}, was assigned by its owner with {@link Messages#ADD}; no other region of the connection ever gets it.
 * The length is that of the WRITE, and there is no user data.
 */
final class ImmediateCompletion {
    static final int NAMES = 1 << 12;
    /** The name of a region without one. */
    static final int NO_NAME = 0;

    private static final int UNIT_BITS = 6;
    private static final int OFFSET_BITS = 20;
    private static final int OFFSET_MASK = (1 << OFFSET_BITS) - 1;

    private ImmediateCompletion() {}

    /** Whether it can represent the remote completion of a copy. */
    static boolean canEncode(int name, long offset, long userData) {
        return name != NO_NAME && userData == 0 && (offset & ~((long) OFFSET_MASK << UNIT_BITS)) == 0;
    }

    static int of(int name, long offset) {
        return name - 1 << OFFSET_BITS | (int) (offset >>> UNIT_BITS);
    }

    static int name(int immediate) {
        return (immediate >>> OFFSET_BITS) + 1;
    }

    static long offset(int immediate) {
        return (long) (immediate & OFFSET_MASK) << UNIT_BITS;
    }
}
