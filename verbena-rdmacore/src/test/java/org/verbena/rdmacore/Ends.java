// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Gid;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;

/** Queue pairs that are ready to send. */
final class Ends {
    /** The attributes of the last transition. */
    static final int RTS_MASK = QueuePairAttributes.STATE | QueuePairAttributes.TIMEOUT
            | QueuePairAttributes.RETRY_CNT | QueuePairAttributes.RNR_RETRY | QueuePairAttributes.SQ_PSN
            | QueuePairAttributes.MAX_QP_RD_ATOMIC;

    private Ends() {}

    /** Creates a queue pair that sends to itself. */
    static QueuePair ready(ProtectionDomain pd, CompletionQueue cq, QueuePairInitAttributes init)
            throws VerbsException {
        QueuePair qp = pd.createQueuePair(init);
        connect(qp, qp.number());
        return qp;
    }

    static void connect(QueuePair qp, int destination) throws VerbsException {
        boolean target = qp.type() == QueuePairType.RC;
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(7).build());
        QueuePairAttributes.Builder rtr = QueuePairAttributes.to(QueuePairState.RTR).addressVector(AddressVector.to(Gid
                .parse("::ffff:127.0.0.1"))).pathMtu(1024).destinationQueuePair(destination).rqPsn(0x321);
        qp.modify((target ? rtr.maxDestReadAtomic(1).minRnrTimer(12) : rtr).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).timeout(14).retryCount(7).rnrRetry(7).sqPsn(0x123)
                .maxReadAtomic(1).build());
    }

    static QueuePair datagram(ProtectionDomain pd, CompletionQueue cq) throws VerbsException {
        return datagram(pd, QueuePairInitAttributes.builder(cq, cq));
    }

    static QueuePair datagram(ProtectionDomain pd, QueuePairInitAttributes.Builder init) throws VerbsException {
        QueuePair qp = pd.createQueuePair(init.type(QueuePairType.UD).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(9).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(1).build());
        return qp;
    }
}
