package org.verbena.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;

/**
 * Which queue pairs of a completion queue have something, where looking at each would take too long. Members are known
 * by their index, the low bits of their number.
 *
 * <p>Peers count, for each of our queue pairs, what they commit, in a table of 16-bit counts in the arena that they write:
 * a <em>view</em>. A count that differs from the one at which the queue pair was last found empty marks it. What this
 * process completes itself, sends and what is flushed, marks a bit. Marks are hints: a wrong one costs a look. One that is missing would be noticed
 * late, so a count is raised after the entry is committed, and read before the lane is looked at.
 *
 * <p>One thread asks; any thread marks.
 */
final class ReadySet {
    /** From here on a completion queue has one. */
    static final int WORTHWHILE = 8;

    private static final int SIZE = AdapterLayout.MAX_QP;
    private static final int COUNTS = 4;
    private static final int COUNT_BITS = 16;
    private static final VarHandle BITS = MethodHandles.arrayElementVarHandle(long[].class);

    /**
     * A peer's counts.
     *
     * @param address where they are, as long as the owner is reachable
     */
    record Counts(Object owner, long address) {}

    private static final class View {
        final Counts counts;
        /** The counts at which our queue pairs were last found empty, packed as in the peer's memory. */
        final long[] seen = new long[SIZE / COUNTS];
        /** The word that the last mark was found in. */
        long observed;

        View(Counts counts) {
            this.counts = counts;
        }
    }

    private final @Nullable ShmQueuePair[] queuePairs = new ShmQueuePair[SIZE];
    private final long[] local = new long[SIZE / Long.SIZE];
    /** All ones for the members' counts: others' queue pairs have theirs in the same words. */
    private final long[] members = new long[SIZE / COUNTS];
    private volatile View[] views = {};
    /** One more than the highest member's index. */
    private volatile int end;

    /** Where to look first, so that a busy queue pair does not hide the others. */
    private int turn;
    private int viewTurn;
    private boolean localFirst;
    /** The view that the last answer came from; null if it was marked by this process. */
    private @Nullable View from;

    static int index(int number) {
        return number & SIZE - 1;
    }

    synchronized void add(int index, @Nullable ShmQueuePair qp) {
        queuePairs[index] = qp;
        members[index / COUNTS] |= count(index);
        end = Math.max(end, index + 1);
        mark(index);
    }

    synchronized void remove(int index) {
        queuePairs[index] = null;
        members[index / COUNTS] &= ~count(index);
    }

    /** The member of that index; null if there is none. */
    @Nullable
    ShmQueuePair queuePair(int index) {
        return queuePairs[index];
    }

    private static long count(int index) {
        return (1L << COUNT_BITS) - 1 << index % COUNTS * COUNT_BITS;
    }

    /** These are the peers' counts that matter from now on. */
    synchronized void watch(List<Counts> peers) {
        View[] old = views;
        views = peers.stream()
                .map(c -> Arrays.stream(old).filter(v -> v.counts.equals(c)).findFirst().orElseGet(() -> new View(c)))
                .toArray(View[]::new);
    }

    /** How many peers' counts are watched. */
    int peers() {
        return views.length;
    }

    /** This process has completed something; any thread. */
    void mark(int index) {
        BITS.getAndBitwiseOr(local, index / Long.SIZE, 1L << index);
    }

    /** A peer has committed an entry; any one thread of the peer for one queue pair. */
    static void raise(long hint) {
        VarHandle.releaseFence();
        RawMemory.putShort(hint, (short) (RawMemory.getShort(hint) + 1));
    }

    /** The index of a queue pair that may have something, or -1. What was found is to be told by {@link #found}. */
    int next() {
        localFirst = !localFirst;
        int i = localFirst ? nextLocal() : nextCounted();
        return i >= 0 ? i : localFirst ? nextCounted() : nextLocal();
    }

    /** Whether queue pair {@code index}, the last that {@link #next} answered, had something. */
    void found(int index, boolean something) {
        View v = from;
        if (something) {
            turn = index + 1;
            if (v == null) {
                mark(index); // perhaps there is more
            }
        } else if (v != null) {
            int w = index / COUNTS;
            v.seen[w] = v.seen[w] & ~count(index) | v.observed & count(index);
        }
    }

    private int nextLocal() {
        from = null;
        int i = nextBit(turn, end);
        if (i < 0) {
            i = nextBit(0, turn);
        }
        if (i >= 0) {
            // before it is looked at: what comes after the look marks it again
            BITS.getAndBitwiseAnd(local, i / Long.SIZE, ~(1L << i));
        }
        return i;
    }

    private int nextBit(int first, int limit) {
        for (int i = first; i < limit; i = (i / Long.SIZE + 1) * Long.SIZE) {
            long bits = (long) BITS.getOpaque(local, i / Long.SIZE) & -1L << i;
            if (bits != 0) {
                int found = i / Long.SIZE * Long.SIZE + Long.numberOfTrailingZeros(bits);
                return found < limit ? found : -1;
            }
        }
        return -1;
    }

    private int nextCounted() {
        View[] all = views;
        for (int n = all.length; n > 0; n--) {
            int at = viewTurn < all.length ? viewTurn : 0;
            viewTurn = at + 1;
            View v = all[at];
            from = v;
            int i = nextCount(v, turn, end);
            if (i < 0) {
                i = nextCount(v, 0, turn);
            }
            KeepAlive.until(v);
            if (i >= 0) {
                return i;
            }
        }
        return -1;
    }

    private int nextCount(View v, int first, int limit) {
        long address = v.counts.address;
        for (int i = first; i < limit; i = (i / COUNTS + 1) * COUNTS) {
            int w = i / COUNTS;
            long now = RawMemory.getLongAcquire(address + 8L * w);
            long marks = (now ^ v.seen[w]) & members[w] & -1L << i % COUNTS * COUNT_BITS;
            if (marks != 0) {
                v.observed = now;
                int found = w * COUNTS + Long.numberOfTrailingZeros(marks) / COUNT_BITS;
                return found < limit ? found : -1;
            }
        }
        return -1;
    }
}
