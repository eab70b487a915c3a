package org.verbena.verbs;

import java.net.InetSocketAddress;

/**
 * Connects queue pairs by address, in the spirit of librdmacm, whatever the provider carries it by. Safe for use by
 * several threads.
 *
 * <p>One side {@linkplain #listen listens}, takes {@linkplain ConnectionListener#awaitRequest requests} and
 * {@linkplain ConnectionRequest#accept accepts} or {@linkplain ConnectionRequest#reject rejects} them; the other
 * {@linkplain #connect connects}. Both bring a queue pair in state RESET or INIT, which is moved to RTS; receives that
 * must be there for the first message are posted before, in state INIT.
 */
public abstract class ConnectionManager {
    /** For providers. */
    protected ConnectionManager() {}

    /**
     * Listens, {@code rdma_bind_addr} and {@code rdma_listen}.
     *
     * @param local address and port; the wildcard address listens on all, port 0 chooses a free one
     * @throws VerbsException {@code EADDRINUSE} if somebody listens there, {@code EADDRNOTAVAIL} if the address is not
     *         one of this device
     */
    public abstract ConnectionListener listen(InetSocketAddress local) throws VerbsException;

    /**
     * Connects, {@code rdma_resolve_addr} and {@code rdma_connect}, and waits for the answer.
     *
     * @param qp a queue pair of this context in state RESET or INIT
     * @throws VerbsException {@code ECONNREFUSED} if nobody listens or the peer rejects, see
     *         {@link ConnectionRejectedException}; {@code ETIMEDOUT} if no answer comes in time; {@code EHOSTUNREACH} if
     *         the device does not reach the address; {@code EINVAL} for a queue pair in another state;
     *         {@code EOPNOTSUPP} for a parameter that the provider does not know
     */
    public final Connection connect(QueuePair qp, InetSocketAddress remote, ConnectionParameters parameters)
            throws VerbsException {
        CompMask.check("connect " + qp.describe(), parameters.compMask(), supportedParametersMask(),
                ConnectionParameters::names, qp.context().device().name());
        return implConnect(qp, remote, parameters);
    }

    /** Connects and waits for the answer; the provider knows all parameters that are set. */
    protected abstract Connection implConnect(QueuePair qp, InetSocketAddress remote, ConnectionParameters parameters)
            throws VerbsException;

    /**
     * The bits of {@link ConnectionParameters#compMask()} that the provider knows; by default those up to
     * {@link ConnectionParameters#TIMEOUT}.
     */
    protected int supportedParametersMask() {
        return ConnectionParameters.BASIC;
    }
}
