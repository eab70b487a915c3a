// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.jspecify.annotations.Nullable;

import org.verbena.shm.layout.LaneLayout;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.GlobalRoutingHeader;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.WallClock;

/**
 * The cursor of a completion queue: the fields of the completion that was polled last. Used by the poller alone.
 *
 * <p>A superclass and not a part of the queue, so that a poll reaches its fields without one more load.
 */
abstract class CompletionCursor extends CompletionQueue {
    private final boolean withRawTimestamps;
    private final @Nullable WallClock wallClock;

    private int queuePairNumber;
    private int sourceQueuePair;
    private long wrId;
    private long word;
    private long byteLength;
    private int immediate;
    private long timestamp;
    private int vendorError;

    CompletionCursor(ShmContext context, CompletionQueueAttributes attributes) throws VerbsException {
        super(context, attributes);
        withRawTimestamps = has(CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP);
        wallClock = has(CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP_WALLCLOCK) ? new WallClock() : null;
    }

    private boolean has(int field) {
        return (fields() & field) != 0;
    }

    /** Whether whoever completes something has to look at the clock. */
    final boolean hasTimestamps() {
        return has(CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP
                | CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP_WALLCLOCK);
    }

    /** Puts the cursor on a completion; {@code what} is as in a lane's commit: opcode, status and flags. */
    final void point(int queuePair, int source, long id, long what, long length) {
        queuePairNumber = queuePair;
        sourceQueuePair = source;
        wrId = id;
        word = what;
        byteLength = length;
    }

    /** The sender of a datagram. */
    final void setSource(int number) {
        sourceQueuePair = number;
    }

    /** What not every completion has; read only if the flags, or a status, say that it is there. */
    final void setMore(int imm, long nanos, int vendor) {
        immediate = imm;
        timestamp = nanos;
        vendorError = vendor;
    }

    @Override
    public long wrId() {
        return wrId;
    }

    @Override
    public int status() {
        return LaneLayout.status(word);
    }

    @Override
    public int opcode() {
        return LaneLayout.opcode(word);
    }

    @Override
    public int vendorError() {
        return status() == WcStatus.SUCCESS ? 0 : vendorError;
    }

    @Override
    public long byteLength() {
        return byteLength;
    }

    /** The length without the header that datagrams begin with. */
    final long payloadLength() {
        return (LaneLayout.flags(word) & LaneLayout.HAS_GRH) != 0
                ? byteLength - GlobalRoutingHeader.BYTES
                : byteLength;
    }

    @Override
    public int immediate() {
        return (LaneLayout.flags(word) & LaneLayout.HAS_IMMEDIATE) != 0 ? immediate : 0;
    }

    @Override
    public int queuePairNumber() {
        return queuePairNumber;
    }

    @Override
    public int sourceQueuePair() {
        return sourceQueuePair;
    }

    @Override
    public int flags() {
        int flags = LaneLayout.flags(word);
        return ((flags & LaneLayout.HAS_IMMEDIATE) != 0 ? WcFlags.WITH_IMM : 0)
                | ((flags & LaneLayout.HAS_GRH) != 0 ? WcFlags.GRH : 0)
                | ((flags & LaneLayout.HAS_INVALIDATE) != 0 ? WcFlags.WITH_INV : 0);
    }

    @Override
    public int invalidatedRkey() {
        return (LaneLayout.flags(word) & LaneLayout.HAS_INVALIDATE) != 0 ? immediate : 0;
    }

    @Override
    public long timestamp() {
        return withRawTimestamps && (LaneLayout.flags(word) & LaneLayout.HAS_TIMESTAMP) != 0 ? timestamp : 0;
    }

    @Override
    public long wallClockTimestamp() {
        WallClock w = wallClock;
        return w != null && (LaneLayout.flags(word) & LaneLayout.HAS_TIMESTAMP) != 0 ? w.nanosAt(timestamp) : 0;
    }
}
