// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

import org.jspecify.annotations.Nullable;

/**
 * How many units of work a load has done a second, after a warm-up. It prints {@code warm} when the measurement begins,
 * and {@code rate} with the number when it has ended; then the load is idle until its input ends, so that its starter
 * can read the processor time of both moments.
 *
 * <p>A load with a pace works as fast as it can for the first half of the warm-up, so that its connections and code are
 * those of a program that has worked, and keeps the pace from then on.
 */
public final class Rate {
    /** Part of a load, in a thread of its own. */
    @FunctionalInterface
    public interface Work {
        /** Does some, and answers how many units. */
        long some() throws Exception;
    }

    private final LongAdder done = new LongAdder();
    private final long warmUpMillis;
    private final long millis;
    private final Pace pace;
    private volatile @Nullable Long paced;

    /**
     * For the last three arguments of a program: the warm-up and what is measured, in milliseconds, and the pace,
     * {@code full} or units a second.
     */
    public Rate(String[] args) {
        warmUpMillis = Long.parseLong(args[args.length - 3]);
        millis = Long.parseLong(args[args.length - 2]);
        pace = Pace.of(args[args.length - 1]);
    }

    /** One of the threads or connections of a load; for one thread at a time. */
    public final class Lane {
        private final int index;
        private final int lanes;
        private Pace.@Nullable Lane own;

        private Lane(int index, int lanes) {
            this.index = index;
            this.lanes = lanes;
        }

        /** Counts units of work. */
        public void add(long units) {
            done.add(units);
            if (own != null) {
                own.add(units);
            }
        }

        /** Nanoseconds until the next unit is due; 0 or less now, {@link Long#MAX_VALUE} never. */
        public long untilDue() {
            Long start = paced;
            if (start == null) {
                return 0;
            }
            Pace.Lane o = own;
            if (o == null) {
                o = new Pace.Lane(pace, index, lanes, start);
                own = o;
            }
            return o.untilDue(System.nanoTime());
        }
    }

    /** Lane number {@code index}, from 0, of {@code lanes}. */
    public Lane lane(int index, int lanes) {
        return new Lane(index, lanes);
    }

    /** Waits for the warm-up and for the measurement; answers the units a second. */
    public long measure() throws InterruptedException {
        if (pace.isFull()) {
            Thread.sleep(warmUpMillis);
        } else {
            Thread.sleep(warmUpMillis / 2);
            paced = System.nanoTime();
            Thread.sleep(warmUpMillis - warmUpMillis / 2);
        }
        Lines.say("warm");
        long before = done.sum();
        long start = System.nanoTime();
        Thread.sleep(millis);
        long counted = done.sum() - before;
        return Math.round(counted * 1e9 / (System.nanoTime() - start));
    }

    /** Prints the rate, and waits for the end of the input. */
    public static void say(long rate) throws IOException {
        Lines.say("rate", rate);
        Lines.awaitEnd();
    }

    /** Measures the sum of all, each of which is repeated in a thread of its own; fails if one of them has failed. */
    public void of(List<? extends Work> all) throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        long rate;
        try (ExecutorService threads = Executors.newFixedThreadPool(all.size())) {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < all.size(); i++) {
                Work work = all.get(i);
                Lane lane = lane(i, all.size());
                running.add(threads.submit(() -> {
                    while (!isEndedWhenDue(ended, lane)) {
                        lane.add(work.some());
                    }
                    return null;
                }));
            }
            rate = measure();
            ended.countDown();
            for (Future<?> r : running) {
                r.get();
            }
        }
        say(rate);
    }

    /** Waits until the lane's next unit is due, or all has ended. */
    private static boolean isEndedWhenDue(CountDownLatch ended, Lane lane) throws InterruptedException {
        long wait = lane.untilDue();
        return wait > 0 ? ended.await(wait, TimeUnit.NANOSECONDS) : ended.getCount() == 0;
    }
}
