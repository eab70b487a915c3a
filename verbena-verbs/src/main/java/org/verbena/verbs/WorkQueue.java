// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;

/**
 * A work queue, {@code struct ibv_wq}: a receive queue of its own, one of those over which a
 * {@link RwqIndirectionTable} spreads packets. {@link #modify} may be called from any thread, the receive queue is used by
 * one thread at a time.
 */
public abstract class WorkQueue extends VerbsObject {
    private final WorkQueueInitAttributes init;

    /** For providers. */
    protected WorkQueue(WorkQueueInitAttributes init) throws VerbsException {
        super(List.of(init.protectionDomain(), init.completionQueue()));
        this.init = init;
    }

    /** The context that the queue was created from. */
    public final Context context() {
        return init.protectionDomain().context();
    }

    /** What the queue was created with. */
    public final WorkQueueInitAttributes initAttributes() {
        return init;
    }

    /** What the application has attached to the queue, {@code wq_context}; null if nothing. */
    public final @Nullable Object userContext() {
        return init.userContext();
    }

    /** The queue's number. */
    public abstract int number();

    /** See {@link WorkQueueState}. */
    public abstract int state();

    /** Where receives are posted, {@code ibv_post_wq_recv}. */
    public abstract ReceiveQueue receiveQueue();

    /**
     * Changes state or flags, {@code ibv_modify_wq}: RESET to RDY, RDY to ERR, ERR to RESET, RDY to RESET, and every state
     * to itself.
     *
     * @throws VerbsException {@code EINVAL} for nothing to change, a transition that does not exist, a wrong current state
     *         or an unknown flag, {@code EOPNOTSUPP} for a flag that the provider cannot change
     */
    public final void modify(WorkQueueAttributes attributes) throws VerbsException {
        String verb = "modify " + describe();
        synchronized (this) {
            checkOpen(verb);
            String s = objection(attributes, state());
            if (s != null) {
                throw new VerbsException(verb, Errno.EINVAL, s);
            }
            implModify(attributes);
        }
    }

    private static @Nullable String objection(WorkQueueAttributes a, int from) {
        if (a.mask() == 0) {
            return "there is nothing to change";
        }
        if (a.has(WorkQueueAttributes.CURR_STATE) && a.currentState() != from) {
            return "CURR_STATE is " + WorkQueueState.toString(a.currentState()) + ", but the queue is in "
                    + WorkQueueState.toString(from);
        }
        if (a.has(WorkQueueAttributes.FLAGS) && ((a.flags() | a.flagsMask()) & ~WorkQueueFlags.KNOWN) != 0) {
            return "unknown flags " + WorkQueueFlags.toString((a.flags() | a.flagsMask()) & ~WorkQueueFlags.KNOWN);
        }
        int to = a.has(WorkQueueAttributes.STATE) ? a.state() : from;
        boolean exists = to == from || to == WorkQueueState.RESET
                || to == WorkQueueState.RDY && from == WorkQueueState.RESET
                || to == WorkQueueState.ERR && from == WorkQueueState.RDY;
        return exists && to >= WorkQueueState.RESET && to <= WorkQueueState.ERR
                ? null
                : "there is no transition from " + WorkQueueState.toString(from) + " to " + WorkQueueState.toString(to);
    }

    /** Changes state or flags; the transition exists. */
    protected void implModify(WorkQueueAttributes attributes) throws VerbsException {
        throw new VerbsException("modify " + describe(), Errno.EOPNOTSUPP, "the provider cannot");
    }

    @Override
    int closeOrder() {
        return 3;
    }
}
