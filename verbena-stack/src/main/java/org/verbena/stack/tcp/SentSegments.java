// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.util.Arrays;

/**
 * What was sent and is not acknowledged yet, as ranges of sequence numbers without gaps, each with when it was sent last and what is known of it. A range is
 * what went to the wire in one go, or a part of that after a peer has acknowledged the other one.
 */
final class SentSegments {
    /** Selectively acknowledged. */
    static final int SACKED = 1;
    /** Taken for lost. */
    static final int LOST = 2;
    /** Sent more than once. */
    static final int RETRANSMITTED = 4;
    /** Is thought to be in the network: neither lost nor acknowledged, or sent again since it was lost. */
    static final int IN_FLIGHT = 8;

    /** So many ranges are told apart however short. */
    private static final int MOST_SPLIT = 256;
    private static final int FIRST_SIZE = 4;

    private int[] starts = new int[FIRST_SIZE];
    private long[] times = new long[FIRST_SIZE];
    private byte[] flags = new byte[FIRST_SIZE];
    private int head;
    private int size;
    private int end;
    private int inFlight;
    private int sackedBytes;
    private int lostBytes;

    int size() {
        return size;
    }

    private int place(int i) {
        return head + i & starts.length - 1;
    }

    int start(int i) {
        return starts[place(i)];
    }

    int end(int i) {
        return i + 1 < size ? starts[place(i + 1)] : end;
    }

    int length(int i) {
        return end(i) - start(i);
    }

    long time(int i) {
        return times[place(i)];
    }

    boolean is(int i, int flag) {
        return (flags[place(i)] & flag) != 0;
    }

    /** Sequence numbers that are thought to be in the network. */
    int inFlight() {
        return inFlight;
    }

    int sackedBytes() {
        return sackedBytes;
    }

    /** Of those that are taken for lost, whether they were sent again or not. */
    int lostBytes() {
        return lostBytes;
    }

    /** Adds a range behind all others. */
    void add(int start, int behind, long now) {
        if (size == starts.length) {
            grow();
        }
        int p = place(size++);
        starts[p] = start;
        times[p] = now;
        flags[p] = IN_FLIGHT;
        end = behind;
        inFlight += behind - start;
    }

    private void grow() {
        int n = starts.length;
        int[] s = new int[n * 2];
        long[] t = new long[n * 2];
        byte[] f = new byte[n * 2];
        for (int i = 0; i < size; i++) {
            int p = place(i);
            s[i] = starts[p];
            t[i] = times[p];
            f[i] = flags[p];
        }
        starts = s;
        times = t;
        flags = f;
        head = 0;
    }

    private void count(int i, int sign) {
        int n = sign * length(i);
        inFlight += is(i, IN_FLIGHT) ? n : 0;
        sackedBytes += is(i, SACKED) ? n : 0;
        lostBytes += is(i, LOST) ? n : 0;
    }

    void set(int i, int flag) {
        count(i, -1);
        flags[place(i)] |= (byte) flag;
        count(i, 1);
    }

    void clear(int i, int flag) {
        count(i, -1);
        flags[place(i)] &= (byte) ~flag;
        count(i, 1);
    }

    void setTime(int i, long now) {
        times[place(i)] = now;
    }

    /** Removes the first, which was acknowledged. */
    void removeFirst() {
        count(0, -1);
        head = head + 1 & starts.length - 1;
        size--;
    }

    /** The beginning of the first was acknowledged, up to a number inside it. */
    void shortenFirst(int start) {
        count(0, -1);
        starts[head] = start;
        count(0, 1);
    }

    /** The range that has a number, which one of them has. */
    int find(int sequence) {
        int low = 0;
        int high = size - 1;
        while (low < high) {
            int middle = low + high + 1 >>> 1;
            if (start(middle) - sequence <= 0) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    /**
     * Makes two of a range, unless the number is not inside it, or a peer makes too many that are shorter than segments are;
     * answers whether it did.
     */
    boolean split(int i, int sequence, int segment) {
        int shorter = Math.min(sequence - start(i), end(i) - sequence);
        if (shorter <= 0 || size > MOST_SPLIT && shorter < segment) {
            return false;
        }
        split(i, sequence);
        return true;
    }

    /** Makes two of a range, the second beginning at a number inside. */
    void split(int i, int sequence) {
        if (size == starts.length) {
            grow();
        }
        for (int j = size; j > i + 1; j--) {
            int to = place(j);
            int from = place(j - 1);
            starts[to] = starts[from];
            times[to] = times[from];
            flags[to] = flags[from];
        }
        size++;
        int p = place(i);
        int q = place(i + 1);
        starts[q] = sequence;
        times[q] = times[p];
        flags[q] = flags[p];
    }

    /** Forgets all, and the memory of many. */
    void clear() {
        size = 0;
        inFlight = 0;
        sackedBytes = 0;
        lostBytes = 0;
        if (starts.length > FIRST_SIZE) {
            starts = Arrays.copyOf(starts, FIRST_SIZE);
            times = Arrays.copyOf(times, FIRST_SIZE);
            flags = Arrays.copyOf(flags, FIRST_SIZE);
        }
        head = 0;
    }
}
