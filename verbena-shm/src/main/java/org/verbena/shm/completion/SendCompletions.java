// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.completion;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.verbena.shm.layout.LaneLayout;
import org.verbena.verbs.WcStatus;

/**
 * Completions of a send queue on their way to the completion queue: one producer at a time, the thread that executes the
 * queue, and one consumer, the poller. There is an entry for each slot of the send queue, so it never overflows.
 */
public final class SendCompletions {
    private static final VarHandle PRODUCED;

    static {
        try {
            PRODUCED = MethodHandles.lookup().findVarHandle(SendCompletions.class, "produced", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int mask;
    private final long[] wrIds;
    private final long[] lengths;
    private final long[] frees;
    private final long[] timestamps;
    private final long[] what;
    private final int[] vendorErrors;
    private final boolean withTimestamps;
    private long produced;
    private long consumed;

    public SendCompletions(int entries, boolean withTimestamps) {
        mask = entries - 1;
        wrIds = new long[entries];
        lengths = new long[entries];
        frees = new long[entries];
        timestamps = new long[withTimestamps ? entries : 0];
        what = new long[entries];
        vendorErrors = new int[entries];
        this.withTimestamps = withTimestamps;
    }

    /** Adds a completion; {@code free} is the number of work requests whose slots are free once it was polled. */
    public void add(long wrId, int opcode, int status, int vendorError, long length, long free) {
        int i = (int) produced & mask;
        wrIds[i] = wrId;
        lengths[i] = length;
        frees[i] = free;
        what[i] = LaneLayout.commit(0, opcode, status, withTimestamps ? LaneLayout.HAS_TIMESTAMP : 0);
        if (status != WcStatus.SUCCESS) {
            vendorErrors[i] = vendorError;
        }
        if (withTimestamps) {
            timestamps[i] = System.nanoTime();
        }
        PRODUCED.setRelease(this, produced + 1);
    }

    /** True if there is a completion to be polled; the consumer only. */
    public boolean hasNext() {
        return (long) PRODUCED.getAcquire(this) != consumed;
    }

    /**
     * Moves the oldest completion, after {@link #hasNext} has found one, into the cursor; returns the number of free slots.
     *
     * @param queuePair number of the queue pair
     * @param peer number of the one that it is connected to
     */
    public long poll(CompletionCursor cq, int queuePair, int peer) {
        long c = consumed;
        int i = (int) c & mask;
        long w = what[i];
        cq.set(queuePair, peer, wrIds[i], w, lengths[i]);
        if (withTimestamps || LaneLayout.status(w) != WcStatus.SUCCESS) {
            cq.setMore(0, withTimestamps ? timestamps[i] : 0, vendorErrors[i]);
        }
        consumed = c + 1;
        return frees[i];
    }

    /** Number of completions that were polled; any thread. */
    public long consumed() {
        return consumed;
    }

    /** Number of completions that wait to be polled; any thread. */
    public long waiting() {
        return Math.max(0, (long) PRODUCED.getAcquire(this) - consumed);
    }

    /** Forgets everything; no producer and no consumer is active meanwhile. */
    public void clear() {
        consumed = produced;
    }
}
