// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.completion;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.GlobalRoutingHeader;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.PublishedObjects;
import org.verbena.verbs.spi.WallClock;

/**
 * The cursor of a completion queue: the fields of the completion that was polled last. Used by the poller alone.
 *
 * <p>A superclass and not a part of the queue, so that a poll reaches its fields without one more load.
 */
public abstract class CompletionCursor extends CompletionQueue {
    private final boolean withRawTimestamps;
    private final @Nullable WallClock wallClock;

    /** Numbers, not the queue pair: the store of a reference may cost a fence, depending on the garbage collector. */
    private int queuePairNumber;
    private int sourceQueuePair;
    private long wrId;
    private long word;
    private long byteLength;
    private int immediate;
    private long timestamp;
    private int vendorError;
    /** Address of the cell of completions; that of empty polls follows. */
    private long cells;
    /** Completions, and empty polls. */
    private long polled;
    private long foundNothing;

    protected CompletionCursor(Context context, CompletionQueueAttributes attributes) throws VerbsException {
        super(context, attributes);
        withRawTimestamps = has(CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP);
        wallClock = has(CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP_WALLCLOCK) ? new WallClock() : null;
    }

    private boolean has(int field) {
        return (fields() & field) != 0;
    }

    /** Whether completions carry time stamps. */
    public final boolean hasTimestamps() {
        return has(CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP
                | CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP_WALLCLOCK);
    }

    /** Where completions are counted, see {@link SamplePoint#CQ_COMPLETIONS}. */
    protected final void countIn(CounterEntry counters) {
        cells = counters.cell(PublishedObjects.cell(SamplePoint.CQ_COMPLETIONS));
    }

    /** Counts an empty poll. */
    protected final void emptyPoll() {
        if (PublishedObjects.COUNTING) {
            RawMemory.putLong(cells, Long.BYTES, ++foundNothing);
        }
    }

    /**
     * Puts the cursor on a completion, and counts it.
     *
     * @param queuePair number of its queue pair, which is perhaps that of another process
     * @param source number of the queue pair at the other end
     * @param what as in a lane's commit: opcode, status and flags
     */
    public final void set(int queuePair, int source, long id, long what, long length) {
        queuePairNumber = queuePair;
        sourceQueuePair = source;
        wrId = id;
        word = what;
        byteLength = length;
        if (PublishedObjects.COUNTING) {
            // here, and not where a poll returns: a spinning loop finds nothing most of the time, and the compiler treats
            // its other branch as rare
            RawMemory.putLong(cells, 0, ++polled);
        }
    }

    /** The sender of a datagram. */
    public final void setSource(int number) {
        sourceQueuePair = number;
    }

    /** The fields that not every completion has; read only if the flags or the status announce them. */
    public final void setMore(int imm, long nanos, int vendor) {
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
    public final long payloadLength() {
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
