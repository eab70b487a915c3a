// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.Ipv6Header;
import org.verbena.stack.wire.ReceivedFrame;
import org.verbena.stack.wire.SendFrame;
import org.verbena.stack.wire.Wire;

/**
 * Packets from this host to itself. They wait in the buffers that they were written to, and so never are more than the wire has buffers, and are taken from there:
 * not while another packet is, since what a packet does may be half done when it has another one sent.
 */
final class Loopback {
    private final Wire wire;
    private final ArrayDeque<SendFrame> waiting = new ArrayDeque<>();
    private @Nullable Frame frame;

    Loopback(Wire wire) {
        this.wire = wire;
    }

    /** Adds a frame whose IP packet is in its place, without a header of Ethernet. */
    void add(SendFrame f) {
        waiting.add(f);
    }

    int size() {
        return waiting.size();
    }

    /** The oldest frame, which has to be there, and to be released before the next is taken. */
    ReceivedFrame take() {
        Frame f = frame;
        if (f == null) { // only now, so that a host that does not talk to itself has one class of received frames
            f = new Frame();
            frame = f;
        }
        f.begin(waiting.remove());
        return f;
    }

    /** Whether the packet in a frame is of IPv4. */
    static boolean isIpv4(MemorySegment m, long at) {
        return Bytes.u8(m, at + EthernetHeader.BYTES) >>> 4 == 4;
    }

    private final class Frame extends ReceivedFrame {
        private @Nullable SendFrame sent;
        private MemorySegment memory = MemorySegment.NULL;

        void begin(SendFrame f) {
            clear();
            sent = f;
            memory = f.memory();
            long at = f.at() + EthernetHeader.BYTES;
            int bytes = isIpv4(memory, f.at())
                    ? Ipv4Header.totalBytes(memory, at)
                    : Ipv6Header.BYTES + Ipv6Header.payloadBytes(memory, at);
            add(f.at(), EthernetHeader.BYTES + bytes);
            setChecked();
            setOwn();
        }

        @Override
        public MemorySegment memory() {
            return memory;
        }

        @Override
        public void release() {
            SendFrame f = sent;
            if (f != null) {
                sent = null;
                wire.giveBack(f);
            }
        }
    }
}
