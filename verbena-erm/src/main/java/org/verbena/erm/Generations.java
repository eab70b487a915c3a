// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.util.function.IntSupplier;

/**
 * The generations of the slots of {@link Regions}, which make the ids of a slot differ. The first one of a slot is
 * random, so that an id of another connection is invalid in this one; they count up from there, wrapping, until all
 * have been used. Guarded by its owner.
 */
final class Generations {
    private static final int ALL = RegionId.MAX_GENERATION;

    private final IntSupplier firsts;
    private final int[] first;
    private final int[] used;

    /** @param firsts supplies the first generation of each slot: 1 to {@link RegionId#MAX_GENERATION} */
    Generations(int places, IntSupplier firsts) {
        this.firsts = firsts;
        first = new int[places];
        used = new int[places];
    }

    /** An unused generation of the slot; there must be one, see {@link #isExhausted}. */
    int next(int place) {
        if (used[place] == 0) {
            first[place] = firsts.getAsInt();
        }
        return (first[place] - 1 + used[place]++) % ALL + 1;
    }

    /** Whether the slot has or had a generation. */
    boolean wasUsed(int place, int generation) {
        return Math.floorMod(generation - first[place], ALL) < used[place];
    }

    /** Whether the slot has used all generations. */
    boolean isExhausted(int place) {
        return used[place] >= ALL;
    }
}
