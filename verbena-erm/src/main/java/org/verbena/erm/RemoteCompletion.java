// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import org.verbena.linux.spi.RawMemory;

/**
 * The remote completion of a copy, a message of 40 bytes in the machine's byte order, little-endian.
 *
 * <pre>
 * 0 id int, 4 kind int, 8 offset long, 16 length long, 24 user data long, 32 consumed int, 36 int 0
 * </pre>
 *
 * It is written and read by address, for the checks of a segment took 10 of the 90 ns of a copy with its event; and in
 * longs, since a processor waits for two ints that were stored apart before it reads them as one long. Callers are
 * inside the {@link QuiescenceGuard} of their queue, which keeps the memory alive, and check the bounds. The other end
 * may write to it while it is read: each field is read once.
 */
final class RemoteCompletion {
    static final int BYTES = 40;

    /** Bytes were written to the region. */
    static final int WRITTEN = 1;
    /** Bytes were read from it. */
    static final int READ = 2;

    private static final long INT = 0xffff_ffffL;

    private RemoteCompletion() {}

    /** Writes a remote completion at an address that is a multiple of 8. */
    static void put(long at, int id, int kind, long offset, long length, long userData, int consumed) {
        RawMemory.putLong(at, 0, id & INT | (long) kind << 32);
        RawMemory.putLong(at, 8, offset);
        RawMemory.putLong(at, 16, length);
        RawMemory.putLong(at, 24, userData);
        RawMemory.putLong(at, 32, consumed & INT);
    }

    /** The word that contains {@link #id} and {@link #kind}. */
    static long head(long at) {
        return RawMemory.getLong(at, 0);
    }

    static int id(long head) {
        return (int) head;
    }

    static int kind(long head) {
        return (int) (head >>> 32);
    }

    static long offset(long at) {
        return RawMemory.getLong(at, 8);
    }

    static long length(long at) {
        return RawMemory.getLong(at, 16);
    }

    static long userData(long at) {
        return RawMemory.getLong(at, 24);
    }

    static int consumed(long at) {
        return (int) RawMemory.getLong(at, 32);
    }
}
