// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.jmh;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import org.verbena.bench.Loop;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/**
 * Two connected queue pairs of two contexts, of shm0 unless a subclass says so; every {@value #SIGNAL_EVERY}th send is
 * signalled and then reaped.
 */
@State(Scope.Thread)
public class Ends {
    private static final int SIGNAL_EVERY = 32;
    private static final int DEPTH = 128;
    private static final long BYTES = 1 << 16;
    private static final long LONGEST_NANOS = 10_000_000_000L;

    private final Context first;
    private final Context second;
    private final Loop loop;
    private int posted;

    /** The sender's queue. */
    final SendQueue sendQueue;
    /** The receiver's queue. */
    final ReceiveQueue receiveQueue;
    final CompletionQueue sendCq;
    final CompletionQueue receiveCq;
    /** Memory of the sender. */
    final MemoryRegion from;
    /** Memory of the receiver. */
    final MemoryRegion to;
    final int rkey;
    final long remote;
    /** Memory that is registered nowhere. */
    final MemorySegment plain = Arena.ofAuto().allocate(64);

    /** For JMH. */
    public Ends() {
        this("shm0");
    }

    /** Of a device. */
    Ends(String name) {
        try {
            first = Verbs.open(name);
            second = Verbs.open(name);
            from = allocate(first);
            to = allocate(second);
            loop = new Loop(from, to, DEPTH, true);
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
        }
        sendQueue = loop.a.qp.sendQueue();
        receiveQueue = loop.b.qp.receiveQueue();
        sendCq = loop.a.sendCq;
        receiveCq = loop.b.receiveCq;
        rkey = to.rkey();
        remote = to.address();
    }

    private static MemoryRegion allocate(Context c) throws VerbsException {
        ProtectionDomain pd = c.allocateProtectionDomain();
        return pd.allocate(BYTES, AccessFlags.ALL);
    }

    /** Checks that the loop works before anything is measured. */
    @Setup(Level.Trial)
    public void check() {
        receive();
        ok(sendQueue.start().send(0, SendFlags.SIGNALED).sge(from, 0, 8).complete());
        received();
        Loop.take(sendCq);
    }

    /** Closes everything. */
    @TearDown(Level.Trial)
    public void close() throws VerbsException {
        loop.close();
        first.close();
        second.close();
    }

    /** The flags of the next send. */
    int flags() {
        posted++;
        return isSignalled() ? SendFlags.SIGNALED : SendFlags.NONE;
    }

    /** To be called after each send with {@link #flags()}. */
    void reap() {
        if (isSignalled()) {
            take(sendCq);
        }
    }

    /** Whether the last send was signalled. */
    boolean isSignalled() {
        return (posted & SIGNAL_EVERY - 1) == 0;
    }

    /** Creates more queue pairs on the same completion queues. */
    void more(int pairs) throws VerbsException {
        loop.add(pairs, 4);
    }

    /** Posts a receive. */
    void receive() {
        ok(receiveQueue.post(7, to, 0, 4096));
    }

    /** Takes the completion of a receive. */
    long received() {
        return take(receiveCq);
    }

    /**
     * Takes one completion by cursor; it has already arrived, unless the machine is busy and the engine completes the
     * request.
     */
    static long take(CompletionQueue cq) {
        return take(cq, null);
    }

    /**
     * Like {@link #take(CompletionQueue)}; meanwhile the empty queue of the other end is polled, so that it makes
     * progress.
     */
    static long take(CompletionQueue cq, @Nullable CompletionQueue other) {
        long start = 0;
        while (cq.startPoll() != 0) {
            if (start == 0) {
                start = System.nanoTime();
            } else if (System.nanoTime() - start > LONGEST_NANOS) {
                throw new IllegalStateException("there is no completion");
            }
            if (other == null) {
                Thread.onSpinWait();
            } else if (other.startPoll() == 0) {
                throw new IllegalStateException("an unexpected completion");
            }
        }
        long n = cq.byteLength();
        if (cq.status() != WcStatus.SUCCESS) {
            throw new IllegalStateException("completed with " + WcStatus.toString(cq.status()));
        }
        cq.endPoll();
        return n;
    }

    /** Throws if {@code errno} is not 0. */
    static void ok(int errno) {
        if (errno != 0) {
            throw new IllegalStateException("refused with errno " + errno);
        }
    }
}
