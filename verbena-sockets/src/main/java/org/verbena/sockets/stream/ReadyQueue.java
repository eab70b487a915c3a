// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.Arrays;
import java.util.BitSet;

import org.verbena.verbs.VerbsException;

/**
 * Where peers put the streams of one selector that became ready: a list, so that a selector polls what is ready and
 * never at what is not. One thread at a time polls.
 *
 * {@snippet :
 * queue.poll();                      // notifies the listeners of what became ready
 * if (queue.sleep(mayUseBell)) {     // from here on peers ring: the bell, or the doorbell of a stream that becomes ready
 *     if (queue.isAtBell()) {
 *         queue.await(nanos);
 *     } else {
 *         kernelSelector.select(millis);
 *     }
 *     queue.awake();
 * }
 * }
 */
public final class ReadyQueue implements AutoCloseable {
    private static final ReadyRings.Ring[] NONE = {};
    private static final BitSet NUMBERS = new BitSet();

    private final int number;
    private volatile ReadyRings.Ring[] rings = NONE;
    private final SelectorBell bell = new SelectorBell();
    private boolean asleep;
    private volatile boolean atBell;
    /** A stream has found no place here: its peer rings a doorbell. */
    private volatile boolean incomplete;
    private boolean closed;

    /** An empty queue. */
    public ReadyQueue() {
        synchronized (NUMBERS) {
            int free = NUMBERS.nextClearBit(1);
            number = free < ReadyRings.QUEUES ? free : 0; // 0: doorbells only
            NUMBERS.set(number);
        }
    }

    /** Number by which a peer of this session finds the queue; 0: by doorbell. */
    int attach(Session session) {
        if (number == 0) {
            return 0;
        }
        for (ReadyRings.Ring ring : rings) {
            if (ring.session() == session) {
                return number;
            }
        }
        try {
            return add(session);
        } catch (VerbsException e) {
            incomplete = true;
            return 0; // no memory for a ring
        }
    }

    private synchronized int add(Session session) throws VerbsException {
        if (closed || session.isFailed()) {
            return 0;
        }
        for (ReadyRings.Ring ring : rings) {
            if (ring.session() == session) {
                return number;
            }
        }
        ReadyRings.Ring ring = session.ready().open(number);
        dropFailed();
        ReadyRings.Ring[] alive = rings;
        ReadyRings.Ring[] more = Arrays.copyOf(alive, alive.length + 1);
        more[alive.length] = ring;
        if (asleep) {
            ring.sleep(true, false);
            bell.wake();
        }
        rings = more;
        return number;
    }

    /**
     * Calls the listeners of the streams that became ready since the last call. No system call.
     *
     * @return how many
     */
    public int poll() {
        int n = 0;
        for (ReadyRings.Ring ring : rings) {
            while (!ring.isEmpty()) {
                RingStream stream = ring.next();
                if (stream != null) {
                    stream.changed();
                    n++;
                }
            }
        }
        return n;
    }

    /**
     * Announces that this end does not poll from now on.
     *
     * @param mayUseBell whether the caller can sleep by {@link #await} rather than at the sockets
     * @return false if something became ready meanwhile: then nothing is announced, and polling goes on
     */
    public boolean sleep(boolean mayUseBell) {
        synchronized (this) {
            asleep = true;
            dropFailed();
            atBell = mayUseBell && isComplete() && bell.isPossible(rings);
            bell.prepare(atBell ? rings : NONE);
            for (ReadyRings.Ring ring : rings) {
                ring.sleep(true, atBell);
            }
        }
        for (ReadyRings.Ring ring : rings) {
            if (!ring.isEmpty() || ring.session().isFailed()) { // which wakes nobody a second time
                awake();
                return false;
            }
        }
        return true;
    }

    /** Whether what becomes ready is always found here: all streams have found a place. */
    public boolean isComplete() {
        return number != 0 && !incomplete;
    }

    /** Leaves out sessions that have failed; what their streams had to report they have. */
    private void dropFailed() {
        for (ReadyRings.Ring ring : rings) {
            if (ring.session().isFailed()) {
                rings = Arrays.stream(rings).filter(r -> !r.session().isFailed()).toArray(ReadyRings.Ring[]::new);
                return;
            }
        }
    }

    /** Whether the peers ring the bell after {@link #sleep}, so that {@link #await} is the way to sleep. */
    public boolean isAtBell() {
        return atBell;
    }

    /**
     * Sleeps until a peer rings the bell, {@link #wake}, a signal, or the time is over; may return early.
     *
     * @param nanos how long; negative without end
     */
    public void await(long nanos) {
        bell.await(nanos);
    }

    /** Ends an {@link #await}, also one that is yet to begin after this {@link #sleep}. */
    public void wake() {
        bell.wake();
    }

    /** Takes {@link #sleep} back. */
    public synchronized void awake() {
        if (asleep) {
            asleep = false;
            for (ReadyRings.Ring ring : rings) {
                ring.sleep(false, false);
            }
        }
    }

    /** Releases the number. Later writes of peers to the queue are ignored. Idempotent. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            for (ReadyRings.Ring ring : rings) {
                ring.sleep(false, false);
            }
            rings = NONE;
            if (number != 0) {
                synchronized (NUMBERS) {
                    NUMBERS.clear(number);
                }
            }
        }
    }
}
