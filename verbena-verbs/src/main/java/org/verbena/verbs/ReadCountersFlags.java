// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** How {@link Counters#read} reads, {@code enum ibv_read_counters_flags}: an open set, later versions may add flags. */
public final class ReadCountersFlags {
    /** What is at hand will do; without it, what only a peer or the device knows is asked for, which takes longer. */
    public static final int PREFER_CACHED = 1;

    /** Flags of this version. */
    static final int KNOWN = PREFER_CACHED;

    private static final Flags NAMES = new Flags("PREFER_CACHED");

    private ReadCountersFlags() {}

    /** The names of the flags, and the numbers of those that this version does not know. */
    public static String toString(int flags) {
        return NAMES.toString(flags);
    }
}
