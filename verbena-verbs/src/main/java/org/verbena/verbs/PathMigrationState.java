// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** State of a queue pair's alternate path, {@code enum ibv_mig_state}: an open set, later versions may add values. */
public final class PathMigrationState {
    /** The alternate path, if any, was taken. */
    public static final int MIGRATED = 0;
    /** The alternate path is to be armed as soon as the peer's is. */
    public static final int REARM = 1;
    /** The alternate path is taken when the first one fails. */
    public static final int ARMED = 2;

    private PathMigrationState() {}

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        return switch (value) {
            case MIGRATED -> "MIGRATED";
            case REARM -> "REARM";
            case ARMED -> "ARMED";
            default -> Integer.toString(value);
        };
    }
}
