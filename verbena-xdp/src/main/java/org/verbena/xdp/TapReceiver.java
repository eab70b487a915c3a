// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import org.verbena.linux.IoVectors;
import org.verbena.linux.Tap;
import org.verbena.linux.VnetHeader;
import org.verbena.verbs.WcFlags;
import org.verbena.xdp.program.FlowAction;
import org.verbena.xdp.program.FlowIndex;
import org.verbena.xdp.program.PacketKey;

/**
 * Receives from a TAP interface: a call for each frame, which lies then in the chunks that were posted first. Frames wait
 * in the kernel while there are none. What belongs to no flow, or is longer than the chunks that are there, is dropped.
 */
final class TapReceiver implements FrameReceiver {
    /** Frames of no flow that are dropped in one turn. */
    private static final int MAX_DROPS = 256;

    private final ReceiveSide side;
    private final Tap tap;
    private final FlowIndex flows;
    private final PacketKey key = new PacketKey();
    /** A place more than a frame has: what arrives there does not fit. */
    private final MemorySegment rest = Arena.ofAuto().allocate(1);
    private final IoVectors places = new IoVectors(2 + XdpLimits.MAX_PIECES);
    /** How many of the chunks are among the places; -1 if they have to be set up again. */
    private int placed = -1;
    private final int[] chunks;
    private final int mask;
    private int first;
    private int next;
    private volatile boolean hasChunks;

    TapReceiver(ReceiveSide side, Tap tap, FlowIndex flows, int capacity) {
        this.side = side;
        this.tap = tap;
        this.flows = flows;
        chunks = new int[SendSide.ringSize(capacity)];
        mask = chunks.length - 1;
    }

    @Override
    public void post(long[] offsets, int n) {
        for (int i = 0; i < n; i++) {
            chunks[next++ & mask] = (int) (offsets[i] / XdpLimits.CHUNK);
        }
        if (placed < XdpLimits.MAX_PIECES) {
            placed = -1;
        }
        hasChunks = next != first;
    }

    @Override
    public boolean hasFrames() {
        return hasChunks;
    }

    @Override
    public boolean isUnfiltered() {
        return true;
    }

    private void place() {
        placed = Math.min(next - first, XdpLimits.MAX_PIECES);
        places.clear().add(places.header(), 0, VnetHeader.BYTES);
        for (int i = 0; i < placed; i++) {
            places.add(side.memory(), ReceiveSide.frameAt(chunks[first + i & mask]), XdpLimits.RECEIVE_BYTES);
        }
        places.add(rest, 0, 1);
    }

    @Override
    public int take(CompletionBatch into) {
        int drops = 0;
        while (first != next && drops < MAX_DROPS) {
            if (placed < 0) {
                place();
            }
            if (into.room() < placed) {
                return 0;
            }
            int length = (int) tap.receive(places) - VnetHeader.BYTES;
            if (length < 0) {
                int error = -(length + VnetHeader.BYTES);
                return SegmentedSends.isGone(error) ? error : 0;
            }
            if (length > placed * XdpLimits.RECEIVE_BYTES || !isOurs(length)) {
                drops++;
            } else {
                complete(into, length);
            }
        }
        return first == next ? 0 : MORE;
    }

    private boolean isOurs(int length) {
        return key.read(side.memory(), ReceiveSide.frameAt(chunks[first & mask]), Math.min(length,
                XdpLimits.RECEIVE_BYTES)) && flows.handle(key, length) == FlowAction.REDIRECT;
    }

    private void complete(CompletionBatch into, int length) {
        int flags = check(length);
        int pieces = 0;
        for (int left = length; left > 0; left -= XdpLimits.RECEIVE_BYTES) {
            boolean more = left > XdpLimits.RECEIVE_BYTES;
            side.complete(into, chunks[first++ & mask], flags | (more ? WcFlags.CONTINUES : 0), Math.min(left,
                    XdpLimits.RECEIVE_BYTES));
            flags = 0;
            pieces++;
        }
        placed = -1;
        hasChunks = next != first;
        side.count(pieces, length, 1);
    }

    /** The kernel says which packets have the sum of their pseudo-header alone. */
    private int check(int length) {
        boolean partial = (VnetHeader.flags(places.header(), 0) & VnetHeader.NEEDS_CSUM) != 0;
        boolean begun = side.beginCheck(ReceiveSide.frameAt(chunks[first & mask]), Math.min(length,
                XdpLimits.RECEIVE_BYTES), length, partial);
        for (int at = 0; begun && at < length; at += XdpLimits.RECEIVE_BYTES) {
            side.addToCheck(ReceiveSide.frameAt(chunks[first + at / XdpLimits.RECEIVE_BYTES & mask]), Math.min(length
                    - at, XdpLimits.RECEIVE_BYTES));
        }
        return side.endCheck();
    }
}
