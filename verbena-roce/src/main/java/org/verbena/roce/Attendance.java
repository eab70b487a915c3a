package org.verbena.roce;

/**
 * Whether the application looks after its packets itself, so that the context's own thread may stay away. What its polls do
 * is counted, in units of one that finds nothing; the context's own thread looks at the sum once a millisecond.
 */
final class Attendance {
    /** An application that does so much in a millisecond needs no help. */
    static final int OFTEN = 16;
    /** A packet takes as long as so many polls: who carries packets all the time polls the less for it. */
    static final int POLLS_A_PACKET = 4;

    /** Counted without care: where several threads poll, some are lost. */
    private int done;
    private int seen;
    private volatile boolean attended;

    /** A poll has found nothing in its queue, and meanwhile taken or sent so many packets. */
    void polled(int packets) {
        done += 1 + POLLS_A_PACKET * packets;
    }

    /** By the context's own thread: whether it was attended since the last call; so it counts until the next. */
    boolean look() {
        int now = done;
        attended = now - seen >= OFTEN;
        seen = now;
        return attended;
    }

    /** What the context's own thread found when it looked last. */
    boolean isAttended() {
        return attended;
    }
}
