// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;

import org.verbena.linux.Errno;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionManager;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;

/**
 * Connects queue pairs of this context by librdmacm. The library opens the device a second time for itself and never
 * sees a queue pair of ours: it returns the attributes to modify them with ({@code rdma_init_qp_attr}), and is notified
 * when that is done ({@code rdma_establish}).
 */
final class RdmaConnectionManager extends ConnectionManager {
    private static final int BACKLOG = 1024;
    /** Code 12, 0.64 ms; the kernel's default is 0, which is 655 ms. */
    private static final int RNR_TIMER = 12;

    /** Entries to check of a table that has a thousand, most of them unused. */
    private static final int GIDS_CHECKED = 16;
    /** The prefix of an IPv4 address as a GID, after 8 bytes of 0. */
    private static final long IPV4 = 0xffff;

    private final RdmaContext context;
    private final CmChannel channel;

    RdmaConnectionManager(RdmaContext context, CmChannel channel) {
        this.context = context;
        this.channel = channel;
    }

    void close() {
        channel.close();
    }

    // ---- listening

    @Override
    public ConnectionListener listen(InetSocketAddress local) throws VerbsException {
        String verb = "listen on " + local + " of " + context.describe();
        context.requireOpen(verb);
        InetAddress ip = local.getAddress();
        if (ip == null) {
            throw new VerbsException(verb, Errno.EADDRNOTAVAIL, "the host name is not known");
        }
        if (ip.isLoopbackAddress() && !reachable(ip).equals(ip)) { // librdmacm accepts it, but no peer can reach it
            throw new VerbsException(verb, Errno.EADDRNOTAVAIL, ip.getHostAddress() + " is not an address of "
                    + context.describe());
        }
        CmIdentifier id = channel.create(verb);
        boolean done = false;
        try {
            listening(verb, id.bind(ip, local.getPort()), local);
            String bound = id.device(verb);
            if (!bound.isEmpty() && !bound.equals(context.describe())) {
                throw new VerbsException(verb, Errno.EADDRNOTAVAIL, ip.getHostAddress() + " is an address of " + bound);
            }
            listening(verb, id.listen(BACKLOG), local);
            RdmaConnectionListener l = new RdmaConnectionListener(context, this, id, new InetSocketAddress(ip
                    .isAnyLocalAddress() ? reachable(ip) : ip, id.port()));
            context.adopt(l);
            done = true;
            return l;
        } finally {
            if (!done) {
                id.destroy();
            }
        }
    }

    /**
     * An address at which a listener on the wildcard address is reachable: with RoCE, one that is in the GID table.
     * Else the wildcard address.
     */
    private InetAddress reachable(InetAddress any) throws VerbsException {
        int gids = Math.min(context.queryPort(1).gidTableLength(), GIDS_CHECKED);
        for (int i = 0; i < gids; i++) {
            Gid gid = context.queryGid(1, i);
            if (gid.high() == 0 && gid.low() >>> Integer.SIZE == IPV4) {
                try {
                    return InetAddress.getByAddress(ByteBuffer.allocate(Integer.BYTES).putInt((int) gid.low())
                            .array());
                } catch (UnknownHostException e) {
                    throw new AssertionError("4 bytes are an address", e);
                }
            }
        }
        return any;
    }

    /**
     * Whether an address is local, so that its port must be in use. The kernel reports that an address is not available
     * also where the port is in use, if either of the two listeners is on the wildcard address.
     */
    private boolean isOwn(InetSocketAddress local) throws VerbsException {
        if (local.getPort() == 0) {
            return false;
        }
        if (local.getAddress().isAnyLocalAddress()) {
            return true;
        }
        byte[] b = local.getAddress().getAddress();
        ByteBuffer bytes = ByteBuffer.wrap(b);
        Gid own = b.length == Integer.BYTES
                ? new Gid(0, IPV4 << Integer.SIZE | Integer.toUnsignedLong(bytes.getInt()))
                : new Gid(bytes.getLong(), bytes.getLong());
        int gids = Math.min(context.queryPort(1).gidTableLength(), GIDS_CHECKED);
        for (int i = 0; i < gids; i++) {
            if (context.queryGid(1, i).equals(own)) {
                return true;
            }
        }
        return false;
    }

    private void listening(String verb, int errno, InetSocketAddress local) throws VerbsException {
        switch (errno == Errno.EADDRNOTAVAIL && isOwn(local) ? Errno.EADDRINUSE : errno) {
            case 0 -> {
            }
            case Errno.EADDRINUSE -> throw new VerbsException(verb, Errno.EADDRINUSE, "another listener has port "
                    + local
                            .getPort());
            case Errno.EADDRNOTAVAIL, Errno.ENODEV -> throw new VerbsException(verb, Errno.EADDRNOTAVAIL, local
                    .getAddress().getHostAddress() + " is not an address of " + context.describe());
            default -> throw new VerbsException(verb, errno, Errno.text(errno));
        }
    }

    // ---- connecting

    @Override
    protected Connection implConnect(QueuePair qp, InetSocketAddress remote, ConnectionParameters parameters)
            throws VerbsException {
        String verb = "connect " + qp.describe() + " to " + remote;
        context.requireOpen(verb);
        RdmaQueuePair own = checkConnectable(verb, qp, parameters);
        if (remote.getAddress() == null) {
            throw new VerbsException(verb, Errno.EHOSTUNREACH, "the host name is not known");
        }
        long end = System.nanoTime() + parameters.timeout().toNanos();
        CmIdentifier id = channel.create(verb);
        boolean done = false;
        boolean moved = false;
        try {
            id.resolveAddress(verb, remote, millisUntil(end));
            id.await(verb, CmEvent.ADDR_RESOLVED, end);
            requireThisDevice(verb, id);
            id.resolveRoute(verb, millisUntil(end));
            id.await(verb, CmEvent.ROUTE_RESOLVED, end);
            id.connect(verb, values(own, parameters));
            CmEvent answer = id.await(verb, CmEvent.CONNECT_RESPONSE, end);
            moved = true;
            move(verb, id, own, parameters);
            RdmaConnection c = new RdmaConnection(own, id, answer.data());
            boolean established = false;
            try {
                id.establish(verb);
                established = true;
            } finally {
                if (!established) {
                    c.abandonConnection();
                }
            }
            context.adopt(c);
            c.established();
            done = true;
            return c;
        } finally {
            if (!done) {
                id.destroy();
                if (moved) {
                    own.toError();
                }
            }
        }
    }

    private static int millisUntil(long end) {
        return Math.clamp(TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime()), 1, Integer.MAX_VALUE);
    }

    private void requireThisDevice(String verb, CmIdentifier id) throws VerbsException {
        String device = id.device(verb);
        if (!device.equals(context.describe())) {
            throw new VerbsException(verb, Errno.EHOSTUNREACH, "the route leads through " + (device.isEmpty()
                    ? "no RDMA device"
                    : device) + ", not through " + context.describe());
        }
    }

    /** Rejects a queue pair that cannot be connected, or not in this way. */
    RdmaQueuePair checkConnectable(String verb, QueuePair qp, ConnectionParameters p) throws VerbsException {
        DeviceAttributes limits = context.queryDevice();
        tooMany(verb, "responder resources", p, ConnectionParameters.RESPONDER_RESOURCES, p.responderResources(), limits
                .maxQpRdAtom());
        tooMany(verb, "initiator depth", p, ConnectionParameters.INITIATOR_DEPTH, p.initiatorDepth(), limits
                .maxQpInitRdAtom());
        if (qp.context() != context) {
            throw new VerbsException(verb, Errno.EINVAL, "the queue pair belongs to another context");
        }
        if (!(qp instanceof RdmaQueuePair own) || qp.type() != QueuePairType.RC) {
            throw new VerbsException(verb, Errno.EINVAL, "librdmacm connects queue pairs of type RC here, not "
                    + QueuePairType.toString(qp.type()));
        }
        QueuePairState state = qp.isClosed() ? null : qp.state();
        if (state != QueuePairState.RESET && state != QueuePairState.INIT) {
            throw new VerbsException(verb, Errno.EINVAL, "the queue pair is " + (state == null
                    ? "closed"
                    : "in " + state) + ", must be in RESET or INIT");
        }
        return own;
    }

    private void tooMany(String verb, String what, ConnectionParameters p, int bit, int value, int most)
            throws VerbsException {
        if ((p.compMask() & bit) != 0 && value > most) {
            throw new VerbsException(verb, Errno.EINVAL, what + " " + value + ", " + context.describe() + " takes "
                    + most + " at most");
        }
    }

    private ConnectionValues values(RdmaQueuePair qp, ConnectionParameters p) {
        DeviceAttributes limits = context.queryDevice();
        return new ConnectionValues(p.privateData(), Math.min(p.responderResources(), limits.maxQpRdAtom()), Math.min(p
                .initiatorDepth(), limits.maxQpInitRdAtom()), p.retryCount(), p.rnrRetry(), qp
                        .hasSharedReceives(), qp.number());
    }

    /**
     * Connects a queue pair and moves it to RTS; returns the limits of outstanding reads and atomics, the peer's and
     * ours.
     */
    private int[] move(String verb, CmIdentifier id, RdmaQueuePair qp, ConnectionParameters p) throws VerbsException {
        ConnectionValues own = values(qp, p);
        int[] reads = new int[2];
        if (qp.state() == QueuePairState.RESET) {
            QueuePairAttributes init = id.attributes(verb, QueuePairState.INIT, s -> {
            });
            qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(init.pkeyIndex()).port(init.port())
                    .accessFlags(p.accessFlags()).build());
        }
        qp.modify(id.attributes(verb, QueuePairState.RTR, s -> {
            reads[0] = Math.min(own.responderResources(), s.getByte(Layout.QP_ATTR_MAX_DEST_RD_ATOMIC));
            s.putByte(Layout.QP_ATTR_MAX_DEST_RD_ATOMIC, reads[0]);
            s.putByte(Layout.QP_ATTR_MIN_RNR_TIMER, RNR_TIMER);
        }));
        qp.modify(id.attributes(verb, QueuePairState.RTS, s -> {
            reads[1] = Math.min(own.initiatorDepth(), s.getByte(Layout.QP_ATTR_MAX_RD_ATOMIC));
            s.putByte(Layout.QP_ATTR_MAX_RD_ATOMIC, reads[1]);
        }));
        return reads;
    }

    /** Accepts a request, for {@link RdmaConnectionRequest}. */
    Connection accept(String verb, CmIdentifier id, byte[] data, RdmaQueuePair own, ConnectionParameters p)
            throws VerbsException {
        boolean done = false;
        RdmaConnection c = null;
        try {
            int[] reads = move(verb, id, own, p);
            c = new RdmaConnection(own, id, data);
            ConnectionValues v = values(own, p);
            id.accept(verb, new ConnectionValues(v.data(), reads[0], reads[1], v.retryCount(), v.rnrRetry(), v
                    .sharedReceives(), v.queuePair()));
            id.await(verb, CmEvent.ESTABLISHED, System.nanoTime() + p.timeout().toNanos());
            context.adopt(c);
            c.established();
            done = true;
            return c;
        } finally {
            if (!done) {
                if (c != null) {
                    c.abandonConnection();
                }
                id.refuse();
                own.toError();
            }
        }
    }

    /** Whether a request arrived on this device. */
    boolean isOnThisDevice(CmIdentifier id) {
        try {
            return id.device("accept on " + context.describe()).equals(context.describe());
        } catch (VerbsException e) {
            return false;
        }
    }
}
