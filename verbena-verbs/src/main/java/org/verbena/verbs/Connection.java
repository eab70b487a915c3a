// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A connected queue pair, an {@code rdma_cm_id}. Safe for use by several threads. {@link #close()} disconnects; it does
 * not close the queue pair, which cannot be closed before ({@code EBUSY}). The queue pair keeps it: a program that
 * needs it for nothing need not hold it, but has to close it to close the queue pair; closing the context closes both.
 */
public abstract class Connection extends VerbsObject {
    private final QueuePair qp;

    /** For providers. */
    @SuppressWarnings("this-escape") // it is kept, and nothing else is done with it
    protected Connection(QueuePair qp) throws VerbsException {
        super(List.of(qp));
        this.qp = qp;
        qp.connectedBy(this);
    }

    /** The queue pair. */
    public final QueuePair queuePair() {
        return qp;
    }

    /** What the peer's application sent when it connected or accepted. */
    public abstract byte[] privateData();

    /** The peer, for display; on shm the process. */
    public abstract String peer();

    /** False from the moment that either side has disconnected or the peer has died. */
    public abstract boolean isConnected();

    /**
     * Waits for the next event of the connection.
     *
     * @param timeout how long to wait at most; zero does not wait
     * @return the event, or null when the time is over or the thread was interrupted
     */
    public abstract @Nullable ConnectionEvent awaitEvent(Duration timeout) throws VerbsException;

    /**
     * Disconnects, {@code rdma_disconnect}: both queue pairs move to {@link QueuePairState#ERR} and the peer gets
     * {@link ConnectionEvent#DISCONNECTED}. Does nothing if the connection has ended already.
     */
    public abstract void disconnect() throws VerbsException;
}
