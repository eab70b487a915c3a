package org.verbena.verbs;

import java.util.List;

/**
 * A queue pair, {@code struct ibv_qp_ex}: where work is posted. {@link #modify} and {@link #query} may be called from
 * any thread; each of the two queues is used by one thread at a time, which the application sees to.
 */
public abstract class QueuePair extends VerbsObject {
    private final ProtectionDomain pd;
    private final QueuePairInitAttributes init;

    /** For providers. */
    protected QueuePair(ProtectionDomain pd, QueuePairInitAttributes init) throws VerbsException {
        super(List.of(pd, init.sendCq(), init.receiveCq()));
        this.pd = pd;
        this.init = init;
    }

    /** The protection domain. */
    public final ProtectionDomain protectionDomain() {
        return pd;
    }

    /** What the queue pair was created with; capacities are at least what was asked for. */
    public final QueuePairInitAttributes initAttributes() {
        return init;
    }

    /** See {@link QueuePairType}. */
    public final int type() {
        return init.type();
    }

    /** The number that peers name it by, 24 bits. */
    public abstract int number();

    /** The state now. */
    public abstract QueuePairState state();

    /**
     * Why the queue pair went to {@link QueuePairState#ERR}, one sentence; empty if it did not or nobody knows.
     */
    public String errorReason() {
        return "";
    }

    /** The queue for sends, writes, reads and atomics. */
    public abstract SendQueue sendQueue();

    /** The queue for receives. */
    public abstract ReceiveQueue receiveQueue();

    /**
     * Changes the state or attributes, {@code ibv_modify_qp}.
     *
     * @throws VerbsException {@code EINVAL} for a transition that does not exist, or an attribute that is missing, not
     *         allowed or out of range, which the message names; {@code EOPNOTSUPP} for one that the provider does not
     *         know
     */
    public final void modify(QueuePairAttributes attributes) throws VerbsException {
        String verb = "modify " + describe();
        synchronized (this) {
            checkOpen(verb);
            QueuePairStateMachine.check(verb, type(), state(), attributes);
            Context context = pd.context();
            CompMask.check(verb, attributes.mask(), supportedAttributes(), QueuePairAttributes::names,
                    context.device().name());
            context.checkAddressVector(verb, attributes.addressVector());
            context.checkAddressVector(verb, attributes.alternateAddressVector());
            implModify(attributes);
        }
    }

    /** The state and all attributes set so far, {@code ibv_query_qp}. */
    public abstract QueuePairAttributes query() throws VerbsException;

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
