package org.verbena.shm;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import org.verbena.bench.Loop;
import org.verbena.linux.Errno;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;

/**
 * A pool of connected queue pairs for the states of one stress test: a state takes one and its arbiter gives it back.
 * Made once per JVM that jcstress forks.
 */
final class StressPairs {
    static final int BYTES = 4096;
    static final int DEPTH = 8;

    /** Two connected queue pairs of two contexts. */
    static final class Pair {
        final Loop loop;
        final Loop.End a;
        final Loop.End b;
        final ShmQueuePair sender;
        final ShmQueuePair receiver;
        final ShmSendQueue sendQueue;

        Pair(Loop loop) {
            this.loop = loop;
            a = loop.a;
            b = loop.b;
            sender = (ShmQueuePair) a.qp;
            receiver = (ShmQueuePair) b.qp;
            sendQueue = (ShmSendQueue) a.qp.sendQueue();
        }

        /** Posts a send with {@code id} as its immediate value too; throws if refused. */
        void send(int id, int flags, int offset, int length) {
            Loop.check(a.qp.sendQueue().start().sendImmediate(id, flags, id).sge(a.region, offset, length).complete());
        }

        /** Posts a receive; throws if refused. */
        void receive(int id, int offset, int length) {
            Loop.check(b.qp.receiveQueue().post(id, b.region, offset, length));
        }

        /** Connects anew. */
        void reset() {
            try {
                a.qp.modify(QueuePairAttributes.to(QueuePairState.RESET).build());
                b.qp.modify(QueuePairAttributes.to(QueuePairState.RESET).build());
                loop.connect();
            } catch (VerbsException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private final Deque<Pair> free = new ArrayDeque<>();
    private final ShmContext first;
    private final ShmContext second;
    private final ProtectionDomain pdA;
    private final ProtectionDomain pdB;
    private final boolean events;

    /** Starts with {@code n} pairs; {@code events}: with completion channels. */
    StressPairs(int n, boolean events) {
        this.events = events;
        try {
            first = (ShmContext) ShmDevice.INSTANCE.open();
            second = (ShmContext) ShmDevice.INSTANCE.open();
            pdA = first.allocateProtectionDomain();
            pdB = second.allocateProtectionDomain();
            List<Pair> made = new ArrayList<>();
            for (int i = 0; i < n; i++) {
                made.add(make());
            }
            free.addAll(made);
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
        }
    }

    private Pair make() throws VerbsException {
        return new Pair(new Loop(pdA, pdB, BYTES, DEPTH, events));
    }

    /** The domain of the receiving ends. */
    ProtectionDomain receivers() {
        return pdB;
    }

    /** Keeps both engines from doing anything, for ever: then a test can see what happens without their help. */
    StressPairs withoutEngines() {
        for (ShmContext c : List.of(first, second)) {
            CountDownLatch begun = new CountDownLatch(1);
            c.engine().submit(() -> {
                begun.countDown();
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            try {
                begun.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        return this;
    }

    synchronized Pair take() {
        Pair p = free.poll();
        try {
            return p == null ? make() : p;
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Takes back a pair on which nothing is outstanding. */
    synchronized void give(Pair p) {
        free.add(p);
    }

    /** Polls until {@code n} completions came or the time is over; answers how many were as they should be. */
    static int drain(CompletionQueue cq, int n, long nanos) {
        int good = 0;
        long end = System.nanoTime() + nanos;
        for (int got = 0; got < n && System.nanoTime() - end < 0;) {
            int r = cq.startPoll();
            if (r == 0) {
                good += cq.status() == 0 ? 1 : 0;
                got++;
                cq.endPoll();
            } else if (r != Errno.ENOENT) {
                return -r;
            }
        }
        return good;
    }
}
