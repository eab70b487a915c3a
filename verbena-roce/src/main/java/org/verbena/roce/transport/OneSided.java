// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import java.lang.invoke.VarHandle;

import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.header.Aeth;
import org.verbena.roce.header.AtomicEth;
import org.verbena.roce.header.Feth;
import org.verbena.roce.header.PacketOpcode;
import org.verbena.roce.header.Reth;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.FlushType;
import org.verbena.verbs.SamplePoint;

/** The responder's execution of READs, atomics, atomic writes and flushes (IBTA volume 1, 9.4.4, 9.4.5; annex A19). */
final class OneSided {
    /** The request was executed, or its response is queued. */
    static final int DONE = 0;

    private final ReliableQueuePair qp;
    private final ResponderResources resources;
    /** The value before an atomic operation. */
    private final long[] before = new long[1];
    private int packets;

    OneSided(ReliableQueuePair qp, ResponderResources resources) {
        this.qp = qp;
        this.resources = resources;
    }

    /** PSNs that the last request used. */
    int packets() {
        return packets;
    }

    /** Executes a request; {@link #DONE}, or the NAK code of its refusal. */
    int execute(Packet p, Memory memory, long sequence, int msn) {
        packets = 1;
        if (resources.depth() == 0 || resources.isFull() || p.length > 0 && p
                .operation() != PacketOpcode.ATOMIC_WRITE) {
            return Aeth.NAK_INVALID_REQUEST;
        }
        return switch (p.operation()) {
            case PacketOpcode.READ_REQUEST -> read(p.extended, memory, sequence, msn);
            case PacketOpcode.COMPARE_AND_SWAP, PacketOpcode.FETCH_AND_ADD -> atomic(p, memory, sequence, msn);
            case PacketOpcode.ATOMIC_WRITE -> atomicWrite(p, memory, sequence, msn);
            case PacketOpcode.FLUSH -> flush(p.extended, memory, sequence, msn);
            default -> Aeth.NAK_INVALID_REQUEST;
        };
    }

    private boolean allows(int access) {
        return (qp.accessFlags & access) != 0;
    }

    private int read(long reth, Memory memory, long sequence, int msn) {
        long address = Reth.address(reth);
        int rkey = Reth.rkey(reth);
        long length = Reth.length(reth);
        if (!allows(AccessFlags.REMOTE_READ) || length > Limits.MAX_MESSAGE) {
            return Aeth.NAK_INVALID_REQUEST;
        }
        if (length > 0 && memory.remote(qp.number(), rkey, address, length, AccessFlags.REMOTE_READ) < 0) {
            return Aeth.NAK_REMOTE_ACCESS;
        }
        packets = (int) Math.max(1, (length + qp.mtu - 1) / qp.mtu);
        qp.owner.count(SamplePoint.QP_RX_READS, 1);
        qp.owner.count(SamplePoint.QP_RX_READ_BYTES, length);
        resources.add(ResponderResources.Kind.READ, sequence, packets, msn, memory, address, rkey, length, 0);
        return DONE;
    }

    /** A zero-based region may begin at any address, so an aligned address may name an operand that is not aligned. */
    private static int refusal(long bad) {
        return bad == Memory.BAD_ALIGNMENT ? Aeth.NAK_INVALID_REQUEST : Aeth.NAK_REMOTE_ACCESS;
    }

    private int atomic(Packet p, Memory memory, long sequence, int msn) {
        long eth = p.extended;
        long address = AtomicEth.address(eth);
        int rkey = AtomicEth.rkey(eth);
        if (!allows(AccessFlags.REMOTE_ATOMIC) || (address & 7) != 0) {
            return Aeth.NAK_INVALID_REQUEST;
        }
        long done = p.operation() == PacketOpcode.FETCH_AND_ADD
                ? memory.fetchAndAdd(qp.number(), rkey, address, AtomicEth.swapOrAdd(eth), before)
                : memory.compareAndSwap(qp.number(), rkey, address, AtomicEth.compare(eth), AtomicEth.swapOrAdd(eth),
                        before);
        if (done < 0) {
            return refusal(done);
        }
        qp.owner.count(SamplePoint.QP_RX_ATOMICS, 1);
        resources.add(ResponderResources.Kind.ATOMIC, sequence, 1, msn, memory, address, rkey, Long.BYTES, before[0]);
        return DONE;
    }

    private int atomicWrite(Packet p, Memory memory, long sequence, int msn) {
        long address = Reth.address(p.extended);
        int rkey = Reth.rkey(p.extended);
        if (!allows(AccessFlags.REMOTE_WRITE) || (address & 7) != 0 || p.length != Long.BYTES
                || Reth.length(p.extended) != Long.BYTES) {
            return Aeth.NAK_INVALID_REQUEST;
        }
        long done = memory.put(qp.number(), rkey, address, RawMemory.getLongUnaligned(p.payload));
        if (done < 0) {
            return refusal(done);
        }
        qp.owner.count(SamplePoint.QP_RX_WRITES, 1);
        qp.owner.count(SamplePoint.QP_RX_WRITE_BYTES, Long.BYTES);
        resources.add(ResponderResources.Kind.EMPTY, sequence, 1, msn, memory, address, rkey, Long.BYTES, 0);
        return DONE;
    }

    /**
     * The bytes of all packets are written by this thread: a fence makes them visible to all threads that read with
     * acquire.
     */
    private int flush(long feth, Memory memory, long sequence, int msn) {
        long address = Reth.address(feth + Feth.BYTES);
        int rkey = Reth.rkey(feth + Feth.BYTES);
        boolean global = (Feth.type(feth) & FlushType.GLOBAL) != 0;
        boolean persistent = (Feth.type(feth) & FlushType.PERSISTENT) != 0;
        int level = Feth.level(feth);
        if (!global && !persistent || level > FlushType.REGION
                || global && !allows(AccessFlags.FLUSH_GLOBAL) || persistent && !allows(
                        AccessFlags.FLUSH_PERSISTENT)) {
            return Aeth.NAK_INVALID_REQUEST;
        }
        long length = level == FlushType.REGION ? 0 : Reth.length(feth + Feth.BYTES);
        if (global && memory.remote(qp.number(), rkey, address, length, AccessFlags.FLUSH_GLOBAL) < 0
                || persistent && memory.remote(qp.number(), rkey, address, length, AccessFlags.FLUSH_PERSISTENT) < 0) {
            return Aeth.NAK_REMOTE_ACCESS;
        }
        VarHandle.fullFence();
        resources.add(ResponderResources.Kind.EMPTY, sequence, 1, msn, memory, address, rkey, length, 0);
        return DONE;
    }
}
