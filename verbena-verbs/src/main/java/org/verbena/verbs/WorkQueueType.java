// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** Type of a work queue, {@code enum ibv_wq_type}: an open set, later versions may add values. */
public final class WorkQueueType {
    /** For receives. */
    public static final int RQ = 0;

    private WorkQueueType() {}

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        return value == RQ ? "RQ" : Integer.toString(value);
    }
}
