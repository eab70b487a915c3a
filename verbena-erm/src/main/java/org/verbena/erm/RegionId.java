// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

/**
 * The id of a region: {@code 0 | generation:18 | index:12 | side:1}. It is positive; the generation, 1 or more, is
 * another one for each region in a place, as {@link Generations} has it; the side is 0 for memory of the end that connected and 1 for memory of the one that
 * was accepted, so that an id names one region of the two ends together.
 */
final class RegionId {
    static final int MAX_INDEX = (1 << 12) - 1;
    static final int MAX_GENERATION = (1 << 18) - 1;
    private static final int SIDE_BITS = 1;
    private static final int INDEX_BITS = 12;

    private RegionId() {}

    static int of(int generation, int index, int side) {
        return generation << SIDE_BITS + INDEX_BITS | index << SIDE_BITS | side;
    }

    static int side(int id) {
        return id & 1;
    }

    static int index(int id) {
        return id >>> SIDE_BITS & MAX_INDEX;
    }

    static int generation(int id) {
        return id >>> SIDE_BITS + INDEX_BITS;
    }

    /** Whether a number is a well-formed id. */
    static boolean isValid(int id) {
        return id > 0 && generation(id) > 0;
    }
}
