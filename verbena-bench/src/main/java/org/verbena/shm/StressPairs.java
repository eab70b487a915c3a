// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import org.verbena.bench.Loop;
import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.VerbsException;

/**
 * A pool of connected queue pairs for the states of one stress test: a state takes one and its arbiter gives it back.
 * Made once per JVM that jcstress forks.
 */
final class StressPairs {
    private static final int BYTES = 4096;
    private static final int DEPTH = 8;
    private static final int MOST = 1024;

    /** Two connected queue pairs of two contexts. */
    static final class Pair {
        private final Loop loop;
        private final int slice;
        final Loop.End a;
        final Loop.End b;
        final ShmQueuePair sender;
        final ShmQueuePair receiver;
        final ShmSendQueue sendQueue;

        private Pair(Loop loop, int slice) {
            this.loop = loop;
            this.slice = slice;
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
    }

    private final Deque<Pair> free = new ArrayDeque<>();
    private final Deque<Integer> slices = new ArrayDeque<>();
    private final ShmContext first;
    private final ShmContext second;
    private final MemoryRegion[] regionsA = new MemoryRegion[MOST + 1];
    private final MemoryRegion[] regionsB = new MemoryRegion[MOST + 1];
    private final boolean events;

    /** Starts with {@code n} pairs; {@code events}: with completion channels. */
    StressPairs(int n, boolean events) {
        this.events = events;
        try {
            first = (ShmContext) ShmDevice.INSTANCE.open();
            second = (ShmContext) ShmDevice.INSTANCE.open();
            slice(first, regionsA);
            slice(second, regionsB);
            for (int i = 0; i < MOST; i++) {
                slices.add(i);
            }
            for (int i = 0; i < n; i++) {
                free.add(make());
            }
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
        }
    }

    /** One allocation for all pairs, so that peers map memory once. */
    private static void slice(ShmContext context, MemoryRegion[] into) throws VerbsException {
        ProtectionDomain pd = context.allocateProtectionDomain();
        MemoryRegion all = pd.allocate((long) MOST * BYTES, AccessFlags.ALL);
        into[MOST] = all;
        for (int i = 0; i < MOST; i++) {
            into[i] = pd.register(all.segment().asSlice((long) i * BYTES, BYTES), AccessFlags.ALL);
        }
    }

    private Pair make() throws VerbsException {
        int i = slices.remove();
        return new Pair(new Loop(regionsA[i], regionsB[i], DEPTH, events), i);
    }

    /** The context of the sending ends. */
    ShmContext senders() {
        return first;
    }

    /** The context of the receiving ends. */
    ShmContext receivers() {
        return second;
    }

    /** The index of the protection domain of the receiving ends. */
    int domain() {
        return ((ShmProtectionDomain) regionsB[0].protectionDomain()).index();
    }

    /** Holds both engines forever, so that a test can see what happens without their help. */
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

    /** Takes back a pair that is unusable. */
    synchronized void discard(Pair p) {
        try {
            p.loop.close();
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
        }
        slices.add(p.slice);
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
