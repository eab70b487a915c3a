// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm.smc;

import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import org.verbena.erm.CopyFlags;
import org.verbena.erm.CopyQueue;
import org.verbena.erm.EventQueue;
import org.verbena.erm.EventType;
import org.verbena.erm.LocalRegion;
import org.verbena.erm.RemoteMemory;
import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/**
 * The calls of SMC-ERM, as in "SMC-ERM: A fast remote memory communication method based on SMC socket" (2024).
 *
 * {@snippet :
 * int memid = socket.setsockopt(new SmcErm.RegMr(buffer, SmcErm.SMC_ACCESS_LOCAL_WRITE | SmcErm.SMC_ACCESS_REMOTE_WRITE));
 * int error = socket.sendmsg(new SmcErm.Copy(SmcErm.SMC_ERM_CMD_FLAG_REMOTE_COMPL, length, memid, 0, theirs, 0));
 * SmcErm.Completion done = socket.recvmsg();
 * }
 *
 * <p>Whatever the proposal leaves open is as in {@link RemoteMemory}. {@link #sendmsg} and {@link #recvmsg} are for one
 * thread at a time, and not to be mixed with the {@link RemoteMemory#copies()} and {@link RemoteMemory#events()} of the
 * same socket.
 */
public final class SmcErm {
    /** {@link RegMr#type()}; as for all commands, the slides show the name but no number. */
    public static final int SMC_ERM_CMD_REG_MR = 1;
    /** {@link DeregMr#type()}. */
    public static final int SMC_ERM_CMD_DEREG_MR = 2;
    /** {@link Copy#type()}; as {@link Completion#event()}: the other end has copied into memory of this end, or out of it. */
    public static final int SMC_ERM_CMD_COPY = 3;
    /** {@link Completion#type()}. */
    public static final int SMC_ERM_CMD_COMPL = 4;
    /**
     * {@link Completion#event()}: a copy of this end is done. The proposal shows no such event; without it a program
     * could not know when a buffer may be reused.
     */
    public static final int COPY_DONE = 0x100;
    /** {@link Completion#event()}: the other end has registered memory; the proposal has no event for it. */
    public static final int MR_ADDED = 0x101;
    /** {@link Completion#event()}: the other end has deregistered memory. */
    public static final int MR_REMOVED = 0x102;
    /** {@link Completion#event()}: the remote memory has ended. */
    public static final int CLOSED = 0x103;
    /** {@link Completion#event()}: the other end has {@linkplain LocalRegion#update updated} memory, for which the proposal has no command. */
    public static final int MR_UPDATED = 0x104;

    /** Flag of {@link Copy}: the other end gets a {@link #SMC_ERM_CMD_COPY} completion. */
    public static final int SMC_ERM_CMD_FLAG_REMOTE_COMPL = CopyFlags.REMOTE_COMPLETION;

    /** Right of {@link RegMr}. */
    public static final int SMC_ACCESS_LOCAL_WRITE = AccessFlags.LOCAL_WRITE;
    /** Right of {@link RegMr}. */
    public static final int SMC_ACCESS_REMOTE_WRITE = AccessFlags.REMOTE_WRITE;
    /** Right of {@link RegMr}. */
    public static final int SMC_ACCESS_REMOTE_READ = AccessFlags.REMOTE_READ;

    /**
     * {@code struct smc_erm_cmd_reg_mr}.
     *
     * @param addr the memory, with its length
     * @param accessFlags {@code SMC_ACCESS_…}
     */
    public record RegMr(MemorySegment addr, int accessFlags) {
        /** {@link #SMC_ERM_CMD_REG_MR}. */
        public int type() {
            return SMC_ERM_CMD_REG_MR;
        }
    }

    /**
     * {@code struct smc_erm_cmd_dereg_mr}.
     *
     * @param memid the result of {@link #setsockopt(RegMr)}
     */
    public record DeregMr(int memid) {
        /** {@link #SMC_ERM_CMD_DEREG_MR}. */
        public int type() {
            return SMC_ERM_CMD_DEREG_MR;
        }
    }

    /**
     * {@code struct smc_erm_cmd_copy}.
     *
     * @param flags 0 or {@link #SMC_ERM_CMD_FLAG_REMOTE_COMPL}
     * @param len bytes
     * @param srcIdx id of the memory to copy from: this end's, or the other's
     * @param srcOffset bytes
     * @param dstIdx id of the memory to copy to: the other's, or this end's
     * @param dstOffset bytes
     */
    public record Copy(int flags, long len, int srcIdx, long srcOffset, int dstIdx, long dstOffset) {
        /** {@link #SMC_ERM_CMD_COPY}. */
        public int type() {
            return SMC_ERM_CMD_COPY;
        }
    }

    /**
     * {@code struct smc_rmem_compl_event}.
     *
     * @param event {@link #SMC_ERM_CMD_COPY} or one of those that the proposal lacks
     * @param memid of the region
     * @param addr of a copy, its bytes in this end's memory; empty otherwise
     * @param len of a copy, its bytes; of added or updated memory, its size
     * @param status 0, or the errno of a failed copy of this end
     */
    public record Completion(int event, int memid, MemorySegment addr, long len, int status) {
        /** {@link #SMC_ERM_CMD_COMPL}: of its control message. */
        public int type() {
            return SMC_ERM_CMD_COMPL;
        }
    }

    private final RemoteMemory memory;
    private final CopyQueue copies;
    private final EventQueue events;
    /** Copies of this end by number, modulo their length: id, offset and length at this end. */
    private final int[] ids;
    private final long[] offsets;
    private final long[] lengths;
    private long sent;
    /** Which kind {@link #recvmsg} polls first. */
    private boolean copiesFirst;

    private SmcErm(RemoteMemory memory) {
        this.memory = memory;
        copies = memory.copies();
        events = memory.events();
        ids = new int[copies.depth()];
        offsets = new long[copies.depth()];
        lengths = new long[copies.depth()];
    }

    /**
     * The instance for a connected channel; both ends have to ask.
     *
     * @param timeout how long to wait at most
     * @return empty where {@link RemoteMemory#whyNot} returns a reason
     * @throws InterruptedException if the thread is interrupted
     */
    public static Optional<SmcErm> of(SocketChannel socket, Duration timeout) throws InterruptedException {
        return RemoteMemory.of(socket, timeout).map(SmcErm::new);
    }

    /** The underlying remote memory. */
    public RemoteMemory memory() {
        return memory;
    }

    /**
     * {@code setsockopt(SOL_SMC, SMC_ERM_CMD)} with {@code SMC_ERM_CMD_REG_MR}.
     *
     * @return the memid, above 0
     * @throws VerbsException as {@link RemoteMemory#register(MemorySegment, int, long)}
     */
    public int setsockopt(RegMr reg) throws VerbsException {
        return memory.register(reg.addr(), reg.accessFlags()).id();
    }

    /**
     * {@code setsockopt(SOL_SMC, SMC_ERM_CMD)} with {@code SMC_ERM_CMD_DEREG_MR}.
     *
     * @return 0
     * @throws VerbsException {@code ENOENT} if there is no such memid; as {@link LocalRegion#close}
     */
    public int setsockopt(DeregMr dereg) throws VerbsException {
        LocalRegion region = memory.localRegion(dereg.memid());
        if (region == null) {
            throw new VerbsException("deregister " + dereg.memid(), Errno.ENOENT,
                    "this end has no memory of that memid");
        }
        region.close();
        return 0;
    }

    /**
     * {@code sendmsg} with {@code SMC_ERM_CMD_COPY}; it does not wait.
     *
     * @return 0, or minus an errno: that of {@link CopyQueue#copy(int, long, int, long, long, int, long, long)}
     */
    public int sendmsg(Copy copy) {
        boolean write = memory.localRegion(copy.srcIdx()) != null;
        int error = copies.copy(copy.srcIdx(), copy.srcOffset(), copy.dstIdx(), copy.dstOffset(), copy.len(), copy
                .flags(), sent);
        if (error == 0) {
            int slot = (int) (sent++ % ids.length);
            ids[slot] = write ? copy.srcIdx() : copy.dstIdx();
            offsets[slot] = write ? copy.srcOffset() : copy.dstOffset();
            lengths[slot] = copy.len();
        }
        return -error;
    }

    /**
     * {@code recvmsg} for {@code SMC_ERM_CMD_COMPL}; it does not wait, {@link RemoteMemory#await} does. Events of the
     * other end and completions of this end do not starve each other, however many there are.
     *
     * @return the next completion; null if there is none
     */
    public @Nullable Completion recvmsg() {
        copiesFirst = !copiesFirst;
        Completion next = copiesFirst ? done() : event();
        return next != null ? next : copiesFirst ? event() : done();
    }

    private @Nullable Completion event() {
        if (!events.poll()) {
            return null;
        }
        return switch (events.type()) {
            case EventType.COPIED, EventType.COPIED_FROM -> new Completion(SMC_ERM_CMD_COPY, events.region(), at(
                    events.region(), events.offset(), events.length()), events.length(), 0);
            case EventType.REGION_ADDED -> of(MR_ADDED, events.region(), events.length());
            case EventType.REGION_REMOVED -> of(MR_REMOVED, events.region(), 0);
            case EventType.REGION_UPDATED -> of(MR_UPDATED, events.region(), events.length());
            case EventType.CLOSED -> of(CLOSED, 0, 0);
            default -> of(events.type(), events.region(), events.length());
        };
    }

    private @Nullable Completion done() {
        if (!copies.poll()) {
            return null;
        }
        int slot = (int) (copies.context() % ids.length);
        return new Completion(COPY_DONE, ids[slot], at(ids[slot], offsets[slot], lengths[slot]), lengths[slot],
                copies.status() == WcStatus.SUCCESS ? 0 : Errno.EIO);
    }

    private static Completion of(int event, int memid, long len) {
        return new Completion(event, memid, MemorySegment.NULL, len, 0);
    }

    /** Empty if the memory has been deregistered meanwhile. */
    private MemorySegment at(int memid, long offset, long length) {
        LocalRegion region = memory.localRegion(memid);
        return region == null ? MemorySegment.NULL : region.segment().asSlice(offset, length);
    }
}
