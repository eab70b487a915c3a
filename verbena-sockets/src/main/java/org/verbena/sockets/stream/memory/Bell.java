// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream.memory;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.Futex;

/**
 * Where a platform thread of this end sleeps until the peer rings: a futex in the own control block, {@link BlockLayout#BELL}. It costs
 * each end one system call, where a doorbell by TCP costs a write, a poll and a read. TCP does not wake the thread: who finds its end
 * {@linkplain #changed says so}.
 *
 * <p>One thread sleeps at a time; all else is for any thread.
 */
public final class Bell {
    private final MemorySegment block;
    /**
     * A thread is about to sleep: only then is there anything to change, and nobody gives back the block. It stays after one that
     * did not sleep then, which costs the few changes of a connection a word that nobody waits for.
     */
    private volatile boolean prepared;
    private volatile boolean asleep;
    /** The kernel does not let a thread sleep here. */
    private volatile boolean broken;
    private boolean closed; // guarded by this object
    /** Written by the sleeping thread alone; others may see an earlier value. */
    private long heard;

    public Bell(MemorySegment block) {
        this.block = block;
    }

    /** Whether it cannot be slept at. */
    public boolean isBroken() {
        return broken;
    }

    /** Before the peer is asked to ring; returns the value for {@link #await}. */
    public int prepare() {
        prepared = true;
        return value();
    }

    /** What {@link #prepare} would return, for a thread that leaves the sleep here to another. */
    public int value() {
        return BlockLayout.bell(block, BlockLayout.BELL);
    }

    /**
     * Sleeps until it is rung or {@linkplain #changed changed}, unless that has happened; a signal ends it, too.
     *
     * @param before the result of {@link #prepare} before the peer was asked to ring
     * @param nanos how long, 0 without end
     */
    public void await(int before, long nanos) {
        asleep = true;
        int now = before;
        try {
            boolean woken = Futex.awaitWoken(block, BlockLayout.BELL, before, nanos == 0 ? -1 : nanos);
            now = value();
            if (!woken && now == before && !Futex.canSleep(block, BlockLayout.BELL)) {
                broken = true; // most often it can: it was a signal, or the time is over
            }
        } finally {
            asleep = false;
            prepared = false;
        }
        if (BlockLayout.rings(now) != BlockLayout.rings(before)) {
            heard++;
        }
    }

    /** Wakes the thread: what it waits for may have come in another way. */
    public void changed() {
        if (prepared) { // else a thread that is about to sleep looks for what has changed after it has prepared
            changeNow();
        }
    }

    private synchronized void changeNow() {
        if (closed) {
            return;
        }
        BlockLayout.changeBell(block, BlockLayout.BELL);
        if (asleep) { // a thread that is not yet compares the word when it will be
            Futex.wake(block, BlockLayout.BELL, Integer.MAX_VALUE);
        }
    }

    /** Before the block is given back; no thread sleeps any more. */
    public synchronized void close() {
        closed = true;
    }

    /** Times the peer's ring has ended a sleep. */
    public long heard() {
        return heard;
    }
}
