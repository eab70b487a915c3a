// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

/**
 * Layout of a datagram ring, from one queue pair of type UD to one other. It lies in the lane arena of the sending
 * side; the sender alone writes it. Little-endian; offsets in bytes.
 *
 * <pre>
 * ring
 *    0   notified: the arm word of the reader's completion queue that was signalled last
 * 4096   records, a power of two of bytes; positions never wrap
 *
 * record, a multiple of 64 bytes, in one piece
 *    0   commit: position + 1; with the top bit, the rest of the ring is skipped
 *    8   int length of the message, 12 int immediate
 *   16   limit: receives that the reader had posted when the record was made; with the top bit, how many records of this ring
 *        may get one up to this record, by the receives that were free then
 *   24   int Q_Key, 28 int flags of {@link LaneLayout}
 *   32   int number of the sending queue pair
 *   40   time stamp, ns
 *   64   global routing header, 40 bytes
 *  104   message
 * </pre>
 *
 * The commit is stored last, with release, and read first, with acquire. Before a record is committed, the commit of the
 * one that will follow is cleared, for it may lie on an old message.
 */
public final class DatagramLayout {
    /** The longest message: the port's MTU. */
    public static final int MAX_MESSAGE = ShmLimits.MTU;

    /** In the reader's counter, after the read position: records of the ring that got a receive. */
    public static final long COUNTER_TAKEN = 8;
    public static final long COUNTER_BYTES = 16;

    public static final long NOTIFIED = 0;
    public static final long RECORDS = 4096;

    public static final long COMMIT = 0;
    public static final long LENGTH = 8;
    public static final long IMMEDIATE = 12;
    public static final long POSTED = 16;
    public static final long QKEY = 24;
    public static final long FLAGS = 28;
    public static final long SOURCE = 32;
    public static final long TIMESTAMP = 40;
    public static final long GRH = 64;
    public static final int GRH_BYTES = 40;
    public static final long MESSAGE = GRH + GRH_BYTES;

    public static final long OF_RING = Long.MIN_VALUE;
    public static final long SKIP = Long.MIN_VALUE;
    public static final int UNIT = 64;

    public static final long MIN_BYTES = 64 << 10;
    public static final long MAX_BYTES = 16 << 20;
    /** The most if the reader's receives are those of a shared receive queue. */
    public static final long SHARED_BYTES = 1 << 20;

    private DatagramLayout() {}

    /** Bytes of a record. */
    public static long record(long message) {
        return MESSAGE + message + UNIT - 1 & -UNIT;
    }

    /** Bytes of the records of a ring for the reader's number of receives: room for as many of the longest, if possible. */
    public static long bytes(int receives) {
        long want = (receives + 1L) * record(MAX_MESSAGE);
        long power = Long.highestOneBit(want - 1) << 1;
        return Math.clamp(power, MIN_BYTES, MAX_BYTES);
    }
}
