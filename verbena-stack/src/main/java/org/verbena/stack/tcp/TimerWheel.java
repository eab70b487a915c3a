// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.io.IOException;
import java.util.Arrays;

/**
 * One timer for each of many numbers, in a hierarchical timing wheel (Varghese and Lauck, 1987): to set one costs the same however many there are. Ticks
 * are of about a millisecond; a timer never comes before its time, and at most a tick after it, if {@link #advance} is called then.
 */
final class TimerWheel {
    static final long NEVER = Long.MAX_VALUE;

    private static final int TICK = 20;
    private static final int BITS = 8;
    private static final int SLOTS = 1 << BITS;
    /** The last reaches 4.9 hours; what is later is looked at then, and set again. */
    private static final int LEVELS = 3;

    /** What is called when a timer's time has come. It may set timers. */
    interface Action {
        void due(int number, long now) throws IOException;
    }

    private final int[] heads = new int[LEVELS * SLOTS];
    private final long[] occupied = new long[LEVELS * SLOTS / Long.SIZE];
    private int[] next = new int[64];
    private int[] previous = new int[64];
    /** Where a timer is, or -1. */
    private int[] slots = new int[64];
    private long[] ticks = new long[64];
    private int size;
    /** All timers up to this tick were called. */
    private long done;
    /** What {@link #nextTick} has answered; it is asked with each look at the wire. */
    private long soonest;
    private boolean isSoonestKnown;

    TimerWheel(long now) {
        done = now >> TICK;
        Arrays.fill(heads, -1);
        Arrays.fill(slots, -1);
    }

    /** Sets the timer of a number, or moves it. */
    void set(int number, long time) {
        if (number >= slots.length) {
            int old = slots.length;
            int n = Math.max(old * 2, number + 1);
            next = Arrays.copyOf(next, n);
            previous = Arrays.copyOf(previous, n);
            ticks = Arrays.copyOf(ticks, n);
            slots = Arrays.copyOf(slots, n);
            Arrays.fill(slots, old, n, -1);
        }
        cancel(number);
        ticks[number] = Math.max((time >> TICK) + 1, done + 1);
        size++;
        place(number);
    }

    private void place(int number) {
        long ahead = Math.max(ticks[number] - done, 1);
        int level = 0;
        while (level < LEVELS - 1 && ahead >= 1L << BITS * (level + 1)) {
            level++;
        }
        long most = (1L << BITS * LEVELS) - 1;
        long tick = done + Math.min(ahead, most);
        link(number, level * SLOTS + (int) (tick >> BITS * level & SLOTS - 1));
    }

    void cancel(int number) {
        if (number < slots.length && slots[number] >= 0) {
            take(number);
            size--;
        }
    }

    private void take(int number) {
        int slot = slots[number];
        slots[number] = -1;
        isSoonestKnown = false;
        if (next[number] >= 0) {
            previous[next[number]] = previous[number];
        }
        if (previous[number] >= 0) {
            next[previous[number]] = next[number];
        } else {
            heads[slot] = next[number];
            if (next[number] < 0) {
                occupied[slot >> 6] &= ~(1L << slot);
            }
        }
    }

    /** Calls what is due. */
    void advance(long now, Action action) throws IOException {
        long until = now >> TICK;
        while (done < until) {
            long n = size == 0 ? until : Math.min(nextTick(), until);
            if (n > done + 1) {
                done = n - 1; // nothing is on the way
            }
            done++;
            isSoonestKnown = false;
            for (int level = 1; level < LEVELS && (done & (1L << BITS * level) - 1) == 0; level++) {
                cascade(level * SLOTS + (int) (done >> BITS * level & SLOTS - 1));
            }
            int slot = (int) (done & SLOTS - 1);
            while (heads[slot] >= 0) {
                int number = heads[slot];
                take(number);
                if (ticks[number] > done) { // further away than the wheel reaches
                    place(number);
                } else {
                    size--;
                    action.due(number, now);
                }
            }
        }
    }

    private void cascade(int slot) {
        while (heads[slot] >= 0) {
            int number = heads[slot];
            take(number);
            if (ticks[number] <= done) { // now: where this tick is about to look
                ticks[number] = done;
                link(number, (int) (done & SLOTS - 1));
            } else {
                place(number);
            }
        }
    }

    private void link(int number, int slot) {
        slots[number] = slot;
        previous[number] = -1;
        next[number] = heads[slot];
        if (heads[slot] >= 0) {
            previous[heads[slot]] = number;
        }
        heads[slot] = number;
        occupied[slot >> 6] |= 1L << slot;
        isSoonestKnown = false;
    }

    /** The next tick at which something is to be done, if only to look. */
    private long nextTick() {
        if (!isSoonestKnown) {
            soonest = findNextTick();
            isSoonestKnown = true;
        }
        return soonest;
    }

    private long findNextTick() {
        long best = Long.MAX_VALUE;
        for (int level = 0; level < LEVELS; level++) {
            int at = (int) (done >> BITS * level & SLOTS - 1);
            int ahead = nextOccupied(level, at);
            if (ahead > 0) {
                best = Math.min(best, (done >> BITS * level) + ahead << BITS * level);
            }
        }
        return best;
    }

    /** How many slots behind {@code at} the next is that has timers; 0 if none has. */
    private int nextOccupied(int level, int at) {
        for (int i = 1; i <= SLOTS;) {
            int slot = at + i & SLOTS - 1;
            long word = occupied[level * SLOTS + slot >> 6] >>> (slot & 63);
            if (word != 0) {
                return i + Long.numberOfTrailingZeros(word);
            }
            i += 64 - (slot & 63);
        }
        return 0;
    }

    /** When to call {@link #advance} next; {@link #NEVER} if no timer is set. */
    long next() {
        return size == 0 ? NEVER : nextTick() << TICK;
    }
}
