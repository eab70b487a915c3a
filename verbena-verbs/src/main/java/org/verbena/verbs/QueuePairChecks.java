// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import org.verbena.linux.Errno;

/** Checks the attributes of a queue pair to be created, on any kind of object. */
final class QueuePairChecks {
    private QueuePairChecks() {}

    /** Refuses attributes that the provider does not know. */
    static void supported(String verb, QueuePairInitAttributes a, Context context) throws VerbsException {
        CompMask.check(verb, a.compMask(), CountedCreation.known(context, context.supportedQueuePairInitMask(),
                QueuePairInitAttributes.COUNTERS), QueuePairInitAttributes::names,
                context.device().name());
    }

    /** Refuses flags that do not exist, or not for the type. */
    static void createFlags(String verb, QueuePairInitAttributes a) throws VerbsException {
        int flags = a.createFlags();
        if ((flags & ~QueuePairCreateFlags.KNOWN) != 0) {
            throw new VerbsException(verb, Errno.EINVAL, "createFlags " + QueuePairCreateFlags.toString(flags)
                    + " has unknown bits");
        }
        if ((flags & QueuePairCreateFlags.BLOCK_SELF_MCAST_LB) != 0 && a.type() != QueuePairType.UD) {
            throw new VerbsException(verb, Errno.EINVAL, "BLOCK_SELF_MCAST_LB is for queue pairs of type UD, not "
                    + QueuePairType.toString(a.type()));
        }
    }

    /** Refuses a shared receive queue that the queue pair cannot take receives from. */
    static void sharedReceiveQueue(String verb, QueuePairInitAttributes a, Context context) throws VerbsException {
        SharedReceiveQueue srq = a.sharedReceiveQueue();
        if (srq == null) {
            return;
        }
        if (srq.protectionDomain().context() != context) {
            throw new VerbsException(verb, Errno.EINVAL, "the shared receive queue belongs to another context");
        }
        if (a.type() == QueuePairType.XRC_SEND) {
            throw new VerbsException(verb, Errno.EINVAL, "a queue pair of type XRC_SEND receives nothing");
        }
        if (srq.type() != SharedReceiveQueueType.BASIC) {
            throw new VerbsException(verb, Errno.EINVAL, srq.describe() + " is of type "
                    + SharedReceiveQueueType.toString(srq.type()) + ": messages name it, no queue pair does");
        }
    }

    /** Refuses a type that is not created on a protection domain, and queues that are missing or foreign. */
    static void queues(String verb, QueuePairInitAttributes a, Context context) throws VerbsException {
        if (a.type() == QueuePairType.XRC_RECV) {
            throw new VerbsException(verb, Errno.EINVAL,
                    "queue pairs of type XRC_RECV have no protection domain: use XrcDomain.createQueuePair");
        }
        if (!a.hasCompletionQueues()) {
            throw new VerbsException(verb, Errno.EINVAL, "only queue pairs of type XRC_RECV have no completion queues");
        }
        if (a.sendCq().context() != context || a.receiveCq().context() != context) {
            throw new VerbsException(verb, Errno.EINVAL, "a completion queue belongs to another context");
        }
    }
}
