// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

/** The messages of a run that count: without those at the begin, and at the end. Times are of {@link System#nanoTime}. */
final class Observations {
    private static final double NANOS_IN_MICRO = 1e3;

    private final double seconds;
    private final long sent;
    private final long[] sentAt;
    private final long[] answeredAt;
    private final long[] plannedAt;
    private final long dropped;
    private final long disordered;

    /**
     * Takes the arrays over.
     *
     * @param seconds from the first to the last
     * @param sent messages from the first to the last, with those that ask for no answer
     * @param sentAt when those were sent that were answered in order
     * @param answeredAt when they were answered
     * @param plannedAt when they were to be sent
     * @param dropped without an answer
     * @param disordered answered before one that was sent earlier was
     */
    Observations(double seconds, long sent, long[] sentAt, long[] answeredAt, long[] plannedAt, long dropped,
            long disordered) {
        this.seconds = seconds;
        this.sent = sent;
        this.sentAt = sentAt;
        this.answeredAt = answeredAt;
        this.plannedAt = plannedAt;
        this.dropped = dropped;
        this.disordered = disordered;
    }

    /** How many were answered in order. */
    int count() {
        return sentAt.length;
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
        double[] micros = new double[sentAt.length];
        for (int i = 0; i < micros.length; i++) {
            micros[i] = latency(i, intended, whole) / NANOS_IN_MICRO;
        }
        return new Statistics(micros);
    }
}
