// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.Arrays;

/**
 * Which packets of a connection are held, in the order of their bytes. They are freed in any order; the room of one is the peer's when all
 * before it are freed. A packet's number is how many there were before it, modulo 2^32. Not thread-safe; it allocates only to hold more than
 * it ever did.
 */
final class HeldPackets {
    /** Packets from the oldest one that is held to the newest, at most: each takes eight bytes. */
    static final int MOST = 1 << 16;
    private static final int FIRST = 16;

    /** Positions where they begin, by the lower bits of their numbers; all bits turned over if the packet is freed. */
    private long[] starts = new long[FIRST];
    /** Number of the oldest one that is held; of the next one if none is. */
    private int first;
    /** Packets from that one on, those among them that are freed included. */
    private int count;
    private int held;

    /** Whether one more can be added. */
    boolean hasRoom() {
        return count < MOST;
    }

    /** Before one is added: the memory for it. */
    void makeRoom() {
        if (count == starts.length) {
            grow();
        }
    }

    /** Adds one that begins at a position; returns its number. */
    int add(long start) {
        makeRoom();
        int number = first + count;
        starts[at(number)] = start;
        count++;
        held++;
        return number;
    }

    private int at(int number) {
        return number & starts.length - 1;
    }

    private void grow() {
        long[] larger = new long[2 * starts.length];
        for (int i = 0; i < count; i++) {
            larger[first + i & larger.length - 1] = starts[at(first + i)];
        }
        starts = larger;
    }

    /** Whether it is held. */
    boolean isHeld(int number) {
        return Integer.compareUnsigned(number - first, count) < 0 && starts[at(number)] >= 0;
    }

    /** Frees it; false if it is not held. */
    boolean free(int number) {
        if (!isHeld(number)) {
            return false;
        }
        starts[at(number)] = ~starts[at(number)];
        held--;
        while (count > 0 && starts[at(first)] < 0) {
            first++;
            count--;
        }
        return true;
    }

    /** Frees all. */
    void clear() {
        first += count;
        count = 0;
        held = 0;
        Arrays.fill(starts, 0);
    }

    /** Number of the oldest one that is held. */
    int first() {
        return first;
    }

    int held() {
        return held;
    }

    /**
     * Up to where all bytes may be the peer's again.
     *
     * @param position of the next byte that the program has not got
     */
    long released(long position) {
        return count == 0 ? position : starts[at(first)];
    }
}
