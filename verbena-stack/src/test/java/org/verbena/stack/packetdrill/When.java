// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

/**
 * The time of an event.
 *
 * @param kind what the times count from
 * @param nanos the time, or the earliest of a range; 0 for {@code *}
 * @param latest the end of a range {@code a~b}, or {@link #NONE}
 * @param until when a call that waits is back ({@code a...b}), or {@link #NONE}
 */
public record When(Kind kind, long nanos, long latest, long until) {
    public static final long NONE = -1;

    /** What a time counts from. */
    public enum Kind {
        /** The start of the script. */
        ABSOLUTE,
        /** The event before ({@code +}). */
        RELATIVE,
        /** Any time ({@code *}). */
        ANY
    }

    public static When at(long nanos) {
        return new When(Kind.ABSOLUTE, nanos, NONE, NONE);
    }

    public static When after(long nanos) {
        return new When(Kind.RELATIVE, nanos, NONE, NONE);
    }

    public static When any() {
        return new When(Kind.ANY, 0, NONE, NONE);
    }
}
