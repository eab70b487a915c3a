// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

/**
 * The entries of a completion queue: written under the context's lock, read by the one thread that polls. A queue that
 * is resized continues with another ring, which the reader finds when this one is empty.
 */
final class CompletionRing {
    /**
     * Longs per entry: request id, word, bytes, immediate and source (of a send: requests of its queue that are free),
     * time.
     */
    private static final int STRIDE = 5;
    private static final int WORD = 1;
    private static final int BYTES = 2;
    private static final int MORE = 3;
    private static final int TIME = 4;
    /** A word: the entry is void, since its queue pair is gone. */
    static final long VOID = -1;

    private static final VarHandle TAIL;
    private static final VarHandle HEAD;
    private static final VarHandle OWNER = MethodHandles.arrayElementVarHandle(Object[].class);
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

    private final int mask;
    private final long[] entries;
    /**
     * What is freed when the entry is polled: space of a send queue, a request of a shared receive queue, or nothing.
     */
    private final @Nullable Object[] owners;
    private long tail;
    private long head;
    /** The tail as last read by the reader. */
    private long seen;
    /** Void entries that the reader has not passed, up to {@link #looked}; both under the lock. */
    private int voids;
    private long looked;
    /** The ring that later completions are put into; set under the lock, after the last one was put here. */
    volatile @Nullable CompletionRing next;

    CompletionRing(int capacity) {
        int slots = Integer.highestOneBit(Math.max(1, 2 * capacity - 1));
        mask = slots - 1;
        entries = new long[slots * STRIDE];
        owners = new @Nullable Object[slots];
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

    /** Entries that wait to be polled; void ones do not count, though they take space until the reader passes them. */
    long waiting() {
        long oldest = (long) HEAD.getAcquire(this);
        return tail - oldest - (voids == 0 ? 0 : voidsFrom(oldest));
    }

    private int voidsFrom(long oldest) {
        for (; voids > 0 && looked < oldest; looked++) {
            if (entries[((int) looked & mask) * STRIDE + WORD] == VOID) {
                voids--;
            }
        }
        return voids;
    }

    /** Whether the reader has passed every entry; if another ring follows, this one is finished. */
    boolean isEmpty() {
        return tail == (long) HEAD.getAcquire(this);
    }

    /** Number of further entries that fit. */
    long room() {
        return mask + 1 - (tail - (long) HEAD.getAcquire(this));
    }

    /** Adds the entry of a receive; the caller has checked that it fits. */
    void put(long wrId, long word, long bytes, int immediate, int source, long time, @Nullable PooledReceive held) {
        put(wrId, word, bytes, (long) source << 32 | immediate & 0xffff_ffffL, time, held);
    }

    /**
     * Adds the entry of a send, with the number of requests of its queue that are free after it; the caller has checked
     * that it fits.
     */
    void put(long wrId, long word, long bytes, long time, SendRoom room, long freed) {
        put(wrId, word, bytes, freed, time, room);
    }

    private void put(long wrId, long word, long bytes, long more, long time, @Nullable Object owner) {
        int slot = (int) tail & mask;
        int at = slot * STRIDE;
        owners[slot] = owner;
        entries[at] = wrId;
        entries[at + WORD] = word;
        entries[at + BYTES] = bytes;
        entries[at + MORE] = more;
        entries[at + TIME] = time;
        TAIL.setRelease(this, tail + 1);
    }

    /** Voids the completions of a queue pair. */
    void discard(int queuePair) {
        long oldest = (long) HEAD.getAcquire(this);
        if (voidsFrom(oldest) == 0) {
            looked = oldest;
        }
        for (long i = tail - 1; i >= oldest; i--) { // receives are posted again, the oldest last and so first
            int slot = (int) i & mask;
            int at = slot * STRIDE + WORD;
            long word = entries[at];
            if (word != VOID && queuePair(word) == queuePair) {
                ENTRY.setOpaque(entries, at, VOID);
                if (owners[slot] instanceof PooledReceive && OWNER.getAndSet(owners, slot,
                        null) instanceof PooledReceive r) {
                    r.pool.putBack(r);
                }
                voids++;
            }
        }
    }

    // ---- used by the reader

    /** True if there is an entry to {@link #take}. */
    boolean hasEntry() {
        if (head < seen) {
            return true;
        }
        seen = (long) TAIL.getAcquire(this);
        return head < seen;
    }

    /** Moves the oldest entry into a cursor; false if it was void. */
    boolean take(Cursor c) {
        int slot = (int) head & mask;
        int at = slot * STRIDE;
        long word = (long) ENTRY.getOpaque(entries, at + WORD);
        c.wrId = entries[at];
        c.word = word;
        c.byteLength = entries[at + BYTES];
        long more = entries[at + MORE];
        c.time = entries[at + TIME];
        boolean valid = word != VOID;
        Object owner = owners[slot];
        if (owner instanceof SendRoom room) {
            owners[slot] = null;
            c.source = 0;
            if (valid) {
                room.free(more);
            }
        } else {
            c.immediate = (int) more;
            c.source = (int) (more >>> 32);
            if (owner != null) {
                valid = OWNER.getAndSet(owners, slot, null) instanceof PooledReceive r && release(r);
            }
        }
        HEAD.setRelease(this, head + 1);
        return valid;
    }

    private static boolean release(PooledReceive r) {
        r.pool.release(r);
        return true;
    }

    /** The last entry that was taken. */
    static final class Cursor {
        long wrId;
        long word;
        long byteLength;
        int immediate;
        int source;
        long time;
    }
}
