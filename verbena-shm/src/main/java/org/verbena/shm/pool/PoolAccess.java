// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

/** The access of one of our queue pairs to a pool of a peer, as far as the peer has answered. */
public final class PoolAccess {
    private static final int PENDING = -1;

    private final long token;
    private volatile int pool = PENDING;

    public PoolAccess(long token) {
        this.token = token;
    }

    /** Distinguishes this request from earlier ones for the same queue. */
    public long token() {
        return token;
    }

    /** The peer's answer: number of the pool, 0 if there is none for us. */
    public void answer(int number) {
        pool = number;
    }

    public boolean isAnswered() {
        return pool != PENDING;
    }

    /** Number of the pool; 0 if there is none any more, or its process is dead. */
    public int pool() {
        return pool;
    }
}
