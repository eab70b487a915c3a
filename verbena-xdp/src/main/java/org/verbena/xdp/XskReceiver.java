// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.Xsk;
import org.verbena.linux.XskRing;
import org.verbena.verbs.WcFlags;

/**
 * Receives by an AF_XDP socket: chunks go to the FILL ring when they are posted, and come back in the RX ring with a
 * frame, or a part of one, in any order.
 */
final class XskReceiver implements FrameReceiver {
    private final ReceiveSide side;
    private final Xsk xsk;
    private final XskRing rx;
    private boolean inPacket;

    XskReceiver(ReceiveSide side, QueueSocket socket) {
        this.side = side;
        xsk = socket.xsk;
        rx = xsk.receiveRing();
    }

    @Override
    public void post(long[] offsets, int n) {
        XskRing fill = xsk.fillRing();
        if (fill.reserve(n)) { // always: it has an entry for each request
            for (int i = 0; i < n; i++) {
                fill.putAddress(i, offsets[i]);
            }
            fill.publish(n);
            if (fill.needsWakeUp()) {
                xsk.wakeReceive();
            }
        }
    }

    @Override
    public boolean hasFrames() {
        return rx.hasEntries();
    }

    @Override
    public boolean isUnfiltered() {
        return false;
    }

    @Override
    public int take(CompletionBatch into) {
        int there = rx.available();
        int n = Math.min(there, into.room());
        long bytes = 0;
        int packets = 0;
        int valid = 0;
        for (int i = 0; i < n; i++) {
            long address = rx.address(i);
            long word = rx.lengthAndOptions(i);
            int length = (int) word;
            int flags = (word >>> Integer.SIZE & Xsk.XDP_PKT_CONTD) != 0 ? WcFlags.CONTINUES : 0;
            int chunk = side.chunk(address, length);
            if (chunk < 0) {
                continue; // nothing that was posted
            }
            if (!inPacket) {
                flags |= check(i, there);
                packets++;
            }
            inPacket = (flags & WcFlags.CONTINUES) != 0;
            long begin = ReceiveSide.frameAt(chunk);
            if (address != begin) { // a driver that put it elsewhere
                MemorySegment memory = side.memory();
                MemorySegment.copy(memory, address, memory, begin, Math.min(length, XdpLimits.RECEIVE_BYTES));
            }
            side.complete(into, chunk, flags, length);
            valid++;
            bytes += length;
        }
        if (n > 0) {
            rx.release(n);
            side.count(valid, bytes, packets);
        }
        return 0;
    }

    /** The flags of the packet that begins in entry {@code i}; all its entries are there. */
    private int check(int i, int there) {
        int last = i;
        int total = 0;
        for (boolean more = true; more && last < there; last++) {
            long word = rx.lengthAndOptions(last);
            if (side.chunk(rx.address(last), (int) word) < 0) {
                return 0;
            }
            total += (int) word;
            more = (word >>> Integer.SIZE & Xsk.XDP_PKT_CONTD) != 0;
        }
        boolean begun = side.beginCheck(rx.address(i), (int) rx.lengthAndOptions(i), total, side.isPartial());
        for (int j = i; begun && j < last; j++) {
            side.addToCheck(rx.address(j), (int) rx.lengthAndOptions(j));
        }
        return side.endCheck();
    }
}
