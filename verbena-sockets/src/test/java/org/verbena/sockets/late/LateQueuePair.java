// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.late;

import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;

/** A queue pair with a late send queue. */
final class LateQueuePair extends QueuePair {
    final QueuePair inner;
    private final LateSendQueue sends;

    LateQueuePair(LateContext context, LateProtectionDomain pd, QueuePairInitAttributes init, QueuePair inner,
            LateCompletionQueue sent) throws VerbsException {
        super(pd, init);
        this.inner = inner;
        sends = new LateSendQueue(inner, init);
        sent.completes(inner.number(), sends);
        context.adopt(this);
        opened();
    }

    @Override
    public int number() {
        return inner.number();
    }

    @Override
    public QueuePairState state() {
        return inner.state();
    }

    @Override
    public String errorReason() {
        return inner.errorReason();
    }

    @Override
    public QueuePairAttributes query() throws VerbsException {
        return inner.query();
    }

    @Override
    public SendQueue sendQueue() {
        return sends;
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return inner.receiveQueue();
    }

    @Override
    protected void implModify(QueuePairAttributes attributes) throws VerbsException {
        inner.modify(attributes);
    }

    @Override
    public String describe() {
        return "late " + inner.describe();
    }

    @Override
    protected void implClose() throws VerbsException {
        sends.close();
        inner.close();
    }
}
