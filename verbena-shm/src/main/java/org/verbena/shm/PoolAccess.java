// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

/** Whether one of our queue pairs may take receives out of a pool of a peer: what the peer has answered so far. */
final class PoolAccess {
    private static final int ASKED = -1;

    private final long token;
    private volatile int pool = ASKED;

    PoolAccess(long token) {
        this.token = token;
    }

    /** Tells this question from earlier ones for the same queue. */
    long token() {
        return token;
    }

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
