// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.Xsk;
import org.verbena.linux.XskMetadata;
import org.verbena.linux.XskRing;
import org.verbena.linux.spi.RawMemory;
import org.verbena.xdp.packet.Checksums;

/**
 * Sends by an AF_XDP socket. A frame that lies in one chunk of the region that is the socket's UMEM, with room for
 * metadata before it, is sent from there; every other one is copied to chunks of the queue pair's own, as is one whose
 * checksum is to be computed, for that is written.
 */
final class XskSender implements FrameSender {
    private static final int SHIFT = Integer.numberOfTrailingZeros(XdpLimits.CHUNK);

    private final XdpQueuePair qp;
    private final SendSide side;
    private final SendRequests requests;
    private final Xsk xsk;
    private final boolean hasMetadata;
    private final XskRing tx;
    private final XskRing completions;
    private final @Nullable SegmentedSends segments;
    private final TransmitDescriptors descriptors;
    private final MemorySegment memory;
    private final @Nullable XdpMemoryRegion region;
    private final Checksums checksums = new Checksums();
    private int unpublished;

    XskSender(XdpQueuePair qp, QueueSocket socket, @Nullable SegmentedSends segments, TransmitDescriptors descriptors,
            WireMemory memory) {
        this.qp = qp;
        side = qp.sends();
        requests = side.requests();
        xsk = socket.xsk;
        hasMetadata = socket.hasMetadata();
        tx = xsk.transmitRing();
        completions = xsk.completionRing();
        this.segments = segments;
        this.descriptors = descriptors;
        this.memory = memory.umem().segment();
        region = memory.region();
    }

    @Override
    public boolean send(int slot, int total, boolean sum) {
        if (requests.inlineLengths[slot] >= 0 || sum || requests.sgeCounts[slot] != 1 || !sendInPlace(slot)) {
            copy(slot, total, sum);
        }
        return true;
    }

    /** Sends a frame of one buffer from where it is, if that is possible. */
    private boolean sendInPlace(int slot) {
        int length = requests.length(slot, 0);
        XdpMemoryRegion r = qp.region(requests.key(slot, 0));
        if (r == null || r != region) {
            return false;
        }
        long offset = r.offset(requests.address(slot, 0), length);
        long inChunk = offset & XdpLimits.CHUNK - 1;
        if (offset < 0 || inChunk < XskMetadata.BYTES || inChunk + length > XdpLimits.CHUNK) {
            return false;
        }
        put(offset, length, 0, -1);
        return true;
    }

    private void put(long address, int length, int options, int chunk) {
        descriptors.add(address, chunk);
        if (tx.reserve(unpublished + 1)) { // always: it has an entry for each descriptor
            tx.putDescriptor(unpublished, address, length, options);
        }
        unpublished++;
    }

    /** Copies a frame to chunks of ours, and sends it from there. */
    private void copy(int slot, int total, boolean sum) {
        int pieces = (total + XdpLimits.STAGING_BYTES - 1) / XdpLimits.STAGING_BYTES;
        if (descriptors.freeCount() < pieces) { // there are as many as all requests may need
            reap();
        }
        if (!gather(slot)) {
            return;
        }
        int options = sum ? sum(total) : 0;
        int rest = total;
        for (int i = 0; i < pieces; i++) {
            int n = Math.min(rest, XdpLimits.STAGING_BYTES);
            rest -= n;
            int chunk = descriptors.take();
            put(staging(chunk), n, (rest > 0 ? Xsk.XDP_PKT_CONTD : 0) | (i == 0 ? options : 0), chunk);
        }
    }

    private static long staging(int chunk) {
        return ((long) chunk << SHIFT) + XdpLimits.STAGING_OFFSET;
    }

    /** Copies all buffers, one behind the other, to the chunks that are taken next. */
    private boolean gather(int slot) {
        int inline = requests.inlineLengths[slot];
        if (inline >= 0) {
            append(0, requests.inlineMemory(), requests.inlineAt(slot), inline);
            return true;
        }
        int filled = 0;
        for (int i = 0; i < requests.sgeCounts[slot]; i++) {
            XdpMemoryRegion r = side.region(slot, i);
            if (r == null) {
                return false;
            }
            int length = requests.length(slot, i);
            if (!append(filled, r.memory(), r.offset(requests.address(slot, i), length), length)) {
                side.failFreed(slot);
                return false;
            }
            filled += length;
        }
        return true;
    }

    private boolean append(int filled, MemorySegment from, long offset, int length) {
        int copied = 0;
        while (copied < length) {
            int at = filled + copied;
            int inPiece = at % XdpLimits.STAGING_BYTES;
            int n = Math.min(length - copied, XdpLimits.STAGING_BYTES - inPiece);
            long to = staging(descriptors.peek(at / XdpLimits.STAGING_BYTES)) + inPiece;
            try {
                RawMemory.copyOut(from, offset + copied, memory.address() + to, n);
            } catch (IllegalStateException | WrongThreadException | InternalError e) { // closed, or truncated
                return false;
            }
            copied += n;
        }
        return true;
    }

    /** Has the checksums computed, by the kernel if it can; the options of the first descriptor. */
    private int sum(int total) {
        long at = staging(descriptors.peek(0));
        if (!checksums.prepare(memory, at, Math.min(total, XdpLimits.STAGING_BYTES), total)) {
            return 0;
        }
        if (hasMetadata) {
            XskMetadata.clear(memory, at);
            XskMetadata.requestChecksum(memory, at, checksums.start(), checksums.offset());
            return Xsk.XDP_TX_METADATA;
        }
        checksums.beginSum();
        for (int summed = 0; summed < total; summed += XdpLimits.STAGING_BYTES) {
            checksums.add(memory, staging(descriptors.peek(summed / XdpLimits.STAGING_BYTES)), Math.min(total - summed,
                    XdpLimits.STAGING_BYTES));
        }
        checksums.write();
        return 0;
    }

    /** Calls the kernel until it has taken all descriptors, or cannot now. */
    @Override
    public int flush() {
        if (unpublished > 0) {
            tx.publish(unpublished);
            unpublished = 0;
        }
        for (int before = tx.pending(); before > 0;) {
            int error = xsk.kick();
            int after = tx.pending();
            if (error == Errno.ENXIO || error == Errno.ENODEV || error == Errno.EBADF) {
                return error;
            }
            if (after == before) {
                return after > 0 ? LATER : 0;
            }
            before = after;
            reap(); // or the COMPLETION ring may be full
        }
        return 0;
    }

    /** Whether the kernel has given back all that was sent; gives it what it did not take before. */
    boolean isAllDone() {
        flush();
        reap();
        return isDone(last());
    }

    @Override
    public void reap() {
        descriptors.reap(completions);
    }

    @Override
    public long last() {
        return descriptors.last();
    }

    @Override
    public boolean isDone(long number) {
        return descriptors.isDone(number);
    }

    @Override
    public boolean hasDone() {
        return completions.hasEntries();
    }

    @Override
    public @Nullable SegmentedSends segments() {
        return segments;
    }
}
