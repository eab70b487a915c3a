// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.header.AtomicEth;
import org.verbena.roce.header.BigEndian;
import org.verbena.roce.header.Bth;
import org.verbena.roce.header.Deth;
import org.verbena.roce.header.Feth;
import org.verbena.roce.header.PacketOpcode;
import org.verbena.roce.header.Reth;
import org.verbena.roce.header.XrcEth;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.spi.SendOpcode;

/** Writes the request packets of one queue pair. */
final class RequestWriter {
    /** A local key or range is invalid; a packet length is never negative. */
    static final int PROTECTION = -1;

    private final TransportQueuePair qp;
    private final int transport;
    private final boolean isXrc;

    RequestWriter(TransportQueuePair qp, int transport) {
        this.qp = qp;
        this.transport = transport;
        isXrc = transport == PacketOpcode.XRC;
    }

    /**
     * Writes a packet of a SEND or WRITE.
     *
     * @param packet its index in the message, from 0
     * @return bytes from the BTH to the end of the padding, or {@link #PROTECTION}
     */
    int message(long a, SendWqe w, int packet, int mtu, int destination, boolean acknowledge) {
        boolean first = packet == 0;
        boolean last = packet == w.packets - 1;
        long offset = (long) packet * mtu;
        int bytes = (int) Math.min(mtu, w.length - offset);
        long at = a + Bth.BYTES;
        if (isXrc) {
            XrcEth.put(at, w.remoteSharedReceiveQueue);
            at += XrcEth.BYTES;
        }
        boolean write = w.opcode == SendOpcode.WRITE || w.opcode == SendOpcode.WRITE_IMM;
        if (write && first) {
            Reth.put(at, w.remoteAddress, w.rkey, w.length);
            at += Reth.BYTES;
        }
        boolean tail = last && w.opcode != SendOpcode.SEND && w.opcode != SendOpcode.WRITE;
        if (tail) {
            BigEndian.putInt(at, w.immediate);
            at += 4;
        }
        int pad = -bytes & 3;
        boolean solicited = last && (w.flags & SendFlags.SOLICITED) != 0 && w.opcode != SendOpcode.WRITE;
        Bth.put(a, transport | operation(w.opcode, first, last), solicited, pad, destination, acknowledge,
                (int) w.first + packet);
        if (!payload(w, offset, bytes, at)) {
            return PROTECTION;
        }
        return end(a, at, bytes, pad);
    }

    /** Writes a datagram; as {@link #message}. */
    int datagram(long a, SendWqe w, int qkey) {
        boolean immediate = w.opcode == SendOpcode.SEND_IMM;
        int bytes = (int) w.length;
        int pad = -bytes & 3;
        Bth.put(a, transport | (immediate ? PacketOpcode.SEND_ONLY_IMM : PacketOpcode.SEND_ONLY),
                (w.flags & SendFlags.SOLICITED) != 0, pad, w.remoteQueuePair, false, (int) w.first);
        long at = a + Bth.BYTES;
        Deth.put(at, qkey, qp.number());
        at += Deth.BYTES;
        if (immediate) {
            BigEndian.putInt(at, w.immediate);
            at += 4;
        }
        return payload(w, 0, bytes, at) ? end(a, at, bytes, pad) : PROTECTION;
    }

    private static int operation(int opcode, boolean first, boolean last) {
        return switch (opcode) {
            case SendOpcode.WRITE -> part(first, last, PacketOpcode.WRITE_FIRST, PacketOpcode.WRITE_LAST,
                    PacketOpcode.WRITE_ONLY);
            case SendOpcode.WRITE_IMM -> part(first, last, PacketOpcode.WRITE_FIRST, PacketOpcode.WRITE_LAST_IMM,
                    PacketOpcode.WRITE_ONLY_IMM);
            case SendOpcode.SEND_IMM -> part(first, last, PacketOpcode.SEND_FIRST, PacketOpcode.SEND_LAST_IMM,
                    PacketOpcode.SEND_ONLY_IMM);
            case SendOpcode.SEND_INV -> part(first, last, PacketOpcode.SEND_FIRST, PacketOpcode.SEND_LAST_INVALIDATE,
                    PacketOpcode.SEND_ONLY_INVALIDATE);
            default -> part(first, last, PacketOpcode.SEND_FIRST, PacketOpcode.SEND_LAST, PacketOpcode.SEND_ONLY);
        };
    }

    /** The opcode of a middle packet follows that of the first, for writes and sends alike. */
    private static int part(boolean first, boolean last, int ofFirst, int ofLast, int ofOnly) {
        return first ? last ? ofOnly : ofFirst : last ? ofLast : ofFirst + 1;
    }

    private boolean payload(SendWqe w, long offset, int bytes, long to) {
        if ((w.flags & SendFlags.INLINE) != 0) {
            RawMemory.copy(w.inlineAddress + offset, to, bytes);
            return true;
        }
        return bytes == 0 || ScatterGather.gather(qp.owner.memory(), w.sgeCount, w.lkeys, w.addresses, w.lengths,
                offset,
                bytes, to);
    }

    private static int end(long a, long payload, int bytes, int pad) {
        long end = payload + bytes;
        for (int i = 0; i < pad; i++) {
            RawMemory.putByte(end + i, (byte) 0);
        }
        return (int) (end - a) + pad;
    }

    /**
     * Writes a READ request for packets of a READ.
     *
     * @param from the first packet of the response
     * @param to the index after the last
     */
    int read(long a, SendWqe w, int from, int to, int mtu, int destination) {
        long at = begin(a, w, PacketOpcode.READ_REQUEST, from, destination);
        long offset = (long) from * mtu;
        Reth.put(at, w.remoteAddress + offset, w.rkey, Math.min(w.length, (long) to * mtu) - offset);
        return (int) (at - a) + Reth.BYTES;
    }

    /** Writes an atomic, an atomic write or a flush. */
    int single(long a, SendWqe w, int destination) {
        return switch (w.opcode) {
            case SendOpcode.CMP_SWP -> {
                long at = begin(a, w, PacketOpcode.COMPARE_AND_SWAP, 0, destination);
                AtomicEth.put(at, w.remoteAddress, w.rkey, w.swap, w.compareOrAdd);
                yield (int) (at - a) + AtomicEth.BYTES;
            }
            case SendOpcode.FETCH_ADD -> {
                long at = begin(a, w, PacketOpcode.FETCH_AND_ADD, 0, destination);
                AtomicEth.put(at, w.remoteAddress, w.rkey, w.compareOrAdd, 0);
                yield (int) (at - a) + AtomicEth.BYTES;
            }
            case SendOpcode.ATOMIC_WRITE -> {
                long at = begin(a, w, PacketOpcode.ATOMIC_WRITE, 0, destination);
                Reth.put(at, w.remoteAddress, w.rkey, Long.BYTES);
                RawMemory.putLongUnaligned(at + Reth.BYTES, w.compareOrAdd); // in memory order, not a number
                yield (int) (at - a) + Reth.BYTES + Long.BYTES;
            }
            default -> {
                long at = begin(a, w, PacketOpcode.FLUSH, 0, destination);
                Feth.put(at, w.flushType, w.flushLevel);
                Reth.put(at + Feth.BYTES, w.remoteAddress, w.rkey, w.flushLength);
                yield (int) (at - a) + Feth.BYTES + Reth.BYTES;
            }
        };
    }

    private long begin(long a, SendWqe w, int operation, int packet, int destination) {
        Bth.put(a, transport | operation, false, 0, destination, true, (int) w.first + packet);
        long at = a + Bth.BYTES;
        if (isXrc) {
            XrcEth.put(at, w.remoteSharedReceiveQueue);
            at += XrcEth.BYTES;
        }
        return at;
    }
}
