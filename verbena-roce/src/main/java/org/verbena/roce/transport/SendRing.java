// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

/**
 * The entries of a send queue. The poster fills entries from {@link #free(int)} on, then
 * {@link TransportQueuePair#post} hands them to the transport. Used under the context's lock, except for filling.
 */
public final class SendRing {
    private final SendWqe[] entries;
    private final int mask;
    private final int capacity;
    /** The oldest entry that is not complete. */
    long head;
    /** One past the newest. */
    long tail;

    /**
     * Makes a ring.
     *
     * @param capacity entries, at least 1
     * @param maxSge elements an entry
     * @param inline native memory for inline data, {@code slots(capacity) * inlineStride} bytes that live as long as
     *        the ring; 0 for none
     * @param inlineStride bytes an entry, 0 for none
     */
    public SendRing(int capacity, int maxSge, long inline, int inlineStride) {
        this.capacity = capacity;
        entries = new SendWqe[slots(capacity)];
        mask = entries.length - 1;
        for (int i = 0; i < entries.length; i++) {
            entries[i] = new SendWqe(maxSge, inline + (long) i * inlineStride);
        }
    }

    /** Number of objects of a ring of this capacity: the next power of two. */
    public static int slots(int capacity) {
        return Integer.highestOneBit(Math.max(1, capacity * 2 - 1));
    }

    /** Entries that may be filled and posted now. */
    public int room() {
        return capacity - (int) (tail - head);
    }

    /** The n-th entry after the posted ones, from 0, below {@link #room()}. */
    public SendWqe free(int n) {
        return entries[(int) (tail + n) & mask];
    }

    /** Requests posted since the ring was made. */
    public long posted() {
        return tail;
    }

    /** Requests posted before the one that completes now, or is the oldest. */
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
