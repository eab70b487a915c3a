// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.Errno;
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
    private volatile boolean asleep;
    /** The kernel does not let a thread sleep here. */
    private volatile boolean broken;
    /** Written by the sleeping thread alone; others may see an earlier value. */
    private long heard;

    Bell(MemorySegment block) {
        this.block = block;
    }

    /** Whether it cannot be slept at. */
    boolean isBroken() {
        return broken;
    }

    /** To be read before the peer is asked to ring. */
    public int value() {
        return BlockLayout.bell(block);
    }

    /**
     * Sleeps until it is rung or {@linkplain #changed changed}, unless that has happened; a signal ends it, too.
     *
     * @param before its {@link #value} before the peer was asked to ring
     * @param nanos how long, 0 without end
     */
    public void await(int before, long nanos) {
        asleep = true;
        try {
            if (!Futex.awaitWoken(block, BlockLayout.BELL, before, nanos == 0 ? -1 : nanos) && value() == before) {
                checkAgain(before); // most often a signal, or the time is over
            }
        } finally {
            asleep = false;
        }
        if (BlockLayout.rings(value()) != BlockLayout.rings(before)) {
            heard++;
        }
    }

    private void checkAgain(int before) {
        int error = Futex.await(block, BlockLayout.BELL, before, 0);
        if (error != 0 && error != Errno.EAGAIN && error != Errno.EINTR && error != Errno.ETIMEDOUT) {
            broken = true;
        }
    }

    /** Wakes the thread: what it waits for may have come in another way. */
    void changed() {
        BlockLayout.changeBell(block);
        if (asleep) { // a thread that is not yet compares the word when it will be
            Futex.wake(block, BlockLayout.BELL, Integer.MAX_VALUE);
        }
    }

    /** Times the peer's ring has ended a sleep. */
    long heard() {
        return heard;
    }
}
