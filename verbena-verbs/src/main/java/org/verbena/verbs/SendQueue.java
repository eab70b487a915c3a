// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.lang.foreign.MemorySegment;

/**
 * The send side of a queue pair, in the style of {@code ibv_wr_start} and {@code ibv_wr_complete}: open a batch, set
 * operations and buffers, commit once.
 *
 * {@snippet :
 * int error = qp.sendQueue().start()
 *         .write(id, SendFlags.SIGNALED, rkey, remoteAddress).sge(region, 0, 4096)
 *         .send(id + 1, SendFlags.SIGNALED).sge(region, 4096, 64)
 *         .complete();
 * }
 *
 * <p>Each operation is followed by its buffers: any number of {@code sge} calls up to {@code maxSendSge}, or one
 * {@code inline}, or none for a message of 0 bytes. The calls never fail; {@link #complete()} answers the first error,
 * and then nothing of the batch was posted. One thread at a time uses a queue. No call allocates, throws or locks, but
 * binding a window that is bound and taking a key away wait until no peer uses the old one, and the first datagram to a
 * destination sets out to find it.
 */
public abstract class SendQueue {
    /** For providers. */
    protected SendQueue() {}

    /** Opens a batch, {@code ibv_wr_start}; one that was left open is dropped. */
    public abstract SendQueue start();

    /** Adds a send, {@code ibv_wr_send}. */
    public abstract SendQueue send(long wrId, int flags);

    /** Adds a send with an immediate value, {@code ibv_wr_send_imm}. */
    public abstract SendQueue sendImmediate(long wrId, int flags, int immediate);

    /** Adds a write, {@code ibv_wr_rdma_write}. */
    public abstract SendQueue write(long wrId, int flags, int rkey, long remoteAddress);

    /** Adds a write that takes a receive at the peer, {@code ibv_wr_rdma_write_imm}. */
    public abstract SendQueue writeImmediate(long wrId, int flags, int rkey, long remoteAddress, int immediate);

    /** Adds a read, {@code ibv_wr_rdma_read}. */
    public abstract SendQueue read(long wrId, int flags, int rkey, long remoteAddress);

    /**
     * Adds a compare-and-swap of 8 bytes, {@code ibv_wr_atomic_cmp_swp}; the old value goes to the buffer of 8 bytes.
     * {@code remoteAddress} is a multiple of 8; else the request completes with {@link WcStatus#REM_INV_REQ_ERR}, and
     * {@link QueuePair#errorReason()} says so. Whether the owner's own atomic accesses may be mixed with it says
     * {@link AtomicCapability}.
     */
    public abstract SendQueue compareAndSwap(long wrId, int flags, int rkey, long remoteAddress, long compare,
            long swap);

    /**
     * Adds a fetch-and-add of 8 bytes, {@code ibv_wr_atomic_fetch_add}; the old value goes to the buffer of 8 bytes. As
     * {@link #compareAndSwap}, it needs an aligned {@code remoteAddress}.
     */
    public abstract SendQueue fetchAndAdd(long wrId, int flags, int rkey, long remoteAddress, long add);

    /**
     * Sets the destination of the datagram that was added last, {@code ibv_wr_set_ud_addr}: for queue pairs of type UD,
     * where each send needs it.
     *
     * @param to a handle of the queue pair's protection domain; it must stay open until the request has completed
     * @param remoteQueuePair number of the destination; {@link QueuePair#MULTICAST} if the handle is that of a group
     * @param remoteQkey the destination's key; with the top bit set, the queue pair's own key is sent instead
     */
    public SendQueue datagram(AddressHandle to, int remoteQueuePair, int remoteQkey) {
        return unsupported();
    }

    /**
     * Sets the shared receive queue of the request that was added last, {@code ibv_wr_set_xrc_srqn}: for queue
     * pairs of type XRC_SEND, where each request needs it, also one that takes no receive. Only what concerns this
     * process alone needs none: binding a window and taking a key away. {@code EINVAL} elsewhere; {@code EOPNOTSUPP} if
     * the provider has no XRC.
     *
     * @param number of a queue of type XRC, see {@link SharedReceiveQueue#number()}; 24 bits. The request reaches
     *        memory of that queue's protection domain, by keys of the process that has the queue
     */
    public SendQueue remoteSharedReceiveQueue(int number) {
        return unsupported();
    }

    /**
     * Adds a send of raw packets that the device cuts into segments, {@code ibv_wr_send_tso}; the buffers that follow
     * are the payload.
     *
     * @param header where the headers are that each segment begins with; they are copied now. {@code offset} and
     *        {@code length} outside it are answered with {@code EINVAL}
     * @param maxSegment bytes of payload in a segment
     */
    public SendQueue sendSegmented(long wrId, int flags, MemorySegment header, long offset, long length,
            int maxSegment) {
        return unsupported();
    }

    /**
     * Adds a send that takes a key away from the peer, {@code ibv_wr_send_inv}: one of a memory window of type 2 that
     * was bound by the receiving queue pair. It is gone when the peer's completion is there, which names it.
     *
     * @param invalidated the key, of the peer; a wrong one is an error on both ends
     */
    public SendQueue sendInvalidate(long wrId, int flags, int invalidated) {
        return unsupported();
    }

    /**
     * Adds the binding of a memory window of {@link MemoryWindow#TYPE_2}, {@code ibv_wr_bind_mw}. It takes no buffers.
     * The window must not be bound; it is this queue pair's until it is invalidated.
     *
     * @param rkey the key from now on: the window's but for the lower 8 bits, see {@link MemoryWindow#incrementRkey}
     * @param region of the window's protection domain, with {@link AccessFlags#MW_BIND}
     * @param address first byte, as {@link MemoryRegion#address()} counts
     * @param length bytes, at least 1
     * @param access remote rights, and {@link AccessFlags#ZERO_BASED} to have addresses of the window count from 0
     */
    public SendQueue bindMemoryWindow(long wrId, int flags, MemoryWindow window, int rkey, MemoryRegion region,
            long address, long length, int access) {
        return unsupported();
    }

    /**
     * Adds the invalidation of a key of this process, {@code ibv_wr_local_inv}: of a memory window of type 2. It takes
     * no buffers. When it has completed, no peer touches the memory by that key.
     */
    public SendQueue localInvalidate(long wrId, int flags, int rkey) {
        return unsupported();
    }

    /**
     * Adds a flush, {@code ibv_wr_flush}: when it has completed, what earlier requests wrote to the range is where
     * {@code type} says. It takes no buffers. Region and queue pair of the peer need {@link AccessFlags#FLUSH_GLOBAL}
     * or {@link AccessFlags#FLUSH_PERSISTENT}.
     *
     * @param type see {@link FlushType}
     * @param level {@link FlushType#RANGE}, or {@link FlushType#REGION}: address and length do not matter then
     */
    public SendQueue flush(long wrId, int flags, int rkey, long remoteAddress, long length, int type, int level) {
        return unsupported();
    }

    /**
     * Adds an atomic write of 8 bytes, {@code ibv_wr_atomic_write}. It takes no buffers.
     *
     * @param remoteAddress a multiple of 8
     * @param value in the machine's byte order
     */
    public SendQueue atomicWrite(long wrId, int flags, int rkey, long remoteAddress, long value) {
        return unsupported();
    }

    /**
     * Adds a buffer to the operation, {@code ibv_wr_set_sge}.
     *
     * @param lkey key of the region
     * @param address first byte, as {@link MemoryRegion#address()} counts
     * @param length bytes, 0 to the port's {@link PortAttributes#maxMessageSize()}
     */
    public abstract SendQueue sge(int lkey, long address, long length);

    /** Adds {@code length} bytes from {@code offset} of a region; bounds are checked when the work starts. */
    public final SendQueue sge(MemoryRegion region, long offset, long length) {
        return sge(region.lkey(), region.address() + offset, length);
    }

    /**
     * Gives the data themselves, {@code ibv_wr_set_inline_data}: they are copied now, need not be registered and may be
     * heap memory. Sets {@link SendFlags#INLINE}.
     *
     * @param data where they are; {@code offset} and {@code length} outside it are answered with {@code EINVAL}, and
     *        memory that cannot be read (its arena is closed, its file has been cut off) with {@code EFAULT}
     */
    public abstract SendQueue inline(MemorySegment data, long offset, long length);

    /**
     * Commits the batch, {@code ibv_wr_complete}.
     *
     * @return 0, or: {@code EINVAL} for an unknown flag, too many buffers, inline data that are too long, a wrong state
     *         or a closed queue pair; {@code EFAULT} for inline data that cannot be read; {@code ENOMEM} if the queue
     *        is full; {@code EOPNOTSUPP} for an operation that the provider, or the kind of memory, does not know
     */
    public abstract int complete();

    /** Drops the batch, {@code ibv_wr_abort}. */
    public abstract void abort();

    /**
     * Posts one send of one buffer: a batch of its own, and the quickest way to post it.
     *
     * @param region where the message is; {@code offset} and {@code length} in bytes
     * @return as {@link #complete()}
     */
    public int postSend(long wrId, int flags, MemoryRegion region, long offset, long length) {
        return start().send(wrId, flags).sge(region, offset, length).complete();
    }

    /**
     * Posts one write of one buffer: a batch of its own, and the quickest way to post it.
     *
     * @param region where the data are; {@code offset} and {@code length} in bytes
     * @return as {@link #complete()}
     */
    public int postWrite(long wrId, int flags, MemoryRegion region, long offset, long length, int rkey,
            long remoteAddress) {
        return start().write(wrId, flags, rkey, remoteAddress).sge(region, offset, length).complete();
    }

    /**
     * Posts one read into one buffer: a batch of its own.
     *
     * @param region where the data go; {@code offset} and {@code length} in bytes
     * @return as {@link #complete()}
     */
    public int postRead(long wrId, int flags, MemoryRegion region, long offset, long length, int rkey,
            long remoteAddress) {
        return start().read(wrId, flags, rkey, remoteAddress).sge(region, offset, length).complete();
    }

    /**
     * For providers: makes {@link #complete()} answer {@code EOPNOTSUPP}, or {@code EINVAL} if no batch is open. This
     * is what an operation of a later version does on a provider that was built before it.
     */
    protected abstract SendQueue unsupported();
}
