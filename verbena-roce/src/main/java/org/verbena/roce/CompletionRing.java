package org.verbena.roce;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

/**
 * The entries of a completion queue: written under the context's lock, read by the one thread that polls. A queue that is
 * resized goes on with another ring, which the reader finds when this one is empty.
 */
final class CompletionRing {
    /** Longs an entry: number of the request, word, bytes, immediate and source, time, vendor's error. */
    private static final int STRIDE = 6;
    private static final int WORD = 1;
    private static final int BYTES = 2;
    private static final int MORE = 3;
    private static final int TIME = 4;
    private static final int VENDOR = 5;
    /** A word: its queue pair is gone, and the entry with it. */
    static final long VOID = -1;

    private static final VarHandle TAIL;
    private static final VarHandle HEAD;
    private static final VarHandle ENTRY = MethodHandles.arrayElementVarHandle(long[].class);

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            TAIL = l.findVarHandle(CompletionRing.class, "tail", long.class);
            HEAD = l.findVarHandle(CompletionRing.class, "head", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int capacity;
    private final int mask;
    private final long[] entries;
    private long tail;
    private long head;
    /** How far the reader has seen the tail. */
    private long seen;
    /** Where completions go on; set under the lock, after the last one was put here. */
    volatile @Nullable CompletionRing next;

    CompletionRing(int capacity) {
        this.capacity = capacity;
        int slots = Integer.highestOneBit(Math.max(1, 2 * capacity - 1));
        mask = slots - 1;
        entries = new long[slots * STRIDE];
    }

    int capacity() {
        return capacity;
    }

    /** A word of an entry: status, opcode, flags and the queue pair's number. */
    static long word(int status, int opcode, int flags, int queuePair) {
        return (long) queuePair << 32 | (long) (flags & 0xff) << 24 | (long) (opcode & 0xffff) << 8 | status & 0xff;
    }

    static int status(long word) {
        return (int) word & 0xff;
    }

    static int opcode(long word) {
        return (int) (word >>> 8) & 0xffff;
    }

    static int flags(long word) {
        return (int) (word >>> 24) & 0xff;
    }

    static int queuePair(long word) {
        return (int) (word >>> 32);
    }

    // ---- under the lock

    /** Entries that wait to be polled. */
    long waiting() {
        return tail - (long) HEAD.getAcquire(this);
    }

    boolean isFull() {
        return waiting() >= capacity;
    }

    /** Adds an entry; there is room. */
    void put(long wrId, long word, long bytes, int immediate, int source, long time, int vendor) {
        int at = ((int) tail & mask) * STRIDE;
        entries[at] = wrId;
        entries[at + WORD] = word;
        entries[at + BYTES] = bytes;
        entries[at + MORE] = (long) source << 32 | immediate & 0xffff_ffffL;
        entries[at + TIME] = time;
        entries[at + VENDOR] = vendor;
        TAIL.setRelease(this, tail + 1);
    }

    /** Takes away what a queue pair has completed here; answers how many entries that were. */
    int discard(int queuePair) {
        int n = 0;
        for (long i = (long) HEAD.getAcquire(this); i < tail; i++) {
            int at = ((int) i & mask) * STRIDE + WORD;
            long word = entries[at];
            if (word != VOID && queuePair(word) == queuePair) {
                ENTRY.setOpaque(entries, at, VOID);
                n++;
            }
        }
        return n;
    }

    // ---- the reader's

    /** True if there is an entry to {@link #take}. */
    boolean hasEntry() {
        if (head < seen) {
            return true;
        }
        seen = (long) TAIL.getAcquire(this);
        return head < seen;
    }

    /** Moves the oldest entry into a cursor, and answers whether it was one at all. */
    boolean take(Cursor c) {
        int at = ((int) head & mask) * STRIDE;
        long word = (long) ENTRY.getOpaque(entries, at + WORD);
        c.wrId = entries[at];
        c.word = word;
        c.byteLength = entries[at + BYTES];
        long more = entries[at + MORE];
        c.immediate = (int) more;
        c.source = (int) (more >>> 32);
        c.time = entries[at + TIME];
        c.vendorError = (int) entries[at + VENDOR];
        HEAD.setRelease(this, head + 1);
        return word != VOID;
    }

    /** What was taken last. */
    static final class Cursor {
        long wrId;
        long word;
        long byteLength;
        int immediate;
        int source;
        long time;
        int vendorError;
    }
}
