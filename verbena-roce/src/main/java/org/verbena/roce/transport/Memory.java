package org.verbena.roce.transport;

/**
 * The memory of one protection domain, as work requests and peers name it. A key, an address and a length go in; a
 * native address that may be used until the lock is released comes out, or a code below 0. Called under the context's
 * lock, which whoever deregisters memory takes as well.
 */
public interface Memory {
    /** No such key. */
    long BAD_KEY = -1;
    /** The range does not lie inside region or window. */
    long BAD_RANGE = -2;
    /** The key does not allow the access. */
    long BAD_ACCESS = -3;

    /**
     * Checks what an own work request names.
     *
     * @param lkey key of a region
     * @param address first byte as the region counts
     * @param length bytes, above 0
     * @param access {@link org.verbena.verbs.AccessFlags#LOCAL_WRITE} if it is written, 0 if it is read
     * @return the native address of the first byte, or {@code BAD_…}
     */
    long local(int lkey, long address, long length, int access);

    /**
     * Checks what a peer names. One call a message; {@link #remoteAgain} for its later packets.
     *
     * @param queuePair number of the own queue pair that the packet came to: a window of type 2 belongs to one
     * @param rkey key of a region or window
     * @param address first byte as region or window counts
     * @param length bytes of the whole message; with 0 key and access alone are checked
     * @param access exactly one of {@code REMOTE_WRITE}, {@code REMOTE_READ}, {@code REMOTE_ATOMIC},
     *        {@code FLUSH_GLOBAL}, {@code FLUSH_PERSISTENT} of {@link org.verbena.verbs.AccessFlags}
     * @return the native address of the first byte, or {@code BAD_…}
     */
    long remote(int queuePair, int rkey, long address, long length, int access);

    /** As {@link #remote}, but counts no message: the key may have been taken away since the message's first packet. */
    long remoteAgain(int queuePair, int rkey, long address, long length, int access);

    /**
     * Takes a key away.
     *
     * @param queuePair number of the own queue pair
     * @param remote true for SEND with invalidate, false for the own LOCAL_INV
     * @return 0, or {@code BAD_…} for a key that is none, or may not be invalidated by this queue pair
     */
    long invalidate(int queuePair, int rkey, boolean remote);

    /**
     * Binds the window that a work request names: {@link SendWqe#window}, {@code rkey}, {@code windowRegion},
     * {@code remoteAddress}, {@code windowLength}, {@code windowAccess}.
     *
     * @return 0, or {@code BAD_…}: the request completes with MW_BIND_ERR
     */
    long bind(int queuePair, SendWqe wqe);
}
