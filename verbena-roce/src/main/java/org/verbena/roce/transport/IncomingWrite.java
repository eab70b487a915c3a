// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.roce.header.PacketOpcode;
import org.verbena.roce.header.Reth;
import org.verbena.verbs.AccessFlags;

/** The peer's WRITE that is being executed. */
final class IncomingWrite {
    private final TransportQueuePair qp;
    private long address;
    private int rkey;
    private long length;
    private long left;

    IncomingWrite(TransportQueuePair qp) {
        this.qp = qp;
    }

    /** Bytes of the message. */
    long length() {
        return length;
    }

    /**
     * True if the packet lengths match the RETH: all bytes have arrived with the last packet, and not before
     * (9.7.4.1.6).
     */
    boolean hasValidLength(Packet p) {
        long before = p.has(PacketOpcode.IS_FIRST) ? Reth.length(p.extended) : left;
        if (before > Limits.MAX_MESSAGE) {
            return false;
        }
        return p.has(PacketOpcode.IS_LAST) ? p.length == before : p.length < before;
    }

    /** Writes a packet's bytes; false if the key does not allow it. A WRITE of 0 bytes needs no key (9.7.4.1.5). */
    boolean put(Memory memory, Packet p) {
        if (p.has(PacketOpcode.IS_FIRST)) {
            address = Reth.address(p.extended);
            rkey = Reth.rkey(p.extended);
            length = Reth.length(p.extended);
            left = length;
            if (length > 0 && memory.remote(qp.number(), rkey, address, length, AccessFlags.REMOTE_WRITE) < 0) {
                return false;
            }
        }
        if (p.length > 0 && memory.write(qp.number(), rkey, address + length - left, p.payload, p.length) < 0) {
            return false;
        }
        left -= p.length;
        return true;
    }
}
