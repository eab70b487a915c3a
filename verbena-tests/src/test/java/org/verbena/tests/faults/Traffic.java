// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Random;

import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * One end of dense, checked traffic on a queue pair: sends, writes, writes with immediate, reads and atomics of random
 * sizes, some dozens at a time. Every message is a pattern of its sender's seed and its number, so the receiver knows
 * what it has to be. Completions have to come exactly once and in the order of their work requests.
 */
public final class Traffic {
    /** Memory that an end needs. */
    public static final long BYTES;

    private static final int WINDOW = 16;
    private static final int RECEIVES = 32;
    private static final int SLOT = 8192;
    private static final int BIG = 65536;
    private static final int SMALL = 100;
    private static final long RECEIVE = 1L << 62;

    private static final long RECEIVED = 0;
    private static final long SENT = RECEIVED + RECEIVES * SLOT;
    private static final long WRITTEN = SENT + WINDOW * BIG;
    private static final long IMMEDIATE = WRITTEN + BIG;
    private static final long CONSTANT = IMMEDIATE + RECEIVES * BIG;
    private static final long READ = CONSTANT + BIG;
    private static final long COUNTER = READ + WINDOW * BIG;
    private static final long CONSTANT_NUMBER = -1;

    static {
        BYTES = COUNTER + 4096;
    }

    private final QueuePair qp;
    private final MemoryRegion region;
    private final MemorySegment memory;
    private final long seed;
    private final Random random;
    private final boolean checked;
    private final ArrayDeque<Long> sends = new ArrayDeque<>();
    private final ArrayDeque<Long> receives = new ArrayDeque<>();
    private final ArrayDeque<Integer> readLengths = new ArrayDeque<>();
    private long peerSeed;
    private int peerKey;
    private long peerAddress;
    private long posted;
    private long postedReceives;
    private long messagesSent;
    private long messagesReceived;
    private long done;
    private boolean failed;

    /** An end whose peer is expected to behave. */
    public Traffic(QueuePair qp, MemoryRegion region, long seed) {
        this(qp, region, seed, true);
    }

    /** An end; {@code checked} is false if the peer may send anything. */
    public Traffic(QueuePair qp, MemoryRegion region, long seed, boolean checked) {
        this.qp = qp;
        this.region = region;
        this.seed = seed;
        this.checked = checked;
        memory = region.segment();
        random = new Random(seed);
        fill(memory.asSlice(CONSTANT, BIG), seed, CONSTANT_NUMBER);
    }

    /** What the peer has to know. */
    public byte[] address() {
        return ByteBuffer.allocate(20).putLong(seed).putLong(region.address()).putInt(region.rkey()).array();
    }

    /** Begins when the queue pair is connected. */
    public void begin(byte[] peer) {
        ByteBuffer b = ByteBuffer.wrap(peer);
        peerSeed = b.getLong();
        peerAddress = b.getLong();
        peerKey = b.getInt();
        for (int i = 0; i < RECEIVES; i++) {
            postReceive();
        }
    }

    private void postReceive() {
        long id = RECEIVE | postedReceives;
        long at = RECEIVED + postedReceives % RECEIVES * SLOT;
        int e = qp.receiveQueue().post(id, region, at, SLOT);
        if (e != 0) {
            throw new AssertionError("cannot post a receive: " + e + ", " + this);
        }
        postedReceives++;
        receives.add(id);
    }

    /** Posts one operation if there is room for it. */
    public void step() {
        if (sends.size() >= WINDOW || failed) {
            return;
        }
        long id = posted;
        long slot = posted % WINDOW * BIG;
        SendQueue q = qp.sendQueue().start();
        int kind = random.nextInt(7);
        switch (kind) {
            case 0, 1 -> {
                int n = random.nextInt(kind == 0 ? SMALL : SLOT + 1);
                fill(memory.asSlice(SENT + slot, n), seed, messagesSent++);
                q.send(id, SendFlags.SIGNALED);
                if (n > 0) {
                    q.sge(region, SENT + slot, n);
                }
            }
            case 2 -> q.write(id, SendFlags.SIGNALED, peerKey, peerAddress + WRITTEN)
                    .sge(region, SENT + slot, 1 + random.nextInt(BIG));
            case 3 -> {
                int n = 1 + random.nextInt(BIG);
                fill(memory.asSlice(SENT + slot, n), seed, messagesSent);
                q.writeImmediate(id, SendFlags.SIGNALED, peerKey,
                        peerAddress + IMMEDIATE + messagesSent % RECEIVES * BIG, n).sge(region, SENT + slot, n);
                messagesSent++;
            }
            case 4 -> {
                int n = 1 + random.nextInt(BIG);
                q.read(id, SendFlags.SIGNALED, peerKey, peerAddress + CONSTANT).sge(region, READ + slot, n);
                readLengths.add(n);
            }
            case 5 -> q.fetchAndAdd(id, SendFlags.SIGNALED, peerKey, peerAddress + COUNTER, 1)
                    .sge(region, READ + slot, 8);
            default -> q.compareAndSwap(id, SendFlags.SIGNALED, peerKey, peerAddress + COUNTER + 8, 0, id)
                    .sge(region, READ + slot, 8);
        }
        int e = q.complete();
        if (e != 0 && !checked) {
            return; // whatever the peer says its memory is, it may not be fit for atomics
        }
        if (e != 0) {
            throw new AssertionError("cannot post " + kind + ": " + e + ", " + this);
        }
        posted++;
        sends.add(id);
    }

    /** Takes the completion that the cursor is on. */
    public void completed(CompletionQueue cq) {
        long id = cq.wrId();
        ArrayDeque<Long> queue = (id & RECEIVE) != 0 ? receives : sends;
        Long oldest = queue.poll();
        if (oldest == null || oldest != id) {
            throw new AssertionError("completion of " + id + " instead of " + oldest + ", " + this);
        }
        if (cq.status() != WcStatus.SUCCESS) {
            failed = true;
            return;
        }
        if (queue == sends) {
            done++;
            if (cq.opcode() == WcOpcode.RDMA_READ) {
                check("a read", READ + id % WINDOW * BIG, readLengths.remove(), CONSTANT_NUMBER);
            }
        } else {
            long n = messagesReceived++;
            if (cq.opcode() == WcOpcode.RECV_RDMA_WITH_IMM && (cq.flags() & WcFlags.WITH_IMM) != 0) {
                check("a write with immediate", IMMEDIATE + n % RECEIVES * BIG, cq.immediate(), n);
            } else {
                check("a message", RECEIVED + (id & ~RECEIVE) % RECEIVES * SLOT, cq.byteLength(), n);
            }
            if (!failed) {
                postReceive();
            }
        }
    }

    private void check(String what, long at, long length, long number) {
        long bad = checked ? mismatch(memory.asSlice(at, length), peerSeed, number) : -1;
        if (bad >= 0) {
            throw new AssertionError(what + " of " + length + " bytes, number " + number + ", is wrong at " + bad
                    + ", " + this);
        }
    }

    /** Takes all completions of a queue on which this traffic is alone. */
    public void poll(CompletionQueue cq) {
        if (cq.startPoll() == 0) {
            do {
                completed(cq);
            } while (cq.nextPoll() == 0);
            cq.endPoll();
        }
    }

    /** Work requests without a completion so far. */
    public int outstanding() {
        return sends.size() + receives.size();
    }

    /** Work of both ends that was done. */
    public long done() {
        return done + messagesReceived;
    }

    QueuePair qp() {
        return qp;
    }

    /** Closes queue pair and memory. */
    public void close() throws VerbsException {
        qp.close();
        region.close();
    }

    @Override
    public String toString() {
        return "traffic of seed " + seed + ": " + done + " done, " + messagesReceived + " received, " + sends.size()
                + " sends and " + receives.size() + " receives outstanding; " + Node.describe(qp);
    }

    private static long word(long seed, long number, long i) {
        long z = (seed + number * 0x632BE59BD9B4E019L + i) * 0x9E3779B97F4A7C15L;
        return (z ^ z >>> 29) * 0xBF58476D1CE4E5B9L;
    }

    /** Fills memory with the pattern of a seed and a number. */
    public static void fill(MemorySegment s, long seed, long number) {
        long n = s.byteSize();
        for (long i = 0; i < n >>> 3; i++) {
            s.set(ValueLayout.JAVA_LONG_UNALIGNED, i << 3, word(seed, number, i));
        }
        for (long i = n & ~7L; i < n; i++) {
            s.set(ValueLayout.JAVA_BYTE, i, (byte) (word(seed, number, i >>> 3) >>> (i & 7) * 8));
        }
    }

    /** Where memory differs from {@link #fill}'s pattern; -1 if nowhere. */
    public static long mismatch(MemorySegment s, long seed, long number) {
        long n = s.byteSize();
        for (long i = 0; i < n >>> 3; i++) {
            if (s.get(ValueLayout.JAVA_LONG_UNALIGNED, i << 3) != word(seed, number, i)) {
                return i << 3;
            }
        }
        for (long i = n & ~7L; i < n; i++) {
            if (s.get(ValueLayout.JAVA_BYTE, i) != (byte) (word(seed, number, i >>> 3) >>> (i & 7) * 8)) {
                return i;
            }
        }
        return -1;
    }
}
