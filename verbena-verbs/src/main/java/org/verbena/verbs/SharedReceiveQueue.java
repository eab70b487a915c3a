// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;

/**
 * A shared receive queue, {@code struct ibv_srq}: receives that any number of queue pairs take from, each when a message
 * comes. A completion is found in the completion queue of the queue pair that the message came on.
 *
 * {@snippet :
 * SharedReceiveQueue srq = pd.createSharedReceiveQueue(
 *         SharedReceiveQueueAttributes.builder().maxWr(1024).build());
 * QueuePair qp = pd.createQueuePair(
 *         QueuePairInitAttributes.builder(cq, cq).sharedReceiveQueue(srq).build());
 * int error = srq.receiveQueue().post(id, region, 0, 4096);
 * srq.modify(SharedReceiveQueueAttributes.builder().limit(100).build());
 * }
 *
 * <p>A queue of type {@link SharedReceiveQueueType#XRC} is not named by queue pairs but by messages, by its
 * {@link #number()}, and has a completion queue of its own: see {@link XrcDomain}.
 *
 * <p>If a queue pair fails, the receives stay: only those that its messages have taken complete. When it takes none any
 * more, {@link AsyncEventType#QP_LAST_WQE_REACHED} is raised. Safe for use by several threads but for
 * {@link #receiveQueue()}, which one thread at a time uses.
 */
public abstract class SharedReceiveQueue extends VerbsObject {
    private final ProtectionDomain pd;
    private final int type;
    private final @Nullable XrcDomain xrcDomain;
    private final @Nullable CompletionQueue completionQueue;

    /** For providers. */
    protected SharedReceiveQueue(ProtectionDomain pd, SharedReceiveQueueAttributes attributes) throws VerbsException {
        super(used(pd, attributes));
        this.pd = pd;
        type = attributes.type();
        xrcDomain = attributes.xrcDomain();
        completionQueue = attributes.completionQueue();
    }

    private static List<VerbsObject> used(ProtectionDomain pd, SharedReceiveQueueAttributes a) {
        List<VerbsObject> all = new ArrayList<>(List.of(pd));
        XrcDomain domain = a.xrcDomain();
        if (domain != null) {
            all.add(domain);
        }
        CompletionQueue cq = a.completionQueue();
        if (cq != null) {
            all.add(cq);
        }
        return all;
    }

    /** The protection domain, which the memory of all receives belongs to. */
    public final ProtectionDomain protectionDomain() {
        return pd;
    }

    /** See {@link SharedReceiveQueueType}. */
    public final int type() {
        return type;
    }

    /** The domain of a queue of type {@link SharedReceiveQueueType#XRC}; null for other types. */
    public final @Nullable XrcDomain xrcDomain() {
        return xrcDomain;
    }

    /** Where receives of a queue of type {@link SharedReceiveQueueType#XRC} complete; null for other types. */
    public final @Nullable CompletionQueue completionQueue() {
        return completionQueue;
    }

    /**
     * The number that messages name the queue by, 24 bits, {@code ibv_get_srq_num}.
     *
     * @throws VerbsException {@code EINVAL} if the queue is not of type {@link SharedReceiveQueueType#XRC}
     */
    public final int number() throws VerbsException {
        String verb = "get number of " + describe();
        checkOpen(verb);
        if (type != SharedReceiveQueueType.XRC) {
            throw new VerbsException(verb, Errno.EINVAL, "it is of type " + SharedReceiveQueueType.toString(type)
                    + ": only queues of type XRC have one");
        }
        return implNumber();
    }

    /** The number of a queue of type XRC. */
    protected int implNumber() throws VerbsException {
        throw new VerbsException("get number of " + describe(), Errno.EOPNOTSUPP, "the provider has no such queues");
    }

    /** Where receives are posted, {@code ibv_post_srq_recv}. */
    public abstract ReceiveQueue receiveQueue();

    /**
     * Changes the capacity or the limit, {@code ibv_modify_srq}: what was set in the attributes.
     *
     * @throws VerbsException {@code EINVAL} for a capacity that is not 1 to {@link DeviceAttributes#maxSrqWr()}, is less
     *         than the receives outstanding or than the limit, for a limit that exceeds the capacity, if nothing was
     *         set, or something that cannot be changed; {@code ENOMEM} if there is no memory for more; {@code EOPNOTSUPP} if the provider cannot resize
     */
    public final void modify(SharedReceiveQueueAttributes attributes) throws VerbsException {
        String verb = "modify " + describe();
        synchronized (this) {
            checkOpen(verb);
            int mask = attributes.mask();
            if (mask == 0) {
                throw new VerbsException(verb, Errno.EINVAL, "neither MAX_WR nor LIMIT is set");
            }
            int fixed = attributes.compMask() & SharedReceiveQueueAttributes.FIXED;
            if (fixed != 0) {
                throw new VerbsException(verb, Errno.EINVAL, SharedReceiveQueueAttributes.names(fixed)
                        + " cannot be changed");
            }
            CompMask.check(verb, attributes.compMask(), 0, SharedReceiveQueueAttributes::names,
                    pd.context().device().name());
            SharedReceiveQueueAttributes now = query();
            int maxWr = (mask & SharedReceiveQueueAttributes.MAX_WR) != 0 ? attributes.maxWr() : now.maxWr();
            int limit = (mask & SharedReceiveQueueAttributes.LIMIT) != 0 ? attributes.limit() : now.limit();
            ProtectionDomain.check(verb, "maxWr", maxWr, 1, pd.context().queryDevice().maxSrqWr());
            ProtectionDomain.check(verb, "limit", limit, 0, maxWr);
            implModify(attributes);
        }
    }

    /** Capacity, elements and limit as they are now, {@code ibv_query_srq}. */
    public final SharedReceiveQueueAttributes query() throws VerbsException {
        checkOpen("query " + describe());
        return implQuery();
    }

    /** Carries out a change whose values have been checked; called by one thread at a time. */
    protected abstract void implModify(SharedReceiveQueueAttributes attributes) throws VerbsException;

    /** What {@link #query()} answers. */
    protected abstract SharedReceiveQueueAttributes implQuery() throws VerbsException;

    @Override
    int closeOrder() {
        return 2;
    }
}
