package org.verbena.shm;

/** Whether one of our queue pairs may take receives out of a pool of a peer: what the peer has answered so far. */
final class PoolAccess {
    private static final int ASKED = 0;
    private static final int GRANTED = 1;
    private static final int REFUSED = 2;

    private volatile int state = ASKED;

    void answer(boolean granted) {
        state = granted ? GRANTED : REFUSED;
    }

    boolean isGranted() {
        return state == GRANTED;
    }

    /** There is no such pool, or no more, or its process is dead. */
    boolean isRefused() {
        return state == REFUSED;
    }
}
