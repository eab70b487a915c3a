// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.net.InetSocketAddress;
import java.time.Duration;

import org.verbena.linux.Errno;

/**
 * Connects queue pairs by address, like librdmacm, by any protocol of the provider. Safe for use by
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
     * @throws VerbsException {@code EADDRINUSE} if the port has a listener, {@code EADDRNOTAVAIL} if the address is not
     *         one of this device
     */
    public abstract ConnectionListener listen(InetSocketAddress local) throws VerbsException;

    /**
     * Connects, {@code rdma_resolve_addr} and {@code rdma_connect}, and waits for the answer.
     *
     * @param qp a queue pair of this context in state RESET or INIT
     * @throws VerbsException {@code ECONNREFUSED} without a listener or if the peer rejects, see
     *         {@link ConnectionRejectedException}; {@code ETIMEDOUT} if no answer comes in time; {@code EHOSTUNREACH}
     *        if the device does not reach the address; {@code EINVAL} for a queue pair in another state; {@code
     *        EOPNOTSUPP} for a parameter that the provider does not know
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
     * Lets a queue pair be found, {@code rdma_listen} of {@code RDMA_PS_UDP}: peers that resolve it get its number and
     * Q_Key.
     *
     * @param local address and port; the wildcard address is all of the device's, port 0 chooses a free one
     * @param qp a queue pair of this context, of type UD, in state RESET or one that has a Q_Key. One in state RESET is
     *        moved to RTS with {@link DatagramService#QKEY}
     * @param privateData for peers that resolve it, at most {@link ConnectionParameters#MAX_PRIVATE_DATA} bytes
     * @throws VerbsException {@code EADDRINUSE} if the port is taken; {@code EADDRNOTAVAIL} if the address is not one
     *        of this device; {@code EINVAL} for another queue pair, or more data; {@code EOPNOTSUPP} if the provider
     *        has no such services
     */
    public final DatagramService provide(InetSocketAddress local, QueuePair qp, byte... privateData)
            throws VerbsException {
        String verb = "provide " + qp.describe() + " at " + local;
        if (qp.isClosed()) {
            throw new VerbsException(verb, Errno.EINVAL, qp.describe() + " is closed");
        }
        if (qp.type() != QueuePairType.UD) {
            throw new VerbsException(verb, Errno.EINVAL, "the queue pair is of type " + QueuePairType.toString(qp
                    .type())
                    + ", must be of type UD");
        }
        checkData(verb, privateData);
        return implProvide(verb, local, qp, privateData);
    }

    /** Lets a queue pair be found; it is of type UD, and the data are not too long. */
    protected DatagramService implProvide(String verb, InetSocketAddress local, QueuePair qp, byte[] privateData)
            throws VerbsException {
        throw new VerbsException(verb, Errno.EOPNOTSUPP, "this connection manager has no datagram services");
    }

    /**
     * Asks for the queue pair of a datagram service, {@code rdma_resolve_addr} and {@code rdma_connect} of {@code
     * RDMA_PS_UDP}, and waits for the answer.
     *
     * @param timeout how long to wait at most
     * @param privateData for the service, at most {@link ConnectionParameters#MAX_PRIVATE_DATA} bytes
     * @throws VerbsException {@code ECONNREFUSED} if there is no such service, or it refuses; {@code ETIMEDOUT} if no
     *        answer comes in time; {@code EHOSTUNREACH} if the device does not reach the address; {@code EINVAL} for
     *        more data; {@code EOPNOTSUPP} if the provider has no such services
     */
    public final DatagramPeer resolve(InetSocketAddress remote, Duration timeout, byte... privateData)
            throws VerbsException {
        String verb = "resolve the datagram service " + remote;
        checkData(verb, privateData);
        return implResolve(verb, remote, timeout, privateData);
    }

    /** Asks for the queue pair of a datagram service; the data are not too long. */
    protected DatagramPeer implResolve(String verb, InetSocketAddress remote, Duration timeout, byte[] privateData)
            throws VerbsException {
        throw new VerbsException(verb, Errno.EOPNOTSUPP, "this connection manager has no datagram services");
    }

    private static void checkData(String verb, byte[] privateData) throws VerbsException {
        if (privateData.length > ConnectionParameters.MAX_PRIVATE_DATA) {
            throw new VerbsException(verb, Errno.EINVAL, privateData.length + " bytes of private data, at most "
                    + ConnectionParameters.MAX_PRIVATE_DATA + " are carried");
        }
    }

    /**
     * The bits of {@link ConnectionParameters#compMask()} that the provider knows; by default those up to
     * {@link ConnectionParameters#TIMEOUT}.
     */
    protected int supportedParametersMask() {
        return ConnectionParameters.BASIC;
    }
}
