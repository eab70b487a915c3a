package org.verbena.verbs;

/** Flags of a successful work completion, {@code enum ibv_wc_flags}. */
public final class WcFlags {
    /** A global routing header precedes the data. */
    public static final int GRH = 1;
    /** {@link CompletionQueue#immediate()} is valid. */
    public static final int WITH_IMM = 2;
    /** A remote key was invalidated. */
    public static final int WITH_INV = 8;

    private WcFlags() {}

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        return switch (value) {
            case GRH -> "GRH";
            case WITH_IMM -> "WITH_IMM";
            case WITH_INV -> "WITH_INV";
            default -> Integer.toString(value);
        };
    }
}
