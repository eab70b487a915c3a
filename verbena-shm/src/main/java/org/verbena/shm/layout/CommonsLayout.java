// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

/**
 * Layout of the commons, the one memory file of a context that its peers may write as well: there they agree among
 * themselves which of them takes which receive of a pool, see {@link Claim}. So its owner trusts no word of it. Little-endian;
 * offsets in bytes.
 *
 * <pre>
 * 0         header: magic, version, size, instance
 * 1 Mi      pools: 128 bytes for each
 * 2 Mi      heap: inboxes, in pages
 *
 * pool                 line
 *   0  next            0   the position that will be claimed next
 *  64  starving        1   1: an initiator may wait for a receive; a post then wakes those that do
 *  72  notified        1   the owner's arm word that was signalled last for an entry of the inbox
 *  80  lost            1   1: a claim was lost, and the receive is to be posted again
 *  88  limit           1   the sequence of the owner's limit that a claim was the first to go below
 * </pre>
 */
public final class CommonsLayout {
    public static final long MAGIC = 0x314d_4f43_5342_4556L; // "VEBSCOM1"
    public static final long SIZE = 1L << 30;

    public static final long HEADER_MAGIC = 0;
    public static final long HEADER_VERSION = 8;
    public static final long HEADER_SIZE = 16;
    public static final long HEADER_INSTANCE = 24;

    public static final int MAX_POOLS = 8192;
    static final long POOLS = 1L << 20;
    public static final int POOL_STRIDE_SHIFT = 7;
    public static final long NEXT = 0;
    public static final long STARVING = 64;
    public static final long NOTIFIED = 72;
    public static final long LOST = 80;
    public static final long LIMIT = 88;

    public static final long HEAP = 2L << 20;

    private CommonsLayout() {}

    /** Offset of a pool's two lines. */
    public static long pool(int index) {
        return POOLS + ((long) index << POOL_STRIDE_SHIFT);
    }
}
