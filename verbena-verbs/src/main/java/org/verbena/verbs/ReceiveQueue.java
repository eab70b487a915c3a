// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/**
 * The receive side of a queue pair: post buffers for messages to come, {@code ibv_post_recv}, in the same style as
 * {@link SendQueue}. One thread at a time uses a queue. No call allocates, throws or locks.
 */
public abstract class ReceiveQueue {
    /** For providers. */
    protected ReceiveQueue() {}

    /** Opens a batch; one that was left open is dropped. */
    public abstract ReceiveQueue start();

    /** Adds a receive; its buffers follow. */
    public abstract ReceiveQueue receive(long wrId);

    /**
     * Adds a buffer to the receive.
     *
     * @param lkey key of a region with {@link AccessFlags#LOCAL_WRITE}
     * @param address first byte, as {@link MemoryRegion#address()} counts
     * @param length bytes
     */
    public abstract ReceiveQueue sge(int lkey, long address, long length);

    /** Adds {@code length} bytes from {@code offset} of a region. */
    public final ReceiveQueue sge(MemoryRegion region, long offset, long length) {
        return sge(region.lkey(), region.address() + offset, length);
    }

    /**
     * Commits the batch.
     *
     * @return 0, or: {@code EINVAL} in state RESET, for too many buffers or a closed queue pair; {@code ENOMEM} if the
     *         queue is full. Then nothing of the batch was posted.
     */
    public abstract int complete();

    /** Posts one receive of one buffer, the quickest way; answers as {@link #complete()} does. */
    public int post(long wrId, MemoryRegion region, long offset, long length) {
        return start().receive(wrId).sge(region, offset, length).complete();
    }
}
