// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** State of a work queue, {@code enum ibv_wq_state}: an open set, later versions may add values. */
public final class WorkQueueState {
    /** New, or emptied. */
    public static final int RESET = 0;
    /** Takes packets. */
    public static final int RDY = 1;
    /** Failed; what is posted is flushed. */
    public static final int ERR = 2;
    /** The provider cannot tell. */
    public static final int UNKNOWN = 3;

    private WorkQueueState() {}

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        return switch (value) {
            case RESET -> "RESET";
            case RDY -> "RDY";
            case ERR -> "ERR";
            case UNKNOWN -> "UNKNOWN";
            default -> Integer.toString(value);
        };
    }
}
