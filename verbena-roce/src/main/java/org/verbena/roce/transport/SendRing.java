// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

/**
 * A send queue's entries. The poster fills entries from {@link #free(int)} on, then {@link TransportQueuePair#post} makes
 * them the transport's. All under the context's lock, but for filling.
 */
public final class SendRing {
    private final SendWqe[] entries;
    private final int mask;
    private final int capacity;
    /** The oldest that is not complete. */
    long head;
    /** Behind the newest. */
    long tail;

    /**
     * Makes a ring.
     *
     * @param capacity entries, at least 1
     * @param maxSge elements an entry
     * @param inline native memory for inline data, {@code slots(capacity) * inlineStride} bytes that live as long as the
     *        ring; 0 if there is none
     * @param inlineStride bytes an entry, 0 if there is none
     */
    public SendRing(int capacity, int maxSge, long inline, int inlineStride) {
        this.capacity = capacity;
        entries = new SendWqe[slots(capacity)];
        mask = entries.length - 1;
        for (int i = 0; i < entries.length; i++) {
            entries[i] = new SendWqe(maxSge, inline + (long) i * inlineStride);
        }
    }

    /** How many objects a ring of this capacity has: the next power of two. */
    public static int slots(int capacity) {
        return Integer.highestOneBit(Math.max(1, capacity * 2 - 1));
    }

    /** Entries that may be filled and posted now. */
    public int room() {
        return capacity - (int) (tail - head);
    }

    /** The n-th entry behind those posted, from 0, below {@link #room()}. */
    public SendWqe free(int n) {
        return entries[(int) (tail + n) & mask];
    }

    /** How many have been posted since the ring was made. */
    public long posted() {
        return tail;
    }

    /** How many were posted before the one that completes now, or is the oldest. */
    public long completed() {
        return head;
    }

    SendWqe at(long index) {
        return entries[(int) index & mask];
    }

    boolean isEmpty() {
        return head == tail;
    }
}
