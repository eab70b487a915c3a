// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.ring;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.LaneLayout;

/**
 * The inbox of a pool: where initiators commit entries if one completion queue reads all of them and there is
 * no lane for each initiator. It lies in the owner's commons and has an entry for each slot, of the form of
 * {@link LaneLayout}: only the initiator that has claimed a receive writes its entry. The sequence in the commit is the
 * position plus 1.
 */
public final class Inbox {
    /** Longer messages are copied into the receive before the commit. */
    static final int INLINE = LaneLayout.FIRST_LINE;

    private Inbox() {}

    /** Bytes of an inbox. */
    public static long bytes(int entries) {
        return (long) entries << LaneLayout.ENTRY_SHIFT;
    }

    /** Address of the entry of a claim whose slot has been checked. */
    public static long entry(long base, long claim) {
        return base + ((long) Claim.slot(claim) << LaneLayout.ENTRY_SHIFT);
    }

    /** True if the initiator that has claimed the receive has committed its entry. */
    public static boolean isCommitted(long entry, long claim) {
        return LaneLayout.isOf(LaneReader.commit(entry), Claim.position(claim))
                && LaneReader.claim(entry) == claim;
    }

    /** Stores source and destination; before the commit. */
    public static void address(long entry, long claim, long sourceInstance, int sourceQp, int destinationQp) {
        RawMemory.putLong(entry + LaneLayout.CLAIM, claim);
        RawMemory.putLong(entry + LaneLayout.SOURCE, sourceInstance);
        RawMemory.putLong(entry + LaneLayout.SOURCE_QP, sourceQp & 0xffffffffL | (long) destinationQp << 32);
    }

    /**
     * Commits an entry.
     *
     * @param flags of a lane's entry; with {@link LaneLayout#IS_INLINE} the payload is in the entry, of {@code length}
     *        bytes, at most {@value #INLINE}
     * @param timestamp whether the owner wants one
     */
    public static void commit(long entry, long claim, long length, int immediate, int opcode, int status, int flags,
            boolean timestamp) {
        boolean inline = (flags & LaneLayout.IS_INLINE) != 0;
        int f = flags;
        if (timestamp) {
            RawMemory.putLong(entry + LaneLayout.SECOND_LINE, System.nanoTime());
            f |= LaneLayout.HAS_TIMESTAMP;
        }
        RawMemory.putLong(entry + LaneLayout.LENGTH, length & 0xffffffffL | (long) immediate << 32);
        long c = LaneLayout.commit(Claim.position(claim), opcode, status, f);
        RawMemory.putLongRelease(entry + LaneLayout.COMMIT,
                inline ? c | length << LaneLayout.INLINE_LENGTH_SHIFT : c);
    }

    /** The lower half of the sender's GID. */
    public static long source(long entry) {
        return RawMemory.getLong(entry + LaneLayout.SOURCE);
    }

    public static int sourceQueuePair(long entry) {
        return RawMemory.getInt(entry + LaneLayout.SOURCE_QP) & 0xffffff;
    }

    public static int destinationQueuePair(long entry) {
        return RawMemory.getInt(entry + LaneLayout.DESTINATION_QP) & 0xffffff;
    }
}
