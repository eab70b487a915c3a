// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;

/**
 * A queue pair, {@code struct ibv_qp_ex}: where work is posted. {@link #modify} and {@link #query} may be called from
 * any thread; each of the two queues is used by one thread at a time, which the application sees to.
 */
public abstract class QueuePair extends VerbsObject {
    /** The number that datagrams to a multicast group are sent to. */
    public static final int MULTICAST = 0xffffff;

    private final Context context;
    private final @Nullable ProtectionDomain pd;
    private final @Nullable XrcDomain xrcDomain;
    private final QueuePairInitAttributes init;

    /** Kept reachable, so that a program that holds the queue pair need not hold its connection as well. */
    @SuppressWarnings({"unused", "UnusedVariable"}) private @Nullable Connection connection;

    /** For providers. */
    protected QueuePair(ProtectionDomain pd, QueuePairInitAttributes init) throws VerbsException {
        super(used(pd, init));
        context = pd.context();
        this.pd = pd;
        xrcDomain = null;
        this.init = init;
    }

    /** For providers: a queue pair of type {@link QueuePairType#XRC_RECV}, created or opened. */
    protected QueuePair(XrcDomain domain, QueuePairInitAttributes init) throws VerbsException {
        super(List.of(domain));
        context = domain.context();
        pd = null;
        xrcDomain = domain;
        this.init = init;
    }

    /** Notes what connects it. */
    final void connectedBy(Connection made) {
        connection = made;
    }

    private static List<VerbsObject> used(ProtectionDomain pd, QueuePairInitAttributes init) {
        List<VerbsObject> all = new ArrayList<>(List.of(pd, init.sendCq()));
        if (init.type() != QueuePairType.XRC_SEND) {
            all.add(init.receiveCq());
        }
        RwqIndirectionTable table = init.rwqIndirectionTable();
        if (table != null) {
            all.add(table);
        }
        SharedReceiveQueue srq = init.sharedReceiveQueue();
        if (srq != null) {
            all.add(srq);
        }
        return all;
    }

    /** The context it was created from. */
    public final Context context() {
        return context;
    }

    /**
     * The protection domain.
     *
     * @throws IllegalStateException for a queue pair of type {@link QueuePairType#XRC_RECV}, which has none: the shared
     *         receive queue that a message names has one
     */
    public final ProtectionDomain protectionDomain() {
        if (pd == null) {
            throw new IllegalStateException("a queue pair of type XRC_RECV has no protection domain");
        }
        return pd;
    }

    /** The domain of a queue pair of type {@link QueuePairType#XRC_RECV}; null for other types. */
    public final @Nullable XrcDomain xrcDomain() {
        return xrcDomain;
    }

    /** What the queue pair was created with; capacities are at least what was asked for. */
    public final QueuePairInitAttributes initAttributes() {
        return init;
    }

    /** See {@link QueuePairType}. */
    public final int type() {
        return init.type();
    }

    /** What the application gave when it created the queue pair, {@code qp_context}; null if nothing. */
    public final @Nullable Object userContext() {
        return init.userContext();
    }

    /** The number that peers name it by, 24 bits. */
    public abstract int number();

    /**
     * The state now. Of a queue pair of type {@link QueuePairType#XRC_RECV} that another process has made, that process
     * is asked, which may take seconds if it is stopped; then it is the state known last.
     */
    public abstract QueuePairState state();

    /**
     * Why the queue pair went to {@link QueuePairState#ERR}, one sentence; empty if it did not or the reason is
     * unknown.
     */
    public String errorReason() {
        return "";
    }

    /**
     * Binds a memory window of {@link MemoryWindow#TYPE_1}, {@code ibv_bind_mw}: posts a work request to the send
     * queue, and is called by the thread that may use that. When the request has completed ({@link WcOpcode#BIND_MW})
     * the window has a new key, and the old one is gone with what it was bound to.
     *
     * @param region with {@link AccessFlags#MW_BIND}; null, or a length of 0, leaves the window unbound
     * @param address first byte, as {@link MemoryRegion#address()} counts
     * @param access remote rights; what may be written needs {@link AccessFlags#LOCAL_WRITE} of the region
     * @return 0, or: {@code EINVAL} for a window of another type or context, a range without a region, or rights that a
     *         window cannot have; {@code EPERM} if window and region are of different protection domains; else as
     *         {@link SendQueue#complete()}. What the region forbids completes with {@link WcStatus#MW_BIND_ERR}
     */
    public final int bindMemoryWindow(MemoryWindow window, long wrId, int flags, @Nullable MemoryRegion region,
            long address, long length, int access) {
        if (window.type() != MemoryWindow.TYPE_1 || window.isClosed()
                || window.protectionDomain().context() != context
                || region == null && (address != 0 || length != 0) || (access & ~MemoryWindow.RIGHTS) != 0) {
            return Errno.EINVAL;
        }
        if (region != null && region.protectionDomain().underlying() != window.protectionDomain().underlying()) {
            return Errno.EPERM;
        }
        return implBindMemoryWindow(window, wrId, flags, region, address, length, access);
    }

    /** Posts the binding of a window of type 1; the arguments have been checked. */
    protected int implBindMemoryWindow(MemoryWindow window, long wrId, int flags, @Nullable MemoryRegion region,
            long address, long length, int access) {
        return Errno.EOPNOTSUPP;
    }

    /**
     * The queue for sends, writes, reads and atomics; of a queue pair of type {@link QueuePairType#XRC_RECV} it refuses
     * to post, with {@code EINVAL}.
     */
    public abstract SendQueue sendQueue();

    /**
     * The queue for receives; with a shared receive queue, and of queue pairs of the XRC types, it refuses to post,
     * with {@code EINVAL}.
     */
    public abstract ReceiveQueue receiveQueue();

    /**
     * Changes the state or attributes, {@code ibv_modify_qp}.
     *
     * @throws VerbsException {@code EINVAL} for a transition that does not exist, or an attribute that is missing, not
     *         allowed or out of range, which the message names; {@code EOPNOTSUPP} for one that the provider does not
     *         know;
     *         {@code ECONNRESET} or {@code ETIMEDOUT} if the queue pair is that of another process, which has ended or
     *         is stopped
     */
    public final void modify(QueuePairAttributes attributes) throws VerbsException {
        String verb = "modify " + describe();
        synchronized (this) {
            checkOpen(verb);
            QueuePairStateMachine.check(verb, type(), state(), attributes);
            CompMask.check(verb, attributes.mask(), supportedAttributes(), QueuePairAttributes::names,
                    context.device().name());
            context.checkAddressVector(verb, attributes.addressVector());
            context.checkAddressVector(verb, attributes.alternateAddressVector());
            implModify(attributes);
        }
    }

    /**
     * The state and all attributes set so far, {@code ibv_query_qp}.
     *
     * @throws VerbsException {@code EINVAL} if the queue pair is closed; {@code ECONNRESET} or {@code ETIMEDOUT} as
     *         {@link #modify}
     */
    public abstract QueuePairAttributes query() throws VerbsException;

    /** An answer of {@link #queryDataInOrder}: the whole of a message is written in order. */
    public static final int DATA_IN_ORDER_WHOLE_MESSAGE = 1;
    /** An answer of {@link #queryDataInOrder}: each aligned block of 128 bytes is written in order. */
    public static final int DATA_IN_ORDER_ALIGNED_128_BYTES = 2;

    /**
     * How far the bytes of a message are written to the target's memory in order, {@code ibv_query_qp_data_in_order}.
     *
     * @param operation one bit of {@link SendOperations}
     * @return {@code DATA_IN_ORDER_…} bits, 0 if nothing is promised or it is unknown
     */
    public int queryDataInOrder(int operation) {
        return 0;
    }

    /**
     * The options for the connection that the queue pair offers, {@code ibv_query_ece}.
     *
     * @throws VerbsException {@code EOPNOTSUPP} if the provider has none
     */
    public EnhancedConnection queryEnhancedConnection() throws VerbsException {
        throw new VerbsException("query ECE of " + describe(), Errno.EOPNOTSUPP, "the provider has no options");
    }

    /**
     * Chooses the options for the connection before the queue pair moves to RTR, {@code ibv_set_ece}.
     *
     * @throws VerbsException {@code EOPNOTSUPP} if the provider has none, {@code EINVAL} for other options or too late
     */
    public void setEnhancedConnection(EnhancedConnection options) throws VerbsException {
        throw new VerbsException("set ECE of " + describe(), Errno.EOPNOTSUPP, "the provider has no options");
    }

    /**
     * Limits how fast the queue pair sends, {@code ibv_modify_qp_rate_limit}; in RTS only.
     *
     * @throws VerbsException {@code EOPNOTSUPP} if the provider cannot, {@code EINVAL} for another state or limit
     */
    public void modifyRateLimit(RateLimit limit) throws VerbsException {
        throw new VerbsException("limit " + describe(), Errno.EOPNOTSUPP, "the provider does not limit rates");
    }

    /**
     * Lets the queue pair receive what is sent to a multicast group, {@code ibv_attach_mcast}. Each datagram takes one
     * receive of each queue pair that is attached; attaching twice changes nothing. A queue pair that is closed leaves
     * its groups. For queue pairs of type UD.
     *
     * @param group a multicast GID, see {@link Gid#isMulticast()}
     * @param lid the group's LID; not used where there are none
     * @throws VerbsException {@code EINVAL} for another type or GID, {@code ENOMEM} if the device has no room for more,
     *         {@code EOPNOTSUPP} if the provider has no multicast
     */
    public final void attachMulticast(Gid group, int lid) throws VerbsException {
        implAttachMulticast(checkMulticast("attach " + describe() + " to " + group, group), lid);
    }

    /**
     * Undoes {@link #attachMulticast}, {@code ibv_detach_mcast}.
     *
     * @throws VerbsException {@code EINVAL} if the queue pair is not attached to the group
     */
    public final void detachMulticast(Gid group, int lid) throws VerbsException {
        implDetachMulticast(checkMulticast("detach " + describe() + " from " + group, group), lid);
    }

    private Gid checkMulticast(String verb, Gid group) throws VerbsException {
        checkOpen(verb);
        if (type() != QueuePairType.UD) {
            throw new VerbsException(verb, Errno.EINVAL, "only queue pairs of type UD receive multicast, not "
                    + QueuePairType.toString(type()));
        }
        if (!group.isMulticast()) {
            throw new VerbsException(verb, Errno.EINVAL, "that is no multicast GID: it must begin with ff, or be an "
                    + "IPv4 multicast address");
        }
        return group;
    }

    /** Attaches; the arguments have been checked. */
    protected void implAttachMulticast(Gid group, int lid) throws VerbsException {
        throw new VerbsException("attach " + describe(), Errno.EOPNOTSUPP, "the provider has no multicast");
    }

    /** Detaches; the arguments have been checked. */
    protected void implDetachMulticast(Gid group, int lid) throws VerbsException {
        throw new VerbsException("detach " + describe(), Errno.EOPNOTSUPP, "the provider has no multicast");
    }

    /**
     * Directs packets to the queue pair, {@code ibv_create_flow}, until the flow is closed.
     *
     * @throws VerbsException {@code EINVAL} if the queue pair is not of type UD or RAW_PACKET, for an unknown type or
     *        flag, or if the specifications contradict each other; {@code EOPNOTSUPP} if the provider has no flows, or
     *        not such; {@code EPERM} if the process may not, {@code ENOMEM} if the device has no room for more
     */
    public final Flow createFlow(FlowAttributes attributes) throws VerbsException {
        String verb = "create flow on " + describe();
        checkOpen(verb);
        String s = FlowRules.objection(type(), context.queryDevice().physicalPortCount(), attributes);
        if (s != null) {
            throw new VerbsException(verb, Errno.EINVAL, s);
        }
        Counters counters = null;
        for (FlowSpec spec : attributes.specs()) {
            Counters c = spec.counters();
            if (c != null && counters != null) {
                throw new VerbsException(verb, Errno.EINVAL, "a flow is counted once: there are two COUNT actions");
            }
            counters = c == null ? counters : c;
        }
        return CountedCreation.run(verb, context, counters, ObjectType.FLOW, () -> implCreateFlow(attributes));
    }

    /** Creates a flow; the attributes have been checked for contradictions. */
    protected Flow implCreateFlow(FlowAttributes attributes) throws VerbsException {
        throw new VerbsException("create flow on " + describe(), Errno.EOPNOTSUPP, "the provider has no flows");
    }

    /** Carries out a modify that the state machine allows; called by one thread at a time. */
    protected abstract void implModify(QueuePairAttributes attributes) throws VerbsException;

    /** The attribute bits that the provider knows; by default what a connection or a datagram queue pair needs. */
    protected int supportedAttributes() {
        return QueuePairAttributes.BASIC;
    }

    @Override
    int closeOrder() {
        return 1;
    }
}
