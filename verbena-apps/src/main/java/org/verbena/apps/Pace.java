// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps;

import java.util.concurrent.TimeUnit;

/**
 * When a load does its units of work: each as soon as the one before is done, or at a rate, or never. At a rate, each
 * unit has an intended time, which does not move when the one before is late: what was missed is made up for.
 *
 * @param perSecond units a second of all lanes together; {@link #FULL} as many as can be, {@link #NONE} none
 */
public record Pace(long perSecond) {
    /** How {@link #FULL} is written as an argument. */
    private static final String FULL_WORD = "full";
    static final long FULL = Long.MAX_VALUE;
    static final long NONE = 0;

    /** By an argument of a program: {@code full} or units a second. */
    static Pace of(String argument) {
        return new Pace(argument.equals(FULL_WORD) ? FULL : Long.parseLong(argument));
    }

    boolean isFull() {
        return perSecond == FULL;
    }

    /**
     * One of the threads or connections of a load, which do one piece of work after another; for one thread at a time.
     */
    static final class Lane {
        private final Pace pace;
        private final int index;
        private final int lanes;
        private final long start;
        private long done;

        /**
         * @param index of the lane, from 0: they do not all begin at once
         * @param lanes how many there are
         * @param start when the pace begins, as {@link System#nanoTime()} says
         */
        Lane(Pace pace, int index, int lanes, long start) {
            this.pace = pace;
            this.index = index;
            this.lanes = lanes;
            this.start = start;
        }

        /** Notes units that are done. */
        void add(long units) {
            done += units;
        }

        /** Nanoseconds until the next unit is due; 0 or less now, {@link Long#MAX_VALUE} never. */
        long untilDue(long now) {
            if (pace.isFull()) {
                return 0;
            }
            if (pace.perSecond == NONE) {
                return Long.MAX_VALUE;
            }
            // In floating point: units of many a second for hours are more than nanoseconds in a long can be multiplied by.
            double intended = (done * (double) lanes + index) / pace.perSecond * TimeUnit.SECONDS.toNanos(1);
            return start + (long) intended - now;
        }
    }
}
