// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.net.InetSocketAddress;
import java.util.List;

/**
 * A queue pair of type UD that is found by an address and a port: peers that {@linkplain ConnectionManager#resolve
 * resolve} it get its number and Q_Key. A listening {@code rdma_cm_id} of {@code RDMA_PS_UDP} that accepts every peer.
 * {@link #close} ends it; the queue pair cannot be closed before. Safe for use by several threads.
 */
public abstract class DatagramService extends VerbsObject {
    /** The Q_Key that librdmacm gives to queue pairs of {@code RDMA_PS_UDP}, {@code RDMA_UDP_QKEY}. */
    public static final int QKEY = 0x0123_4567;

    private final QueuePair qp;

    /** For providers. */
    protected DatagramService(QueuePair qp) throws VerbsException {
        super(List.of(qp));
        this.qp = qp;
    }

    /** The queue pair that provides it. */
    public final QueuePair queuePair() {
        return qp;
    }

    /** The address at which it is found, with the port that was chosen. */
    public abstract InetSocketAddress localAddress();
}
