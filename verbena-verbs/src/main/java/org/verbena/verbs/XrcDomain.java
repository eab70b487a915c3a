// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.List;

import org.verbena.linux.Errno;

/**
 * An extended reliable connection domain, {@code struct ibv_xrcd}: what joins queue pairs of type
 * {@link QueuePairType#XRC_RECV} with shared receive queues of type {@link SharedReceiveQueueType#XRC}, of one process
 * or of several that opened the domain by the same file. A message that comes in on the one names the other by its
 * number, so that one connection between two hosts reaches every process there.
 *
 * {@snippet :
 * XrcDomain domain = context.openXrcDomain(XrcDomainAttributes.builder()
 *         .file(Path.of("/run/app/domain")).openFlags(XrcDomainAttributes.CREATE).build());
 * SharedReceiveQueue srq = pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(1024)
 *         .type(SharedReceiveQueueType.XRC).xrcDomain(domain).completionQueue(cq).build());
 * QueuePair target = domain.createQueuePair(QueuePairInitAttributes.builderXrcReceive().build());
 * // the peer, on a queue pair of type XRC_SEND that is connected to the target:
 * int error = qp.sendQueue().start().send(id, 0).remoteSharedReceiveQueue(number).sge(region, 0, 64).complete();
 * }
 *
 * <p>{@link #close()} leaves the domain, {@code ibv_close_xrcd}: with {@code EBUSY} while a queue or queue pair was
 * made on this object and is open. A domain lives until the last context that opened it has left. Safe for use by
 * several threads.
 */
public abstract class XrcDomain extends VerbsObject {
    private static final int MAX_NUMBER = 0xffffff;

    private final Context context;

    /** For providers. */
    protected XrcDomain(Context context) throws VerbsException {
        super(List.of(context));
        this.context = context;
    }

    /** The context the domain was opened from. */
    public final Context context() {
        return context;
    }

    /**
     * Creates a queue pair of type {@link QueuePairType#XRC_RECV}, {@code ibv_create_qp_ex} with
     * {@code IBV_QP_INIT_ATTR_XRCD}, in state {@link QueuePairState#RESET}.
     *
     * @param attributes see {@link QueuePairInitAttributes#builderXrcReceive()}; sizes and completion queues are of no
     *        meaning
     * @throws VerbsException {@code EINVAL} for another type, or an attribute that such a queue pair cannot have,
     *         {@code EOPNOTSUPP} for one that the provider does not know, {@code ENOMEM} if the device has no queue
     *        pair left
     */
    public final QueuePair createQueuePair(QueuePairInitAttributes attributes) throws VerbsException {
        String verb = "create QP on " + describe();
        checkOpen(verb);
        checkType(verb, attributes.type());
        if (attributes.has(QueuePairInitAttributes.IND_TABLE | QueuePairInitAttributes.RX_HASH
                | QueuePairInitAttributes.MAX_TSO_HEADER | QueuePairInitAttributes.SEND_OPS_FLAGS
                | QueuePairInitAttributes.SHARED_RECEIVE_QUEUE)) {
            throw new VerbsException(verb, Errno.EINVAL,
                    "a queue pair of type XRC_RECV posts nothing, and messages name "
                            + "the queue that they take receives from: " + QueuePairInitAttributes.names(attributes
                                    .compMask())
                            + " cannot be set");
        }
        QueuePairChecks.supported(verb, attributes, context);
        QueuePairChecks.createFlags(verb, attributes);
        return implCreateQueuePair(attributes.toBuilder().maxSendWr(0).maxReceiveWr(0).maxSendSge(0).maxReceiveSge(0)
                .maxInlineData(0).build());
    }

    /**
     * Opens a queue pair of the domain that another process, or this one, has created, {@code ibv_open_qp}: the same
     * queue pair with one more handle. It lives until its last handle is closed.
     *
     * @param attributes number and type are needed
     * @throws VerbsException {@code EINVAL} for another type than {@link QueuePairType#XRC_RECV}, or if the domain has
     *        no queue pair of that number, {@code EOPNOTSUPP} if the provider cannot, or does not know an attribute,
     *        {@code ETIMEDOUT} if the process that made it does not answer
     */
    public final QueuePair openQueuePair(QueuePairOpenAttributes attributes) throws VerbsException {
        String verb = "open QP 0x" + Integer.toHexString(attributes.number()) + " of " + describe();
        checkOpen(verb);
        int needed = QueuePairOpenAttributes.NUM | QueuePairOpenAttributes.TYPE;
        int missing = needed & ~attributes.compMask();
        if (missing != 0) {
            throw new VerbsException(verb, Errno.EINVAL, QueuePairOpenAttributes.names(missing) + " must be set");
        }
        checkType(verb, attributes.type());
        if (attributes.number() < 0 || attributes.number() > MAX_NUMBER) {
            throw new VerbsException(verb, Errno.EINVAL, "a number has 24 bits");
        }
        CompMask.check(verb, attributes.compMask(), supportedQueuePairOpenMask(), QueuePairOpenAttributes::names,
                context.device().name());
        return implOpenQueuePair(attributes);
    }

    private static void checkType(String verb, int type) throws VerbsException {
        if (type != QueuePairType.XRC_RECV) {
            throw new VerbsException(verb, Errno.EINVAL, "queue pairs of a domain are of type XRC_RECV, not "
                    + QueuePairType.toString(type));
        }
    }

    /** Creates the queue pair; the attributes have been checked. */
    protected QueuePair implCreateQueuePair(QueuePairInitAttributes attributes) throws VerbsException {
        throw new VerbsException("create QP on " + describe(), Errno.EOPNOTSUPP,
                "the provider has no such queue pairs");
    }

    /** Opens the queue pair; type and range of the number have been checked. */
    protected QueuePair implOpenQueuePair(QueuePairOpenAttributes attributes) throws VerbsException {
        throw new VerbsException("open QP of " + describe(), Errno.EOPNOTSUPP, "the provider cannot");
    }

    /**
     * The bits of {@link QueuePairOpenAttributes#compMask()} that the provider knows; by default those of the start.
     */
    protected int supportedQueuePairOpenMask() {
        return QueuePairOpenAttributes.BASIC;
    }

    @Override
    int closeOrder() {
        return 3;
    }
}
