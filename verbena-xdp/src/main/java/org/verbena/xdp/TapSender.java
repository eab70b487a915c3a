// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.Errno;
import org.verbena.linux.IoVectors;
import org.verbena.linux.Tap;
import org.verbena.linux.VnetHeader;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.WcStatus;
import org.verbena.xdp.packet.Checksums;

/**
 * Sends on a TAP interface: a call for each frame, which gathers its buffers from where they are and is done when it
 * returns. A frame whose checksums are filled in is copied before, for that is written; the sum itself is left to the
 * kernel, which computes it when it needs it.
 */
final class TapSender implements FrameSender {
    private final SendSide side;
    private final SendRequests requests;
    private final Tap tap;
    private final IoVectors places = new IoVectors(1 + XdpLimits.MAX_SGE);
    private final Checksums checksums = new Checksums();
    private final SegmentedSends segments;
    private final MemorySegment memory;
    private final long copyAt;

    TapSender(SendSide side, Tap tap, WireMemory memory) {
        this.side = side;
        this.tap = tap;
        requests = side.requests();
        segments = SegmentedSends.by(tap::send);
        this.memory = memory.umem().segment();
        copyAt = (long) memory.firstChunk() * XdpLimits.CHUNK;
    }

    @Override
    public boolean send(int slot, int total, boolean sum) {
        places.clear().add(places.header(), 0, VnetHeader.BYTES);
        if (sum) {
            if (!copy(slot)) {
                return true;
            }
            if (checksums.prepare(memory, copyAt, total, total)) {
                VnetHeader.checksum(places.header(), 0, checksums.start(), checksums.offset());
            } else {
                VnetHeader.plain(places.header(), 0);
            }
            places.add(memory, copyAt, total);
        } else {
            VnetHeader.plain(places.header(), 0);
            if (!addBuffers(slot)) {
                return true;
            }
        }
        int error = SegmentedSends.result(tap.send(places));
        if (error != 0 && error != LATER) {
            side.fail(slot, WcStatus.GENERAL_ERR, SegmentedSends.isGone(error)
                    ? ReceiveSide.GONE
                    : "the kernel does not take the frame: " + Errno.name(error));
        }
        return error != LATER;
    }

    private boolean addBuffers(int slot) {
        int inline = requests.inlineLengths[slot];
        if (inline >= 0) {
            places.add(requests.inlineMemory(), requests.inlineAt(slot), inline);
            return true;
        }
        for (int i = 0; i < requests.sgeCounts[slot]; i++) {
            XdpMemoryRegion r = side.region(slot, i);
            if (r == null) {
                return false;
            }
            int length = requests.length(slot, i);
            try {
                places.add(r.memory(), r.offset(requests.address(slot, i), length), length);
            } catch (IllegalStateException closed) {
                side.failFreed(slot);
                return false;
            }
        }
        return true;
    }

    private boolean copy(int slot) {
        int inline = requests.inlineLengths[slot];
        long to = memory.address() + copyAt;
        if (inline >= 0) {
            RawMemory.copyOut(requests.inlineMemory(), requests.inlineAt(slot), to, inline);
            return true;
        }
        for (int i = 0; i < requests.sgeCounts[slot]; i++) {
            XdpMemoryRegion r = side.region(slot, i);
            if (r == null) {
                return false;
            }
            int length = requests.length(slot, i);
            try {
                RawMemory.copyOut(r.memory(), r.offset(requests.address(slot, i), length), to, length);
            } catch (IllegalStateException | WrongThreadException | InternalError e) { // closed, or truncated
                side.failFreed(slot);
                return false;
            }
            to += length;
        }
        return true;
    }

    @Override
    public int flush() {
        return 0; // each was sent when it was taken
    }

    @Override
    public long last() {
        return -1;
    }

    @Override
    public void reap() {
        // all is done
    }

    @Override
    public boolean isDone(long number) {
        return true;
    }

    @Override
    public boolean hasDone() {
        return false; // nothing that was not seen when it was sent
    }

    @Override
    public SegmentedSends segments() {
        return segments;
    }
}
