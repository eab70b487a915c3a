// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import org.verbena.linux.spi.RawMemory;

/**
 * The remote completion of a copy, a message as {@link CompletionLayout} draws it.
 *
 * <p>It is written and read by address, for the checks of a segment took 10 of the 90 ns of a copy with its event; and in
 * longs, since a processor waits for two ints that were stored apart before it reads them as one long. Callers are
 * inside the {@link QuiescenceGuard} of their queue, which keeps the memory alive, and check the bounds. The other end
 * may write to it while it is read: each field is read once.
 */
final class RemoteCompletion {
    /** Bytes were written to the region. */
    static final int WRITTEN = 1;
    /** Bytes were read from it. */
    static final int READ = 2;

    private static final long INT = 0xffff_ffffL;
    /** Of the kind in the word that begins with the id. */
    private static final int KIND_SHIFT = Byte.SIZE * (CompletionLayout.KIND - CompletionLayout.ID);

    private RemoteCompletion() {}

    /** Writes a remote completion at an address that is a multiple of 8. */
    static void put(long at, int id, int kind, long offset, long length, long userData, int consumed) {
        RawMemory.putLong(at, CompletionLayout.ID, id & INT | (long) kind << KIND_SHIFT);
        RawMemory.putLong(at, CompletionLayout.OFFSET, offset);
        RawMemory.putLong(at, CompletionLayout.LENGTH, length);
        RawMemory.putLong(at, CompletionLayout.USER_DATA, userData);
        RawMemory.putLong(at, CompletionLayout.CONSUMED, consumed & INT);
    }

    /** The word that contains {@link #id} and {@link #kind}. */
    static long head(long at) {
        return RawMemory.getLong(at, CompletionLayout.ID);
    }

    static int id(long head) {
        return (int) head;
    }

    static int kind(long head) {
        return (int) (head >>> KIND_SHIFT);
    }

    static long offset(long at) {
        return RawMemory.getLong(at, CompletionLayout.OFFSET);
    }

    static long length(long at) {
        return RawMemory.getLong(at, CompletionLayout.LENGTH);
    }

    static long userData(long at) {
        return RawMemory.getLong(at, CompletionLayout.USER_DATA);
    }

    static int consumed(long at) {
        return (int) RawMemory.getLong(at, CompletionLayout.CONSUMED);
    }
}
