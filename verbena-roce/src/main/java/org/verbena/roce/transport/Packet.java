// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.jspecify.annotations.Nullable;

import org.verbena.roce.header.BigEndian;
import org.verbena.roce.header.Bth;
import org.verbena.roce.header.PacketOpcode;
import org.verbena.roce.header.XrcEth;

/**
 * A packet that was parsed without an error: the values of its headers. One object of a {@link Transport}, reused for
 * each packet.
 */
public final class Packet {
    /** What the wire knows about it. */
    ReceivedPacket raw = new ReceivedPacket();
    public int opcode;
    /** {@link PacketOpcode#flags}. */
    int flags;
    int destination;
    int psn;
    boolean acknowledge;
    boolean solicited;
    /** Address of the extended headers after the XRCETH. */
    public long extended;
    /** Address of the payload. */
    public long payload;
    /** Bytes of payload. */
    public int length;

    /**
     * Parses the headers.
     *
     * @return why the packet has to be dropped; null if it is valid
     */
    @Nullable
    public DropReason parse(ReceivedPacket p) {
        raw = p;
        long a = p.address;
        if (p.length < Bth.BYTES || (p.length & 3) != 0) {
            return DropReason.MALFORMED;
        }
        if (Bth.version(a) != 0) {
            return DropReason.VERSION;
        }
        opcode = Bth.opcode(a);
        int headers = PacketOpcode.headers(opcode);
        if (headers == 0) {
            return DropReason.OPCODE;
        }
        flags = PacketOpcode.flags(opcode);
        length = p.length - headers - Bth.pad(a);
        if (length < 0 || length > 0 && !has(PacketOpcode.HAS_PAYLOAD)) {
            return DropReason.MALFORMED;
        }
        // one of two members has to be a full one, and we are: the lower 15 bits decide (10.9.1.3)
        if ((Bth.pkey(a) & 0x7fff) != (Bth.DEFAULT_PKEY & 0x7fff)) {
            return DropReason.PKEY;
        }
        destination = Bth.destination(a);
        psn = Bth.psn(a);
        acknowledge = Bth.isAcknowledgeRequested(a);
        solicited = Bth.isSolicited(a);
        extended = a + PacketOpcode.extended(opcode);
        payload = a + headers;
        return null;
    }

    boolean has(int flag) {
        return (flags & flag) != 0;
    }

    int transport() {
        return opcode & PacketOpcode.TRANSPORT;
    }

    int operation() {
        return opcode & PacketOpcode.OPERATION;
    }

    /** Immediate value or invalidated key: the last header of the packets that have one. */
    int immediate() {
        return BigEndian.getInt(payload - 4);
    }

    /** Of an XRC request. */
    int sharedReceiveQueue() {
        return XrcEth.sharedReceiveQueue(raw.address + Bth.BYTES);
    }
}
