// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import org.jspecify.annotations.Nullable;

/**
 * A peer wants to connect, {@code RDMA_CM_EVENT_CONNECT_REQUEST}. It is answered once, by {@link #accept} or
 * {@link #reject}.
 */
public abstract class ConnectionRequest {
    /** For providers. */
    protected ConnectionRequest() {}

    /** What the peer's application sent along. */
    public abstract byte[] privateData();

    /**
     * The GID that asks, which the provider has compared with the packets' sender; null if it has no such thing, as
     * shm.
     */
    public @Nullable Gid remoteGid() {
        return null;
    }

    /** The GID that is asked; null if the provider has no such thing. */
    public @Nullable Gid localGid() {
        return null;
    }

    /** The peer, for display; on shm the process. */
    public abstract String peer();

    /**
     * Accepts, {@code rdma_accept}, and waits until the peer is connected.
     *
     * @param qp a queue pair of the listener's context in state RESET or INIT
     * @throws VerbsException {@code ETIMEDOUT} or {@code ECONNRESET} if the peer has gone; {@code EINVAL} if the
     *        request was answered already or the queue pair is in another state; {@code EOPNOTSUPP} for a parameter
     *        that the provider does not know
     */
    public final Connection accept(QueuePair qp, ConnectionParameters parameters) throws VerbsException {
        CompMask.check("accept with " + qp.describe(), parameters.compMask(), supportedParametersMask(),
                ConnectionParameters::names, qp.context().device().name());
        return implAccept(qp, parameters);
    }

    /** Accepts and waits until the peer is connected; the provider knows all parameters that are set. */
    protected abstract Connection implAccept(QueuePair qp, ConnectionParameters parameters) throws VerbsException;

    /**
     * The bits of {@link ConnectionParameters#compMask()} that the provider knows; by default those up to
     * {@link ConnectionParameters#TIMEOUT}.
     */
    protected int supportedParametersMask() {
        return ConnectionParameters.BASIC;
    }

    /**
     * Rejects, {@code rdma_reject}.
     *
     * @param privateData at most {@link ConnectionParameters#MAX_PRIVATE_DATA} bytes for the peer's application
     * @throws VerbsException {@code EINVAL} if the request was answered already
     */
    public abstract void reject(byte... privateData) throws VerbsException;
}
