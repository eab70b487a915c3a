// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

/**
 * Layout of the part of a lane arena in which an initiator publishes counts of its accesses to memory of the peer: only it can count them,
 * for WRITE, READ and atomics bypass the peer. Offsets in bytes, from the beginning of the arena.
 *
 * <pre>
 *   40    in the arena's header: slots that were used so far
 *   48    changes of the tables, odd during a change
 *   64    pages of the two tables that there are, a bit each
 *  1 Mi   slots, {@value #MAX_SLOTS} of 128 bytes: one for each way from a queue pair to memory of the peer
 *    0    int number of the queue pair, 0: unused; 4 int number of the peer's, 0: the way ends at none
 *    8    WRITEs, 16 their bytes, 24 READs, 32 their bytes, 40 atomics, 48 waits for a receive
 *   56    int key of the latest
 *   64    WRITEs and so on, as far as they are in the tables already
 *  2 Mi   by the peer's queue pair, {@value AdapterLayout#MAX_QP} of 64 bytes: the numbers of slots that are not used any more
 *    0    the number, bit 32 set
 *    8    as in a slot
 *  4 Mi   by the peer's key, {@value AdapterLayout#MAX_KEYS} of 64 bytes: all but what the slots have for their latest key
 *    0    the key, bit 32 set
 *    8    as in a slot, but 48: requests that were refused
 * </pre>
 */
public final class CountsLayout {
    public static final long USED = 40;
    public static final long CHANGES = 48;
    public static final long PAGES = 64;
    static final int PAGE_SHIFT = 12;

    public static final long SLOTS = 1L << 20;
    public static final int MAX_SLOTS = 4096;
    public static final int SLOT_SHIFT = 7;
    public static final long SLOT_QP = 0;
    public static final long SLOT_PEER_QP = 4;
    public static final long SLOT_KEY = 56;
    /** From a number to the same as far as it is in the tables. */
    public static final long DONE = 56;

    static final long QUEUE_PAIRS = 2L << 20;
    static final long KEYS = 4L << 20;
    public static final int ENTRY_SHIFT = 6;
    public static final long ENTRY_TAG = 0;
    static final long END = 8L << 20;

    public static final long WRITES = 8;
    public static final long WRITE_BYTES = 16;
    public static final long READS = 24;
    public static final long READ_BYTES = 32;
    public static final long ATOMICS = 40;
    /** In a slot or entry of a queue pair: waits for a receive; in a key's: refused requests. */
    public static final long OTHERS = 48;
    public static final int NUMBERS = 6;

    private static final long IS_USED = 1L << 32;
    /** Pages of the first table. */
    private static final int QUEUE_PAIR_PAGES = AdapterLayout.MAX_QP << ENTRY_SHIFT >> PAGE_SHIFT;

    private CountsLayout() {}

    /** Where number {@code i} of a slot or entry lies. */
    public static long number(int i) {
        return WRITES + 8L * i;
    }

    public static long slot(int index) {
        return SLOTS + ((long) index << SLOT_SHIFT);
    }

    public static long queuePair(int number) {
        return QUEUE_PAIRS + ((long) AdapterLayout.qpIndex(number) << ENTRY_SHIFT);
    }

    public static long key(int rkey) {
        return KEYS + ((long) (rkey >>> 8 & AdapterLayout.MAX_KEYS - 1) << ENTRY_SHIFT);
    }

    public static long tag(int what) {
        return IS_USED | Integer.toUnsignedLong(what);
    }

    /** The bit of {@link #PAGES} for the page with an entry. */
    public static int page(long entry) {
        return entry < KEYS
                ? (int) (entry - QUEUE_PAIRS >>> PAGE_SHIFT)
                : QUEUE_PAIR_PAGES + (int) (entry - KEYS >>> PAGE_SHIFT);
    }
}
