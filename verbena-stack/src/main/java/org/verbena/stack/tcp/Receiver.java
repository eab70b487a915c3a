// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.wire.ReceivedFrame;

/** What a connection has received: bytes in order up to {@link #next}, of which a reader has had some, and ranges behind gaps (RFC 2018). */
final class Receiver {
    /** So many ranges behind gaps are kept; more are dropped, and come again. */
    static final int MOST_RANGES = 256;

    /** The window field has 16 bits. */
    private static final int MOST_FIELD = 0xffff;
    private static final int FIRST_RANGES = 4;
    private static final int[] NONE = {};
    private static final long[] NO_STAMPS = {};

    final ByteRing ring;
    /** Bytes that may wait for the reader. */
    int limit;
    /** RCV.NXT. */
    int next;
    /** The first that no reader had yet. */
    int read;
    /** Behind the last that the peer may send: RCV.NXT + RCV.WND, as it was told. */
    int edge;
    int scale;
    /** FIN was taken; its number is the one before {@link #next}. */
    boolean finished;
    /** FIN came behind a gap, and this is its number. */
    boolean finAhead;
    int fin;
    /** Bytes that came twice, to be told once (RFC 2883). */
    boolean repeated;
    int repeatedLeft;
    int repeatedRight;

    private int[] lefts = NONE;
    private int[] rights = NONE;
    /** The higher, the later something came. */
    private long[] stamps = NO_STAMPS;
    private int ranges;
    private long stamp;

    Receiver(Blocks blocks, int limit) {
        ring = new ByteRing(blocks);
        this.limit = limit;
    }

    /** The peer's first number is known. */
    void begin(int initial) {
        next = initial + 1;
        read = next;
        edge = next + firstWindow();
    }

    /** The window that SYN tells. */
    int firstWindow() {
        return Math.min(limit, MOST_FIELD);
    }

    /** Bytes for the reader. */
    int readable() {
        return next - read - (finished ? 1 : 0);
    }

    boolean hasGaps() {
        return ranges > 0;
    }

    int ranges() {
        return ranges;
    }

    int window() {
        return Math.max(edge - next, 0); // FIN may have been taken at the edge
    }

    /** Whether nothing is held but the place in the stream. */
    boolean isEmpty() {
        return readable() == 0 && ranges == 0;
    }

    /**
     * Takes the bytes of a segment that are within the window.
     *
     * @param parts null if they are in {@code m} at a place, else the frame in which that is the place
     * @return how many are now in order; -1 if there is no room for them, so that they are as never received
     */
    int take(int sequence, MemorySegment m, @Nullable ReceivedFrame parts, long at, int length) {
        int end = sequence + length;
        note(sequence, end);
        int from = Sequence.max(sequence, next);
        if (!Sequence.isBefore(from, end)) {
            return 0;
        }
        boolean inOrder = from == next;
        if (!inOrder && (ranges == MOST_RANGES && !touches(from, end) || end - read > ring.capacity() && ring
                .isScarce())) {
            return -1;
        }
        int top = ranges == 0 ? next : Sequence.max(next, rights[ranges - 1]);
        if (!ring.reserve(read, top - read, end - read)) {
            return -1;
        }
        long place = at + (from - sequence);
        if (parts == null) {
            ring.put(from, m, place, end - from);
        } else {
            ring.put(from, parts, (int) place, end - from);
        }
        if (inOrder) {
            int before = next;
            next = end;
            absorb();
            return next - before;
        }
        insert(from, end);
        return 0;
    }

    /** Notes which bytes of a segment were there already, the first of them without a gap (RFC 2883, 4). */
    private void note(int from, int end) {
        if (Sequence.isBefore(from, next)) {
            repeat(from, Sequence.min(end, next));
            return;
        }
        for (int i = 0; i < ranges; i++) {
            int l = Sequence.max(lefts[i], from);
            int r = Sequence.min(rights[i], end);
            if (Sequence.isBefore(l, r)) {
                repeat(l, r);
                return;
            }
        }
    }

    void repeat(int from, int behind) {
        repeated = true;
        repeatedLeft = from;
        repeatedRight = behind;
    }

    private boolean touches(int from, int end) {
        for (int i = 0; i < ranges; i++) {
            if (!Sequence.isAfter(lefts[i], end) && !Sequence.isBefore(rights[i], from)) {
                return true;
            }
        }
        return false;
    }

    /** Ranges that are in order now. */
    private void absorb() {
        int n = 0;
        while (n < ranges && !Sequence.isAfter(lefts[n], next)) {
            next = Sequence.max(next, rights[n++]);
        }
        remove(0, n);
    }

    private void remove(int first, int n) {
        if (n > 0) {
            int rest = ranges - first - n;
            System.arraycopy(lefts, first + n, lefts, first, rest);
            System.arraycopy(rights, first + n, rights, first, rest);
            System.arraycopy(stamps, first + n, stamps, first, rest);
            ranges -= n;
        }
    }

    private void insert(int from, int end) {
        int i = 0;
        while (i < ranges && Sequence.isBefore(rights[i], from)) {
            i++;
        }
        int j = i;
        int left = from;
        int right = end;
        while (j < ranges && !Sequence.isAfter(lefts[j], end)) {
            left = Sequence.min(left, lefts[j]);
            right = Sequence.max(right, rights[j++]);
        }
        if (j == i) {
            if (ranges == lefts.length) {
                int n = Math.max(FIRST_RANGES, ranges * 2);
                lefts = Arrays.copyOf(lefts, n);
                rights = Arrays.copyOf(rights, n);
                stamps = Arrays.copyOf(stamps, n);
            }
            System.arraycopy(lefts, i, lefts, i + 1, ranges - i);
            System.arraycopy(rights, i, rights, i + 1, ranges - i);
            System.arraycopy(stamps, i, stamps, i + 1, ranges - i);
            ranges++;
        } else {
            remove(i + 1, j - i - 1);
        }
        lefts[i] = left;
        rights[i] = right;
        stamps[i] = ++stamp;
    }

    /** FIN has come at a number; true if all before it is there, and it is taken. */
    boolean finish(int sequence) {
        if (sequence == next) {
            next++;
            ranges = 0; // nothing is behind it
            finished = true;
            finAhead = false;
            return true;
        }
        finAhead = true;
        fin = sequence;
        return false;
    }

    /** The range whose last part came last before that of another one; -1 if there is none. */
    int latestRange(int before) {
        int best = -1;
        long below = before < 0 ? Long.MAX_VALUE : stamps[before];
        for (int i = 0; i < ranges; i++) {
            if (stamps[i] < below && (best < 0 || stamps[i] > stamps[best])) {
                best = i;
            }
        }
        return best;
    }

    int left(int range) {
        return lefts[range];
    }

    int right(int range) {
        return rights[range];
    }

    /**
     * The window to tell, before scaling, which is from then on what the peer may send. It never takes back what was told (RFC 9293, 3.8.6), and does not
     * grow by little (3.8.6.2.2).
     *
     * @param shift the scale, 0 in segments with SYN
     */
    int tell(int segment, int shift) {
        int told = window();
        int free = Math.max(limit - readable(), 0);
        int field = told + (1 << shift) - 1 >>> shift;
        if (free - told >= Math.min(limit / 2, segment)) {
            field = Math.max(field, free >>> shift);
        }
        if (next + (field << shift) - (read + limit) > 1 << shift) {
            field = told >>> shift; // to round up each time would go beyond the limit
        }
        field = Math.min(field, MOST_FIELD);
        edge = Sequence.max(edge, next + (field << shift));
        return field;
    }

    /** Whether so much more can be told that the peer should know at once. */
    boolean wantsUpdate(int segment) {
        int free = Math.clamp(limit - readable(), 0, MOST_FIELD << scale);
        int more = free - window();
        return more >= 2 * segment && (more >= limit / 8 || window() <= limit / 8 || limit <= 8 * segment)
                || more >= limit / 2;
    }

    /** Copies what fits, and takes it unless it is only to be looked at; answers how much. */
    int read(ByteBuffer to, boolean peek) {
        int n = Math.min(readable(), to.remaining());
        if (n > 0) {
            ring.get(read, to, n);
            to.position(to.position() + n);
            read += peek ? 0 : n;
        }
        return n;
    }

    /** Gives the memory back, which nothing is in. */
    void shrink() {
        ring.clear();
        lefts = NONE;
        rights = NONE;
        stamps = NO_STAMPS;
    }

    /** Drops all. */
    void clear() {
        read = next - (finished ? 1 : 0);
        ranges = 0;
        shrink();
    }
}
