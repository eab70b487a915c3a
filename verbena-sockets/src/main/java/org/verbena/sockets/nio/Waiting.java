// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import java.io.IOException;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.NativeThread;
import sun.nio.ch.Net;
import sun.nio.ch.SelChImpl;

import org.verbena.sockets.stream.Stream;
import org.verbena.sockets.stream.memory.Bell;

/**
 * Where the reader and the writer of one connection sleep: at its TCP socket, virtual threads in the JDK's poller,
 * others in {@code poll(2)}; those others at the stream's {@link Bell} if it has one.
 *
 * <p>When rings carry the bytes both wait for the same doorbell, but the JDK's poller has one thread for each event
 * of a socket, and a doorbell is taken once. So one of them is the leader: it sleeps at the socket or the bell, takes the
 * doorbell, and wakes the other, the follower, which sleeps on its own. The follower polls its direction again, and leads if
 * the leader has gone. The peer rings where the leader sleeps, whichever of the two it is for.
 */
final class Waiting {
    /**
     * How long a writer sleeps when no doorbell can reach it: TCP still carries what comes in, so any byte there is
     * data.
     */
    private static final long NO_DOORBELL_NANOS = 1_000_000;

    /** Wake-ups without anything to do, one after the other, after which a thread no longer waits for the socket's. */
    private static final int FALSE_ALARMS = 16;

    private final SelChImpl tcp;
    private final Object blockingLock;
    private final Interrupts interrupts;
    private final Sleeper reader = new Sleeper();
    private final Sleeper writer = new Sleeper();

    private @Nullable Sleeper leader; // guarded by this object, as is what follows

    /** How often a leader has received doorbells. */
    private int doorbells;
    /** What the peer has rung at the socket since it was last asked for that is taken. For the leader. */
    private volatile boolean drained;

    /** One of the two threads; guarded by the {@link Waiting}. */
    private static final class Sleeper {
        @Nullable Thread thread;
        long nativeThread;
        boolean atSocket;
        boolean stopped;

        /** What the peer is to ring for it; null for a doorbell at the socket. Its thread alone changes it. */
        @Nullable Bell bell;
        /** The bell's value before the peer was asked to ring. */
        int unrung;

        /** Touched by its thread alone. */
        int falseAlarms;

        boolean enter(boolean socket) {
            if (stopped) {
                return false;
            }
            Thread self = Thread.currentThread();
            thread = self;
            atSocket = socket;
            nativeThread = socket && !self.isVirtual() ? NativeThread.current() : 0;
            return true;
        }

        void wake() {
            if (nativeThread != 0 && atSocket && thread != null) {
                NativeThread.signal(nativeThread);
            } else if (thread != null) {
                LockSupport.unpark(thread);
            }
        }
    }

    /** Between two signals to a thread that is to leave the kernel. */
    private static final long SIGNAL_NANOS = 200_000;

    /** @param blockingLock of the channel, which a caller may hold */
    Waiting(SelChImpl tcp, Object blockingLock, Interrupts interrupts) {
        this.tcp = tcp;
        this.blockingLock = blockingLock;
        this.interrupts = interrupts;
    }

    /**
     * Takes a doorbell that was left at the socket. To be called before the stream is {@linkplain #arm armed}.
     *
     * @return how many doorbells were received, for {@link #await}
     */
    synchronized int prepare(Stream stream, int op) {
        if (stream.takeLeftDoorbell()) { // there is no leader; the next one arms after this
            doorbells++;
        }
        Sleeper self = sleeper(op);
        self.bell = leader != null ? leader.bell : mayUseBell() ? stream.bell() : null;
        if (self.bell != null) {
            self.unrung = self.bell.prepare();
        } else {
            drained = false;
        }
        return doorbells;
    }

    /** A virtual thread would keep its carrier, and one sleeps in place of a thread that holds the lock. */
    private boolean mayUseBell() {
        return !Thread.currentThread().isVirtual() && !Thread.holdsLock(blockingLock);
    }

    /** Asks the peer to ring, after {@link #prepare}; returns whether there is no need. */
    int arm(Stream stream, int op) {
        return sleeper(op).bell == null ? stream.arm(op, null) : stream.armBell(op);
    }

    private Sleeper sleeper(int op) {
        return op == OP_READ ? reader : writer;
    }

    /**
     * Sleeps until {@code op} may be ready, the time is over, or {@link #stop}; may return early. The caller holds the
     * lock of the direction, has armed the stream, and polls again afterwards.
     *
     * @param direction whose lock the caller holds
     * @param before the result of {@link #prepare} before the stream was armed: a doorbell that the other thread has
     *        received since may have been the answer, even if nothing is ready, and there is no second one
     * @param nanos how long, 0 without end
     * @return whether an interrupt of the thread was taken away, which the caller gives back
     */
    boolean await(DirectionLock direction, Stream stream, int op, int before, long nanos) throws IOException {
        if (LentLock.isHeld(blockingLock)) { // another thread sleeps: no interrupt of ours
            return LentLock.sleep(blockingLock, direction, () -> sleep(stream, op, before, nanos));
        }
        return sleep(stream, op, before, nanos);
    }

    /**
     * Sleeps until the kernel reports that the socket is ready for what happens before there are bytes, a connection made
     * or accepted; otherwise as {@link #await}. {@link #stop} for reading ends it.
     *
     * @param event of poll(2)
     */
    void awaitKernel(int event, long nanos) throws IOException {
        sleepAtSocket(reader, event, nanos);
        interrupts.check();
    }

    /** @return whether an interrupt was taken away */
    private boolean sleep(Stream stream, int op, int before, long nanos) throws IOException {
        Sleeper self = sleeper(op);
        int kernelOp = stream.kernelOps(op);
        if ((kernelOp & OP_WRITE) != 0) {
            sleepAtSocket(self, Net.POLLOUT, nanos); // only the writer waits for room in TCP
        } else if (kernelOp == 0 || hasNoDoorbell(stream, op) || self.falseAlarms > FALSE_ALARMS) {
            self.falseAlarms = 0;
            return sleepShortly(self, nanos);
        } else {
            return sleepForDoorbell(stream, self, op, before, nanos);
        }
        return false;
    }

    private static boolean hasNoDoorbell(Stream stream, int op) {
        return op == OP_WRITE && stream.isOutputByRing() && !stream.isInputByRing();
    }

    private void sleepAtSocket(Sleeper self, int event, long nanos) throws IOException {
        synchronized (this) {
            if (!self.enter(true)) {
                return;
            }
        }
        try {
            tcp.park(event, nanos);
        } finally {
            leave(self);
        }
    }

    private boolean sleepShortly(Sleeper self, long nanos) {
        synchronized (this) {
            if (!self.enter(false)) {
                return false;
            }
        }
        try {
            return park(nanos == 0 ? NO_DOORBELL_NANOS : Math.min(nanos, NO_DOORBELL_NANOS));
        } finally {
            leave(self);
        }
    }

    /** Away from the socket. @return whether an interrupt was taken away */
    private boolean park(long nanos) {
        boolean hidden = interrupts.areHidden() && Thread.interrupted();
        if (nanos == 0) {
            LockSupport.park(this);
        } else {
            LockSupport.parkNanos(this, nanos);
        }
        return hidden;
    }

    private boolean sleepForDoorbell(Stream stream, Sleeper self, int op, int before, long nanos) throws IOException {
        boolean leads;
        synchronized (this) {
            Sleeper first = leader;
            leads = first == null;
            if (doorbells != before || first != null && misses(self, first) || !self.enter(leads)) {
                return false;
            }
            if (leads) {
                leader = self;
            }
        }
        try {
            if (stream.readyOps(op) != 0) { // the other has taken the doorbell while this thread was on its way here
                return false;
            }
            if (leads) {
                sleepAsLeader(stream, self, op, nanos);
                return false;
            }
            return park(nanos);
        } finally {
            leave(self);
            if (leads) {
                handOver(stream, self, op);
            }
        }
    }

    /** Whether a follower would miss a ring: the leader sleeps elsewhere, or has come when the bell had been rung already. */
    private static boolean misses(Sleeper follower, Sleeper leader) {
        return leader.bell != follower.bell || follower.bell != null && follower.bell.value() != follower.unrung;
    }

    private void sleepAsLeader(Stream stream, Sleeper self, int op, long nanos) throws IOException {
        if (self.bell == null) {
            tcp.park(Net.POLLIN, nanos);
            return;
        }
        if (!drained) {
            drained = true;
            if (stream.kernelReady(OP_READ, op) != 0) {
                return;
            }
        }
        self.bell.await(self.unrung, nanos);
    }

    /**
     * Takes the doorbell, if it was one, and lets the other thread poll. Where there is none and this thread has got what it
     * waited for, the doorbell stays until a thread is about to sleep again: the bytes are not delayed by a system
     * call.
     */
    private void handOver(Stream stream, Sleeper self, int op) {
        Sleeper other = self == reader ? writer : reader;
        if (stream.readyOps(op) != 0) {
            self.falseAlarms = 0;
            synchronized (this) {
                if (other.thread == null) {
                    leader = null;
                    doorbells++;
                    if (self.bell == null) {
                        stream.leaveDoorbell();
                    }
                    return;
                }
            }
        }
        int both = OP_READ | OP_WRITE;
        int ready = self.bell == null ? stream.kernelReady(OP_READ, both) : stream.readyOps(both);
        self.falseAlarms = ready == 0 && stream.readyOps(op) == 0 ? self.falseAlarms + 1 : 0;
        synchronized (this) {
            leader = null;
            doorbells++;
            if (!other.atSocket) {
                other.wake();
            }
        }
    }

    private synchronized void leave(Sleeper self) {
        self.thread = null;
        self.nativeThread = 0;
    }

    /** Ends the sleep of a thread that waits for {@code op}, and prevents later ones; returns when it is awake. */
    void stop(int op) {
        Sleeper sleeper = sleeper(op);
        long next = System.nanoTime();
        for (;;) {
            synchronized (this) {
                sleeper.stopped = true;
                if (sleeper.thread == null) {
                    return;
                }
                long now = System.nanoTime();
                if (now - next >= 0) { // not more often: signals queue up, and the kernel refuses the one too many
                    sleeper.wake();
                    next = now + SIGNAL_NANOS;
                }
            }
            // a signal that came just before poll(2) is lost: so again
            DirectionLock.pause();
        }
    }
}
