package org.verbena.roce.transport;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.Gid;

/**
 * The transport of a context: its queue pairs, and what makes them go on. Whoever calls holds the context's lock.
 *
 * {@snippet :
 * lock.lock();
 * transport.progress(64); // takes packets, runs timers, sends, flushes
 * long sleep = transport.nextDeadline() - wire.nanoTime();
 * lock.unlock();
 * poll(wire.descriptor(), sleep);
 * }
 */
public abstract class Transport {
    /**
     * Makes a queue pair in state RESET.
     *
     * @param number 24 bits, not used by another; 1 is for connection management
     * @param type RC, UC, UD, XRC_SEND or XRC_RECV
     * @param sends an empty ring of capacity 1 for XRC_RECV, which never uses it
     */
    public abstract TransportQueuePair create(int number, int type, QueuePairOwner owner, SendRing sends);

    /** The queue pair with a number; null if there is none. */
    public abstract @Nullable TransportQueuePair find(int number);

    /** Datagrams to a group reach this queue pair from now on. */
    public abstract void attach(TransportQueuePair queuePair, Gid group);

    /** Undoes {@link #attach}. */
    public abstract void detach(TransportQueuePair queuePair, Gid group);

    /**
     * Goes on: takes packets, answers them, runs timers that are due, sends, flushes the batch.
     *
     * @param limit packets taken at most
     * @return what was done: packets taken and timers run; 0 if there was nothing to do
     */
    public abstract int progress(int limit);

    /** Sends what {@link TransportQueuePair#post} put into the batch. */
    public abstract void flush();

    /**
     * When {@link #progress} has to be called though no packet arrives, a time of {@link Wire#nanoTime()}; may be earlier
     * than necessary.
     *
     * @return {@link Long#MAX_VALUE} if nothing waits
     */
    public abstract long nextDeadline();

    /** Packets dropped before any queue pair could count them, by reason; see {@link Drop}. */
    public abstract long dropped(Drop reason);
}
