// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The lock of one direction of a connection. A closing thread waits until the holder has left the stream; the holder
 * may itself be about to close the channel, from the JDK's interruption code, or want a lock back that the closing
 * thread has, and then steps aside so that neither waits for it.
 */
final class DirectionLock {
    private static final long PAUSE_NANOS = 50_000;
    /** The longest pause between two polls of a thread that may wait for hours. */
    private static final long LONGEST_WAIT_MILLIS = 16;

    private final ReentrantLock lock = new ReentrantLock();
    private volatile boolean aside;

    void lock() {
        lock.lock();
    }

    /** Takes the lock, if no other thread has it; whether the caller holds it. */
    boolean tryLock() {
        return lock.tryLock();
    }

    /**
     * Takes the lock, if it can be had in time; an interrupt changes nothing.
     *
     * @param nanos 0 waits without end
     * @return whether the caller holds it
     */
    boolean lock(long nanos) {
        if (nanos == 0) {
            lock.lock();
            return true;
        }
        if (lock.tryLock()) {
            return true;
        }
        boolean interrupted = false;
        boolean mine = false;
        long end = System.nanoTime() + nanos;
        for (long left = nanos; !mine && left > 0; left = end - System.nanoTime()) {
            try {
                mine = lock.tryLock(left, NANOSECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return mine;
    }

    void unlock() {
        lock.unlock();
    }

    /**
     * Takes the lock, whose holder may want {@code blockingLock} back before it lets go, see {@link LentLock}; a caller
     * that is in one of the streams which hold that gives it up in between.
     */
    void lock(Object blockingLock) {
        if (lock.tryLock()) {
            return;
        }
        if (LentLock.isHeld(blockingLock)) {
            await(lock::tryLock, blockingLock);
        } else {
            lock.lock();
        }
    }

    /** Takes two locks, as {@link #lock(Object)} does one; the caller holds {@code blockingLock}. */
    static void lockBoth(DirectionLock one, DirectionLock other, Object blockingLock) {
        await(() -> tryLockBoth(one, other), blockingLock);
    }

    private static void await(BooleanSupplier taken, Object blockingLock) {
        boolean interrupted = false;
        for (long millis = 1; !taken.getAsBoolean(); millis = Math.min(2 * millis, LONGEST_WAIT_MILLIS)) {
            try {
                blockingLock.wait(millis);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean tryLockBoth(DirectionLock one, DirectionLock other) {
        if (one.lock.tryLock()) {
            if (other.lock.tryLock()) {
                return true;
            }
            one.lock.unlock();
        }
        return false;
    }

    /** The holder promises not to touch the stream until {@link #stepBack}. */
    void stepAside() {
        aside = true;
    }

    /** The holder is back, and checks whether the channel is still open before it touches the stream. */
    void stepBack() {
        aside = false;
    }

    /** Waits until no thread uses the stream; the channel is marked closed, so none will. */
    void awaitUnused() {
        while (!aside) {
            if (lock.tryLock()) {
                lock.unlock();
                return;
            }
            pause();
        }
    }

    /** A short sleep; for an interrupted thread, which cannot sleep, its turn given away. */
    @SuppressWarnings("ThreadPriorityCheck") // for a moment, until another thread has left
    static void pause() {
        if (Thread.currentThread().isInterrupted()) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }
}
