// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Seeds;

/** The wheel against a map. */
final class TimerWheelTest {
    private static final long TICK = 1 << 20;

    @Test
    void eachTimerComesOnceAndInTime() {
        Seeds.each(200, r -> {
            long start = r.nextBoolean() ? r.nextLong(1L << 50) : r.nextInt(1000);
            long[] now = {start};
            TimerWheel w = new TimerWheel(start);
            Map<Integer, Long> model = new HashMap<>();
            int reach = 10 + r.nextInt(35);
            TimerWheel.Action due = (number, t) -> {
                Long time = model.remove(number);
                assertThat(time).as("%s is set", number).isNotNull();
                assertThat(t).as("not early").isGreaterThanOrEqualTo(time);
                if (r.nextInt(3) == 0) {
                    long again = t + r.nextLong(1L << reach) - (r.nextInt(4) == 0 ? 1L << reach : 0);
                    w.set(number, again);
                    model.put(number, Math.max(again, t));
                }
            };
            for (int i = 0; i < 2000; i++) {
                int number = r.nextInt(100);
                switch (r.nextInt(4)) {
                    case 0, 1 -> {
                        long time = now[0] + r.nextLong(1L << r.nextInt(1, reach + 1)) - (r.nextInt(8) == 0 ? 5000 : 0);
                        w.set(number, time);
                        model.put(number, Math.max(time, now[0]));
                    }
                    case 2 -> {
                        w.cancel(number);
                        model.remove(number);
                    }
                    default -> {
                        now[0] = r.nextBoolean() && w.next() != TimerWheel.NEVER
                                ? Math.max(now[0], w.next())
                                : now[0] + r.nextLong(1L << r.nextInt(1, reach + 2));
                        w.advance(now[0], due);
                        for (long time : model.values()) {
                            assertThat(now[0] - time).as("not late").isLessThanOrEqualTo(TICK);
                        }
                    }
                }
                assertThat(w.next() == TimerWheel.NEVER).isEqualTo(model.isEmpty());
                if (!model.isEmpty()) {
                    long first = model.values().stream().mapToLong(t -> t).min().getAsLong();
                    assertThat(w.next()).as("sleeps not too long").isLessThanOrEqualTo(Math.max(first, now[0]) + TICK);
                }
            }
            int rounds = 0;
            while (w.next() != TimerWheel.NEVER) {
                assertThat(w.next()).isGreaterThan(now[0]);
                now[0] = w.next();
                w.advance(now[0], (number, t) -> model.remove(number));
                assertThat(rounds++).isLessThan(100_000);
            }
            assertThat(model).isEmpty();
        });
    }

    @Test
    void aLongSleepWakesSeldom() throws Exception {
        TimerWheel w = new TimerWheel(0);
        long time = 100L * 24 * 3600 * 1_000_000_000L;
        w.set(3, time);
        long[] came = {0};
        int wakes = 0;
        long now = 0;
        while (came[0] == 0) {
            now = w.next();
            w.advance(now, (number, t) -> came[0] = t);
            wakes++;
        }
        assertThat(came[0] - time).isBetween(0L, TICK);
        assertThat(wakes).isLessThan(1000);
    }
}
