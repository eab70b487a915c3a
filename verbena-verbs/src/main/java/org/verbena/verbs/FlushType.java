// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/**
 * What a {@linkplain SendQueue#flush flush} promises, {@code enum ibv_placement_type} (combined with {@code |}), and how
 * much it flushes, {@code enum ibv_selectivity_level}.
 */
public final class FlushType {
    /** What was written is visible to all. */
    public static final int GLOBAL = 1;
    /** What was written outlives a loss of power. */
    public static final int PERSISTENT = 1 << 1;

    /** Level: the range that is named. */
    public static final int RANGE = 0;
    /** Level: the whole memory region. */
    public static final int REGION = 1;

    private static final Flags FLAGS = new Flags("GLOBAL", "PERSISTENT");

    private FlushType() {}

    /** The types by name; unknown bits as a hexadecimal number. */
    public static String toString(int types) {
        return FLAGS.toString(types);
    }
}
