// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** Advice for {@link ProtectionDomain#advise}, {@code enum ibv_advise_mr_advice}: an open set. */
public final class MemoryAdvice {
    /** Brings pages in, to be read. */
    public static final int PREFETCH = 0;
    /** Brings pages in, to be written too. */
    public static final int PREFETCH_WRITE = 1;
    /** Makes pages that are in memory known to the device, and brings none in. */
    public static final int PREFETCH_NO_FAULT = 2;

    /** A flag: the call returns when it is done, {@code IBV_ADVISE_MR_FLAG_FLUSH}. */
    public static final int FLUSH = 1;

    private MemoryAdvice() {}

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        return switch (value) {
            case PREFETCH -> "PREFETCH";
            case PREFETCH_WRITE -> "PREFETCH_WRITE";
            case PREFETCH_NO_FAULT -> "PREFETCH_NO_FAULT";
            default -> Integer.toString(value);
        };
    }
}
