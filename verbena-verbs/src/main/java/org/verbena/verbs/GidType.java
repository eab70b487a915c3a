// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** What a GID is used by, {@code enum ibv_gid_type}: an open set, later versions may add values. */
public final class GidType {
    /** InfiniBand, or a device of its own kind. */
    public static final int IB = 0;
    /** RoCE version 1. */
    public static final int ROCE_V1 = 1;
    /** RoCE version 2. */
    public static final int ROCE_V2 = 2;

    private GidType() {}

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        return switch (value) {
            case IB -> "IB";
            case ROCE_V1 -> "ROCE_V1";
            case ROCE_V2 -> "ROCE_V2";
            default -> Integer.toString(value);
        };
    }
}
