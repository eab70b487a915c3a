// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * Layout of a lane arena and of the lanes in it. A lane carries the completions of one queue pair's peer: the initiator
 * writes, the peer's completion queue reads; it has as many entries as the peer's receive queue, so a posted receive is
 * also the permission to use an entry. Little-endian; offsets in bytes.
 *
 * <pre>
 * arena
 *    0   header: magic, version, size, writer's instance, reader's instance
 *   56   in the header: pages of the lane directory that there are, a bit each
 *   72   in the header: 1 once the session has ended for the writer
 * 4096   counts of 16 bits, one for each queue pair of the reader: of entries committed for it
 *  256 Ki lane directory: {@value AdapterLayout#MAX_QP} entries of 64 bytes, one for each queue pair of the reader, by its
 *        number's low 12 bits
 *    1 Mi counts of the writer's accesses to memory of the reader, see {@link CountsLayout}
 *    8 Mi lanes, in pages
 *
 * lane directory entry
 *    0   the link of the reader that the lane was made for, see {@link Link}; 0: none. Stored last
 *    8   offset of the lane in the arena, 16 its entries
 *   24   the reader's arm word that the writer has signalled last
 *
 * lane entry, 128 bytes
 *    0   payload of up to 48 bytes, or else the time stamp
 *   48   int length of the message unless it is inline, 52 int immediate
 *   56   commit: sequence:32, opcode:8, status:8, flags:8, length of an inline message:8
 *   64   payload of 49 to 64 bytes, or else the time stamp, ns
 *
 * in an entry for a receive of a pool, a lane's or an inbox's
 *   72   {@link Claim}
 * in an inbox, see {@link CommonsLayout}
 *   80   instance of the sender's context, 88 int sender's queue pair, 92 int receiver's queue pair
 * </pre>
 *
 * The directory entry of a lane stays as long as the reader is in that connection, whatever becomes of the queue pair
 * that writes: a committed message is found.
 *
 * <p>The sequence is the entry's number plus 1; one that does not fit means "not yet". The commit is stored last, with
 * release, and read first, with acquire. Messages of up to {@value #INLINE} bytes travel in the entry, longer ones are
 * copied into the posted receive before the commit. A payload lies in one line as a whole: the reader spins on the first
 * line and takes it away as soon as it is written, so that a second store to it may cost a second trip.
 */
public final class LaneLayout {
    public static final long MAGIC = 0x314e_414c_5342_4556L; // "VEBSLAN1"
    public static final long SIZE = 1L << 30;

    static final long HEADER_MAGIC = 0;
    static final long HEADER_VERSION = 8;
    static final long HEADER_SIZE = 16;
    static final long HEADER_WRITER = 24;
    public static final long HEADER_READER = 32;
    /** The header words of {@link CountsLayout} lie on both sides of it. */
    public static final long HEADER_LANE_PAGES = 56;
    /**
     * Set by the writer when the session ends, before it reads the hazards of the reader's queue pairs. A sender that enters its
     * hazard afterwards finds it and claims no receive; a sender that entered before is seen by the writer, see {@link Hazard}.
     */
    static final long HEADER_ENDED = 72;
    public static final long HINTS = 4096;
    /** The part of an arena that is reserved from the beginning. */
    static final long HEAD = HINTS + 2L * AdapterLayout.MAX_QP;
    static final long LANES = 256L << 10;
    static final int LANE_SHIFT = 6;
    public static final long LANE_BYTES = 1L << LANE_SHIFT;
    public static final long LANE_TARGET = 0;
    public static final long LANE_OFFSET = 8;
    public static final long LANE_ENTRIES = 16;
    public static final long LANE_NOTIFIED = 24;
    public static final long HEAP = CountsLayout.END;

    public static final int ENTRY_SHIFT = 7;
    public static final int FIRST_LINE = 48;
    public static final int INLINE = 64;
    public static final long LENGTH = 48;
    public static final long IMMEDIATE = 52;
    public static final long COMMIT = 56;
    public static final int INLINE_LENGTH_SHIFT = 56;
    public static final long SECOND_LINE = 64;
    /** Further fields of entries for receives of a pool; their payload lies in the first line. */
    public static final long CLAIM = 72;
    public static final long SOURCE = 80;
    public static final long SOURCE_QP = 88;
    public static final long DESTINATION_QP = 92;

    /** The commit's flags. */
    public static final int HAS_IMMEDIATE = 1;
    public static final int IS_SOLICITED = 2;
    public static final int IS_INLINE = 4;
    public static final int IN_SECOND_LINE = 8;
    public static final int HAS_TIMESTAMP = 16;
    /** In place of an immediate value there is a key that the receiver is to invalidate. */
    public static final int HAS_INVALIDATE = 32;
    public static final int KNOWN_FLAGS = 63;
    /** Not in a lane: the message begins with a global routing header. */
    public static final int HAS_GRH = 64;

    private static final long PLAIN_INLINE = commit(-1, WcOpcode.RECV, WcStatus.SUCCESS, IS_INLINE);
    private static final long NOT_PLAIN = commit(-1, 255, 255, 255 & ~(IS_SOLICITED | IN_SECOND_LINE));

    private LaneLayout() {}

    /** Offset of the directory entry of the lane to a queue pair of the reader. */
    public static long lane(int number) {
        return LANES + ((long) AdapterLayout.qpIndex(number) << LANE_SHIFT);
    }

    /** The bit of {@link #HEADER_LANE_PAGES} for the page of that entry. */
    public static int lanePage(int number) {
        return AdapterLayout.qpIndex(number) >>> 12 - LANE_SHIFT;
    }

    /** Address of entry {@code index} of a lane of {@code mask + 1} entries at {@code base}. */
    public static long entry(long base, long mask, long index) {
        return base + ((index & mask) << ENTRY_SHIFT);
    }

    public static long commit(long index, int opcode, int status, int flags) {
        return index + 1 & 0xffffffffL | (long) opcode << 32 | (long) status << 40 | (long) flags << 48;
    }

    /** True if the commit is that of entry {@code index}. */
    public static boolean isOf(long commit, long index) {
        return (int) commit == (int) (index + 1);
    }

    /** True if the commit is that of entry {@code index} or of a later one in the same place. */
    public static boolean isReached(long commit, long index) {
        return (int) commit != 0 && (int) commit - (int) (index + 1) >= 0;
    }

    /** True for a message that travels in its entry, succeeded, and needs no further lookup. */
    public static boolean isPlainInline(long commit) {
        return (commit & NOT_PLAIN) == PLAIN_INLINE;
    }

    /** Where in an entry the payload lies. */
    public static long payload(int flags) {
        return (flags & IN_SECOND_LINE) != 0 ? SECOND_LINE : 0;
    }

    /** Where in an entry the time stamp lies: in the line that the payload leaves free. */
    public static long timestamp(int flags) {
        return SECOND_LINE - payload(flags);
    }

    public static int opcode(long commit) {
        return (int) (commit >>> 32) & 0xff;
    }

    public static int status(long commit) {
        return (int) (commit >>> 40) & 0xff;
    }

    public static int inlineLength(long commit) {
        return (int) (commit >>> INLINE_LENGTH_SHIFT);
    }

    public static int flags(long commit) {
        return (int) (commit >>> 48) & 0xff;
    }
}
