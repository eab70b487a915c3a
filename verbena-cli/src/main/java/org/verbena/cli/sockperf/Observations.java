// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

/** The messages of a run that count: without those at the begin, and at the end. Times are of {@link System#nanoTime}. */
final class Observations {
    private static final double NANOS_IN_MICRO = 1e3;

    private final double seconds;
    private final long sent;
    private final int count;
    private final long[] sentAt;
    private final long[] answeredAt;
    private final long[] plannedAt;
    private final long dropped;
    private final long disordered;

    /** Collects them in the order of sending. */
    static final class Builder {
        private final long[] sentAt;
        private final long[] answeredAt;
        private final long[] plannedAt;
        private int count;
        private long dropped;
        private long disordered;

        /** @param room how many are answered at most */
        Builder(int room) {
            sentAt = new long[room];
            answeredAt = new long[room];
            plannedAt = new long[room];
        }

        /** One that was answered in order. */
        void add(long sent, long answered, long planned) {
            sentAt[count] = sent;
            answeredAt[count] = answered;
            plannedAt[count++] = planned;
        }

        /** One that was not answered. */
        void dropped() {
            dropped++;
        }

        /** One that was answered before one that was sent earlier. */
        void disordered() {
            disordered++;
        }

        /**
         * All of them.
         *
         * @param seconds from the first to the last
         * @param sent messages from the first to the last, with those that ask for no answer
         */
        Observations build(double seconds, long sent) {
            return new Observations(this, seconds, sent);
        }
    }

    private Observations(Builder b, double seconds, long sent) {
        this.seconds = seconds;
        this.sent = sent;
        count = b.count;
        sentAt = b.sentAt;
        answeredAt = b.answeredAt;
        plannedAt = b.plannedAt;
        dropped = b.dropped;
        disordered = b.disordered;
    }

    /** How many were answered in order. */
    int count() {
        return count;
    }

    double seconds() {
        return seconds;
    }

    long sent() {
        return sent;
    }

    long dropped() {
        return dropped;
    }

    long disordered() {
        return disordered;
    }

    long sentAt(int i) {
        return sentAt[i];
    }

    long answeredAt(int i) {
        return answeredAt[i];
    }

    /**
     * How long an answer took, nanoseconds.
     *
     * @param intended from when the message was to be sent, rather than from when it was: a sender that was held up adds to it
     * @param whole a round trip, rather than half of one
     */
    double latency(int i, boolean intended, boolean whole) {
        double held = intended ? sentAt[i] - plannedAt[i] : 0;
        return held + (answeredAt[i] - sentAt[i]) / (whole ? 1.0 : 2.0);
    }

    /** All latencies, in microseconds. */
    Statistics latencies(boolean intended, boolean whole) {
        double[] micros = new double[count];
        for (int i = 0; i < micros.length; i++) {
            micros[i] = latency(i, intended, whole) / NANOS_IN_MICRO;
        }
        return new Statistics(micros);
    }
}
