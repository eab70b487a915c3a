// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import org.verbena.linux.Errno;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendOperations;
import org.verbena.verbs.WcOpcode;

/** Send operations, numbered as {@code enum ibv_wr_opcode}. */
public final class SendOpcode {
    /** {@code IBV_WR_RDMA_WRITE}. */
    public static final int WRITE = 0;
    /** {@code IBV_WR_RDMA_WRITE_WITH_IMM}. */
    public static final int WRITE_IMM = 1;
    /** {@code IBV_WR_SEND}. */
    public static final int SEND = 2;
    /** {@code IBV_WR_SEND_WITH_IMM}. */
    public static final int SEND_IMM = 3;
    /** {@code IBV_WR_RDMA_READ}. */
    public static final int READ = 4;
    /** {@code IBV_WR_ATOMIC_CMP_AND_SWP}. */
    public static final int CMP_SWP = 5;
    /** {@code IBV_WR_ATOMIC_FETCH_AND_ADD}. */
    public static final int FETCH_ADD = 6;
    /** {@code IBV_WR_LOCAL_INV}. */
    public static final int LOCAL_INV = 7;
    /** {@code IBV_WR_BIND_MW}. */
    public static final int BIND_MW = 8;
    /** {@code IBV_WR_SEND_INV}. */
    public static final int SEND_INV = 9;
    /** {@code IBV_WR_FLUSH}. */
    public static final int FLUSH = 14;
    /** {@code IBV_WR_ATOMIC_WRITE}. */
    public static final int ATOMIC_WRITE = 15;

    /** Numbers here, and bits there. */
    private static final int[][] OPERATIONS = {{WRITE, SendOperations.WRITE},
        {WRITE_IMM, SendOperations.WRITE_IMMEDIATE}, {SEND, SendOperations.SEND},
        {SEND_IMM, SendOperations.SEND_IMMEDIATE}, {READ, SendOperations.READ},
        {CMP_SWP, SendOperations.COMPARE_AND_SWAP}, {FETCH_ADD, SendOperations.FETCH_AND_ADD},
        {LOCAL_INV, SendOperations.LOCAL_INVALIDATE}, {BIND_MW, SendOperations.BIND_WINDOW},
        {SEND_INV, SendOperations.SEND_INVALIDATE}, {FLUSH, SendOperations.FLUSH},
        {ATOMIC_WRITE, SendOperations.ATOMIC_WRITE}};

    private SendOpcode() {}

    /** The operations that queue pairs of a type have, as {@link SendOperations}. */
    public static int operations(int type) {
        int messages = SendOperations.SEND | SendOperations.SEND_IMMEDIATE;
        int writes = SendOperations.WRITE | SendOperations.WRITE_IMMEDIATE;
        int keys = SendOperations.LOCAL_INVALIDATE | SendOperations.BIND_WINDOW | SendOperations.SEND_INVALIDATE;
        return switch (type) {
            case QueuePairType.UD -> messages;
            case QueuePairType.UC -> messages | writes | keys;
            default -> messages | writes | keys | SendOperations.READ | SendOperations.COMPARE_AND_SWAP
                    | SendOperations.FETCH_AND_ADD | SendOperations.FLUSH | SendOperations.ATOMIC_WRITE;
        };
    }

    /**
     * A bit for each operation, by its number here, that a queue pair may be given.
     *
     * @param known what the provider has for queue pairs of that type, as {@link SendOperations}
     */
    public static int allowed(QueuePairInitAttributes init, int known) {
        int wanted = init.has(QueuePairInitAttributes.SEND_OPS_FLAGS)
                ? init.sendOperations()
                : known;
        int bits = 0;
        for (int[] o : OPERATIONS) {
            bits |= (wanted & o[1]) != 0 ? 1 << o[0] : 0;
        }
        return bits;
    }

    /**
     * Checks a request when it is staged.
     *
     * @param operations a bit for each operation that the queue pair has, see {@link #allowed}
     * @param knownFlags the {@link SendFlags} that the provider was built for
     * @return 0 if it may be staged, otherwise the errno
     */
    public static int check(int opcode, int flags, int operations, int knownFlags) {
        if ((flags & ~knownFlags) == 0 && (operations & 1 << opcode) != 0
                && ((flags & SendFlags.INLINE) == 0 || takesInline(opcode))) {
            return 0;
        }
        int wrong = SendFlags.check(flags, knownFlags);
        return wrong == 0 ? Errno.EINVAL : wrong;
    }

    /** What such a request completes as, see {@link WcOpcode}. */
    public static int completion(int opcode) {
        return switch (opcode) {
            case WRITE, WRITE_IMM -> WcOpcode.RDMA_WRITE;
            case READ -> WcOpcode.RDMA_READ;
            case CMP_SWP -> WcOpcode.COMP_SWAP;
            case FETCH_ADD -> WcOpcode.FETCH_ADD;
            case LOCAL_INV -> WcOpcode.LOCAL_INV;
            case BIND_MW -> WcOpcode.BIND_MW;
            case FLUSH -> WcOpcode.FLUSH;
            case ATOMIC_WRITE -> WcOpcode.ATOMIC_WRITE;
            default -> WcOpcode.SEND;
        };
    }

    /** True for what moves data out of buffers, which may then be inline. */
    public static boolean takesInline(int opcode) {
        return opcode <= SEND_IMM || opcode == SEND_INV;
    }

    /** True for what fills a receive of the peer. */
    public static boolean isSend(int opcode) {
        return opcode == SEND || opcode == SEND_IMM || opcode == SEND_INV;
    }

    /** True for what reads or writes memory of the peer that the request names. */
    public static boolean isOneSided(int opcode) {
        return switch (opcode) {
            case WRITE, WRITE_IMM, READ, CMP_SWP, FETCH_ADD, ATOMIC_WRITE -> true;
            default -> false;
        };
    }

    /** True for what concerns this process alone. */
    public static boolean isLocal(int opcode) {
        return opcode == LOCAL_INV || opcode == BIND_MW;
    }
}
