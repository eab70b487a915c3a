// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.util.function.IntSupplier;

/**
 * The generations of the places of {@link Regions}, which make the ids of a place differ. The first one of a place is any, so
 * that an id of another connection names nothing in this one; they go on from there, around the end, until all have been used.
 * Guarded by its owner.
 */
final class Generations {
    private static final int ALL = RegionId.MAX_GENERATION;

    private final IntSupplier firsts;
    private final int[] first;
    private final int[] used;

    /** @param firsts has the first generation of each place: 1 to {@link RegionId#MAX_GENERATION} */
    Generations(int places, IntSupplier firsts) {
        this.firsts = firsts;
        first = new int[places];
        used = new int[places];
    }

    /** One that the place has not had; there has to be one, see {@link #isExhausted}. */
    int next(int place) {
        if (used[place] == 0) {
            first[place] = firsts.getAsInt();
        }
        return (first[place] - 1 + used[place]++) % ALL + 1;
    }

    /** Whether the place has had a generation, or has it. */
    boolean wasUsed(int place, int generation) {
        return Math.floorMod(generation - first[place], ALL) < used[place];
    }

    /** Whether the place has had them all. */
    boolean isExhausted(int place) {
        return used[place] >= ALL;
    }
}
