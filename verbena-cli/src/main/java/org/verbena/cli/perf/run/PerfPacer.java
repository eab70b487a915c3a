// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.run;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

import org.HdrHistogram.Histogram;

/**
 * Sends messages at fixed times, whether earlier ones are answered or not, and counts the time of each from when it was
 * to be sent. A message that waits since others are late is therefore as late as it is for a program whose requests come
 * from outside ("no coordinated omission"). Between these times the thread spins. Nothing in the loop allocates.
 */
public final class PerfPacer {
    private static final int BURST = 64;
    private static final int DIGITS = 3;
    private static final long LONGEST = TimeUnit.DAYS.toNanos(1);
    /** The part of a run after which the rate is looked at a first time: a pause at the very end is no lack of speed. */
    private static final double NEARLY = 0.9;
    /** A delay of the last answers that says nothing about the rate: this part of the time of a run, and as long as a scheduler's pause. */
    private static final int LATE_PART = 100;
    private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(3);
    private static final double SECOND = 1e9;

    private final PerfPaced transport;
    private final PerfControl peer;
    private final int skip;
    private final Histogram histogram = new Histogram(1, LONGEST, DIGITS);

    private double interval;
    private long skipped;
    private long begun;
    private long sent;
    private long answers;
    private long nearly;
    private long first;
    private long atNearly;
    private long latest;
    private long turns;

    /**
     * Makes one.
     *
     * @param skip messages at the start of each run that are sent one after the other and do not count: the peer has
     *     just woken up
     */
    public PerfPacer(PerfPaced transport, PerfControl peer, int skip) {
        this.transport = transport;
        this.peer = peer;
        this.skip = skip;
    }

    /** The distance of messages from now on, in nanoseconds; 0 to send as fast as the transport takes them. */
    public void interval(double nanos) {
        interval = nanos;
    }

    /** Sends {@code n} messages, those that do not count among them, and takes their answers. */
    void run(long n) throws IOException {
        histogram.reset();
        transport.begin();
        sent = 0;
        answers = 0;
        turns = 0;
        skipped = Math.min(skip, n);
        nearly = skipped + (long) (NEARLY * (n - skipped));
        begun = System.nanoTime();
        go(skipped, 1);
        begun = System.nanoTime();
        go(n, transport.inFlight());
    }

    private void go(long until, int limit) throws IOException {
        while (answers < until) {
            burst(until, limit);
        }
    }

    /** A small number of turns, so that the JVM compiles this method and not a loop entered half-way. */
    private void burst(long until, int limit) throws IOException {
        for (int i = 0; i < BURST && answers < until; i++) {
            boolean due = sent < until && sent - answers < limit && System.nanoTime() - due(sent) >= 0;
            if (due && transport.send()) {
                sent++;
            } else if (!due && sent == answers) {
                transport.idle();
                turns = peer.pause(turns);
                continue;
            }
            long before = answers;
            transport.poll();
            turns = answers == before ? peer.spin(turns) : 0;
        }
    }

    /** When message {@code k} is to be sent. */
    private long due(long k) {
        return k < skipped ? begun : begun + after(k - skipped, interval);
    }

    /** The time of message {@code k} after the first one. */
    static long after(long k, double interval) {
        return (long) (k * interval);
    }

    /** The answer to the oldest message is there. */
    void answered() {
        answered(answers);
    }

    /** The answer to message {@code k} is there. */
    void answered(long k) {
        long now = System.nanoTime();
        answers++;
        if (k >= skipped) {
            histogram.recordValue(Math.min(now - due(k), LONGEST));
        }
        if (answers == skipped + 1) {
            first = now;
        }
        if (answers == nearly) {
            atNearly = now;
        }
        latest = now;
    }

    /** Times from when the messages of the last run were to be sent until their answers, in nanoseconds. */
    public Histogram histogram() {
        return histogram;
    }

    /**
     * Answers per second of the last run; {@code asked} if answers were not further behind their messages at the end than in the middle, or
     * not much: less than half of the rate is no pause's doing.
     */
    public double reached(long asked) {
        double answered = Math.max(perSecond(answers - skipped - 1, latest - first), perSecond(nearly - skipped - 1,
                atNearly - first));
        boolean tooSlow = nearly > skipped && (isBehind() || answered < asked / 2.0);
        return tooSlow && answered > 0 ? answered : asked;
    }

    private boolean isBehind() {
        long late = Math.min(latest - due(answers - 1), atNearly - due(nearly - 1)) - histogram.getValueAtPercentile(
                50);
        return late > Math.max((due(answers - 1) - begun) / LATE_PART, LATE_NANOS);
    }

    private static double perSecond(long answers, long nanos) {
        return answers > 0 ? answers * SECOND / Math.max(1, nanos) : 0;
    }
}
