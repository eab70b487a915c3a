// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.foreign.MemorySegment;
import java.util.List;

import org.verbena.linux.Xsk;
import org.verbena.linux.XskRing;
import org.verbena.verbs.WcFlags;

/**
 * Receives by the sockets of a work queue: a packet is copied to the chunks that were posted first, as many as it has
 * parts, and waits in its RX ring while fewer are posted.
 */
final class WorkQueueReceiver implements FrameReceiver {
    private final ReceiveSide side;
    private final SpreadSockets from;
    private final XskRing[] rings;
    private final int[] chunks;
    private final int mask;
    private final int capacity;
    private int first;
    private int next;
    /** Which ring is looked at first: the one behind that which was looked at last. */
    private int current;
    /** False from when nothing is posted, or not enough for the next frame, to the next post. */
    private volatile boolean canTake;

    WorkQueueReceiver(ReceiveSide side, SpreadSockets from, List<Xsk> sockets, int capacity) {
        this.side = side;
        this.from = from;
        this.capacity = capacity;
        rings = sockets.stream().map(Xsk::receiveRing).toArray(XskRing[]::new);
        chunks = new int[SendSide.ringSize(capacity)];
        mask = chunks.length - 1;
    }

    @Override
    public void post(long[] offsets, int n) {
        for (int i = 0; i < n; i++) {
            chunks[next++ & mask] = (int) (offsets[i] / XdpLimits.CHUNK);
        }
        canTake = next != first;
    }

    @Override
    public boolean hasFrames() {
        return canTake;
    }

    /** Frames for which nothing is posted make the descriptor readable as well. */
    @Override
    public boolean isUnfiltered() {
        return true;
    }

    @Override
    public int take(CompletionBatch into) {
        for (int i = 0; i < rings.length && first != next; i++) {
            if (!take(current, into)) {
                return 0;
            }
            current = (current + 1) % rings.length;
        }
        return 0;
    }

    /** Takes all frames of a ring; false if there is no room for the next one. */
    private boolean take(int queue, CompletionBatch into) {
        XskRing rx = rings[queue];
        int there = rx.availableNow();
        int done = 0;
        int parts;
        boolean fits = true;
        boolean waits = false;
        for (; done < there; done += parts) {
            parts = parts(rx, done, there);
            if (parts <= capacity && parts <= XdpLimits.MAX_PIECES) {
                if (parts > next - first || parts > into.room()) {
                    fits = false;
                    waits = parts > next - first;
                    break;
                }
                complete(rx, done, parts, into);
            } // or it never fits, and is lost
        }
        if (done > 0) {
            from.give(queue, rx, done);
        }
        canTake = next != first && !waits;
        return fits;
    }

    private static boolean continues(long word) {
        return (word >>> Integer.SIZE & Xsk.XDP_PKT_CONTD) != 0;
    }

    /** Entries of the frame that begins there; the kernel passes all of them on at once. */
    private static int parts(XskRing rx, int begin, int there) {
        int end = begin + 1;
        while (end < there && continues(rx.lengthAndOptions(end - 1))) {
            end++;
        }
        return end - begin;
    }

    private void complete(XskRing rx, int begin, int parts, CompletionBatch into) {
        MemorySegment to = side.memory();
        int total = 0;
        for (int i = 0; i < parts; i++) {
            int length = length(rx, begin + i);
            MemorySegment.copy(from.memory(), rx.address(begin + i), to, placeOf(i), length);
            total += length;
        }
        int flags = check(rx, begin, parts, total);
        for (int i = 0; i < parts; i++) {
            side.complete(into, chunks[first++ & mask], flags | (i < parts - 1 ? WcFlags.CONTINUES : 0), length(rx,
                    begin
                            + i));
            flags = 0;
        }
        side.count(parts, total, 1);
    }

    private static int length(XskRing rx, int i) {
        return Math.min((int) rx.lengthAndOptions(i), XdpLimits.RECEIVE_BYTES);
    }

    /** Where the part of a frame goes, that one from the first which is not complete. */
    private long placeOf(int part) {
        return ReceiveSide.frameAt(chunks[first + part & mask]);
    }

    private int check(XskRing rx, int begin, int parts, int total) {
        boolean begun = side.beginCheck(placeOf(0), length(rx, begin), total, side.isPartial());
        for (int i = 0; begun && i < parts; i++) {
            side.addToCheck(placeOf(i), length(rx, begin + i));
        }
        return side.endCheck();
    }
}
