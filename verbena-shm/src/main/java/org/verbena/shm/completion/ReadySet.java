// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.completion;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.PeerMapping;
import org.verbena.verbs.spi.KeepAlive;

/**
 * Which queue pairs of a completion queue may have completions, where polling each would take too long. They are identified by
 * their index, the low bits of their number.
 *
 * <p>Peers count the entries that they commit, for each of our queue pairs, in a table of 16-bit counts in the arena that they write:
 * a <em>view</em>. A count that differs from the one at which the queue pair was last found empty marks it. Completions of this
 * process itself, of sends and of flushes, set a bit. Marks are hints: a wrong one costs a poll. A missing
 * one would be noticed late, so a count is raised after the entry is committed, and read before the lane is polled.
 *
 * <p>One thread polls; any thread marks; peers change under the completion queue's lock.
 */
public final class ReadySet {
    /** With this number of queue pairs a completion queue has one. */
    public static final int THRESHOLD = 8;
    /** Indexes are below. */
    public static final int SIZE = AdapterLayout.MAX_QP;

    private static final int COUNTS = 4;
    private static final int COUNT_BITS = 16;
    private static final long COUNT_MASK = (1L << COUNT_BITS) - 1;
    /** More than can be committed between two polls. */
    private static final long FAR = 1L << COUNT_BITS - 1;
    private static final VarHandle BITS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle WORDS;

    static {
        try {
            WORDS = MethodHandles.lookup().findVarHandle(ReadySet.class, "localWords", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * A peer's counts.
     *
     * @param address of the counts, as long as the owner is reachable
     * @param indexes of our queue pairs that are connected to this peer
     */
    public record Counts(Object owner, long address, List<Integer> indexes) {
        /** Those of a peer, for queue pairs of ours. */
        public static Counts of(PeerMapping peer, List<Integer> indexes) {
            return new Counts(peer, peer.arenaBase() + LaneLayout.HINTS, indexes);
        }
    }

    private static final class View {
        final Object owner;
        final long address;
        /** The words in which our queue pairs have counts, and all ones for each of these counts. */
        final int[] words;
        final long[] masks;
        /** The counts at which our queue pairs were last found empty, by word of the peer's memory. */
        final long[] seen;
        /** Where the search starts: number of the word times {@value #COUNTS} plus number of the count. */
        int turn;
        /** The word that the last mark was found in, and where that was. */
        long observed;
        int foundAt;

        View(Counts c, long[] seen) {
            this.owner = c.owner;
            this.address = c.address;
            this.seen = seen;
            long[] all = new long[SIZE / COUNTS];
            for (int i : c.indexes) {
                all[i / COUNTS] |= COUNT_MASK << shift(i);
            }
            words = IntStream.range(0, all.length).filter(w -> all[w] != 0).toArray();
            masks = Arrays.stream(words).mapToLong(w -> all[w]).toArray();
        }
    }

    /** A bit for each queue pair for which this process has completed something. */
    private final long[] local = new long[SIZE / Long.SIZE];
    /** A bit for each word of these that may have one. */
    @SuppressWarnings("unused") // WORDS
    private long localWords;
    private volatile View[] views = {};

    /** Where the search starts, so that a busy queue pair does not starve the others. */
    private int turn;
    private int viewTurn;
    private boolean localFirst;
    /** The view of the last result; null if this process had marked it. */
    private @Nullable View from;

    private static int shift(int index) {
        return index % COUNTS * COUNT_BITS;
    }

    /** Replaces the counts that are read. */
    public void watch(List<Counts> peers) {
        View[] old = views;
        views = peers.stream().map(c -> new View(c, Arrays.stream(old).filter(v -> v.owner == c.owner
                && v.address == c.address).findFirst().map(v -> v.seen).orElseGet(() -> new long[SIZE / COUNTS])))
                .toArray(View[]::new);
    }

    /** This process has completed a request; any thread. */
    public void mark(int index) {
        int w = index / Long.SIZE;
        BITS.getAndBitwiseOr(local, w, 1L << index);
        if (((long) WORDS.getVolatile(this) & 1L << w) == 0) {
            WORDS.getAndBitwiseOr(this, 1L << w);
        }
    }

    /** A peer has committed an entry; any one thread of the peer for one queue pair. */
    public static void raise(long hint) {
        VarHandle.releaseFence();
        RawMemory.putShort(hint, (short) (RawMemory.getShort(hint) + 1));
    }

    /** The index of a queue pair that may have completions, or -1. {@link #found} follows. */
    public int next() {
        localFirst = !localFirst;
        int i = localFirst ? nextLocal() : nextCounted();
        return i >= 0 ? i : localFirst ? nextCounted() : nextLocal();
    }

    /** Whether queue pair {@code index}, the last result of {@link #next}, had a completion. */
    public void found(int index, boolean something) {
        View v = from;
        if (v == null) {
            if (something) {
                turn = index + 1;
                mark(index); // perhaps there is more
            }
            return;
        }
        int w = index / COUNTS;
        long one = COUNT_MASK << shift(index);
        // until it is found empty it stays marked, however far the count goes
        long now = something ? v.observed ^ FAR << shift(index) : v.observed;
        v.seen[w] = v.seen[w] & ~one | now & one;
        if (something) {
            v.turn = v.foundAt + 1;
        }
    }

    private int nextLocal() {
        from = null;
        if ((long) WORDS.getOpaque(this) == 0) {
            return -1;
        }
        int i = nextBit(turn, SIZE);
        if (i < 0) {
            i = nextBit(0, turn);
        }
        if (i >= 0) {
            // before it is polled: a later completion marks it again
            BITS.getAndBitwiseAnd(local, i / Long.SIZE, ~(1L << i));
        }
        return i;
    }

    private int nextBit(int first, int limit) {
        long words = (long) WORDS.getOpaque(this) & (first < SIZE ? -1L << first / Long.SIZE : 0);
        for (; words != 0; words &= words - 1) {
            int w = Long.numberOfTrailingZeros(words);
            long bits = (long) BITS.getOpaque(local, w);
            if (bits == 0) {
                forget(w);
            } else if (w == first / Long.SIZE) {
                bits &= -1L << first;
            }
            if (bits != 0) {
                int found = w * Long.SIZE + Long.numberOfTrailingZeros(bits);
                return found < limit ? found : -1;
            }
        }
        return -1;
    }

    /** A word of marks is empty; a thread that marks sets a bit in it first and then reads the bit of the word. */
    private void forget(int w) {
        WORDS.getAndBitwiseAnd(this, ~(1L << w));
        if ((long) BITS.getVolatile(local, w) != 0) {
            WORDS.getAndBitwiseOr(this, 1L << w);
        }
    }

    private int nextCounted() {
        View[] all = views;
        for (int n = all.length; n > 0; n--) {
            int at = viewTurn < all.length ? viewTurn : 0;
            viewTurn = at + 1;
            View v = all[at];
            from = v;
            int end = v.words.length * COUNTS;
            int i = nextCount(v, v.turn, end);
            if (i < 0) {
                i = nextCount(v, 0, Math.min(v.turn, end));
            }
            KeepAlive.until(v);
            if (i >= 0) {
                return i;
            }
        }
        return -1;
    }

    private int nextCount(View v, int first, int limit) {
        for (int i = first; i < limit; i = (i / COUNTS + 1) * COUNTS) {
            int at = i / COUNTS;
            int w = v.words[at];
            long now = RawMemory.getLongAcquire(v.address + 8L * w);
            long marks = (now ^ v.seen[w]) & v.masks[at] & -1L << shift(i);
            if (marks != 0) {
                int slot = Long.numberOfTrailingZeros(marks) / COUNT_BITS;
                v.observed = now;
                v.foundAt = at * COUNTS + slot;
                return v.foundAt < limit ? w * COUNTS + slot : -1;
            }
        }
        return -1;
    }
}
