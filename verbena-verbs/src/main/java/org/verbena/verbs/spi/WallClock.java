// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * Turns {@code System.nanoTime()} into nanoseconds since the epoch. The two clocks are compared now and then, so that
 * the result follows a system clock that is adjusted. It does not go back while the clock that it is made from does
 * not, unless the system clock is set back by more than a second. Used by one thread at a time; allocates only when the
 * clocks have moved apart.
 */
public final class WallClock {
    private static final long LOOK_AFTER = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long TOLERANCE = TimeUnit.MILLISECONDS.toNanos(2);
    /**
     * The longest time between the reads of the two clocks; beyond it both are read again, a limited number of times.
     */
    private static final long CLOSE = TimeUnit.MICROSECONDS.toNanos(10);
    private static final int LOOKS = 5;
    private static final long SET_BACK = TimeUnit.SECONDS.toNanos(1);

    private long offset;
    private long looked;
    private long lastTicks;
    private long lastNanos;

    /** Compares the clocks. */
    public WallClock() {
        compare(System.nanoTime());
        lastTicks = looked;
        lastNanos = looked + offset;
    }

    /** The time at which {@code System.nanoTime()} was {@code ticks}. */
    public long nanosAt(long ticks) {
        long now = System.nanoTime();
        if (now - looked > LOOK_AFTER) {
            looked = now;
            long apart = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - (now + offset);
            if (apart > TOLERANCE || apart < -TOLERANCE) {
                compare(now);
            }
        }
        long nanos = ticks + offset;
        if (ticks - lastTicks >= 0) {
            if (nanos < lastNanos && lastNanos - nanos < SET_BACK) {
                nanos = lastNanos;
            }
            lastTicks = ticks;
            lastNanos = nanos;
        }
        return nanos;
    }

    private void compare(long now) {
        looked = now;
        long least = Long.MAX_VALUE;
        for (int i = 0; i < LOOKS && least > CLOSE; i++) {
            long before = System.nanoTime();
            Instant t = Instant.now();
            long between = System.nanoTime() - before;
            if (between < least) { // a thread that loses its processor between the two knows little
                least = between;
                offset = TimeUnit.SECONDS.toNanos(t.getEpochSecond()) + t.getNano() - before;
            }
        }
    }
}
