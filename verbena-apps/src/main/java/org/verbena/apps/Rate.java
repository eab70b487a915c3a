// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/**
 * How many units of work a load has done a second, after a warm-up. It prints {@code warm} when the measurement begins,
 * and {@code rate} with the number when it has ended; then the load is idle until its input ends, so that its starter
 * can read the processor time of both moments.
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

    /** For the time given, in milliseconds, by the last two arguments of a program: the warm-up, and what is measured. */
    public Rate(String[] args) {
        warmUpMillis = Long.parseLong(args[args.length - 2]);
        millis = Long.parseLong(args[args.length - 1]);
    }

    /** Counts units of work; by any thread. */
    public void add(long units) {
        done.add(units);
    }

    /** Waits for the warm-up and for the measurement; answers the units a second. */
    public long measure() throws InterruptedException {
        Thread.sleep(warmUpMillis);
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
        AtomicBoolean ended = new AtomicBoolean();
        long rate;
        try (ExecutorService threads = Executors.newFixedThreadPool(all.size())) {
            List<Future<?>> running = new ArrayList<>();
            for (Work work : all) {
                running.add(threads.submit(() -> {
                    while (!ended.get()) {
                        add(work.some());
                    }
                    return null;
                }));
            }
            rate = measure();
            ended.set(true);
            for (Future<?> r : running) {
                r.get();
            }
        }
        say(rate);
    }
}
