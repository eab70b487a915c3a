package org.verbena.shm;

/** Whether one of our queue pairs may take receives out of a pool of a peer: what the peer has answered so far. */
final class PoolAccess {
    private static final int ASKED = -1;

    private volatile int pool = ASKED;

    /** The peer's answer: number of the pool, 0 if there is none for us. */
    void answer(int number) {
        pool = number;
    }

    boolean isAnswered() {
        return pool != ASKED;
    }

    /** Number of the pool; 0 if there is none, or no more, or its process is dead. */
    int pool() {
        return pool;
    }
}
