// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** Type of a shared receive queue, {@code enum ibv_srq_type}: an open set, later versions may add values. */
public final class SharedReceiveQueueType {
    /** For queue pairs that name the queue when they are created. */
    public static final int BASIC = 0;
    /** For messages that name the queue by its number, see {@link XrcDomain}. */
    public static final int XRC = 1;

    private SharedReceiveQueueType() {}

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        return switch (value) {
            case BASIC -> "BASIC";
            case XRC -> "XRC";
            default -> Integer.toString(value);
        };
    }
}
