// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.late;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.Errno;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;

/** A domain whose regions are those of {@code shm0}: nothing about memory is late. */
final class LateProtectionDomain extends ProtectionDomain {
    private final LateContext context;
    private final ProtectionDomain inner;

    LateProtectionDomain(LateContext context, ProtectionDomain inner) throws VerbsException {
        super(context);
        this.context = context;
        this.inner = inner;
        context.adopt(this);
        opened();
    }

    @Override
    protected MemoryRegion implAllocate(long bytes, int access) throws VerbsException {
        return inner.allocate(bytes, access);
    }

    @Override
    protected MemoryRegion implRegister(MemorySegment memory, int access) throws VerbsException {
        return inner.register(memory, access);
    }

    @Override
    protected QueuePair implCreateQueuePair(QueuePairInitAttributes init) throws VerbsException {
        if (init.type() != QueuePairType.RC || init.sendCq() == init.receiveCq()) {
            throw new VerbsException("create QP on " + describe(), Errno.EOPNOTSUPP,
                    "only RC, with a completion queue for each direction");
        }
        LateCompletionQueue sent = (LateCompletionQueue) init.sendCq();
        QueuePair qp = inner.createQueuePair(QueuePairInitAttributes
                .builder(sent.inner, ((LateCompletionQueue) init.receiveCq()).inner)
                .maxSendWr(init.maxSendWr()).maxReceiveWr(init.maxReceiveWr()).maxSendSge(init.maxSendSge())
                .maxReceiveSge(init.maxReceiveSge()).maxInlineData(init.maxInlineData()).sqSigAll(init.sqSigAll())
                .build());
        return new LateQueuePair(context, this, init, qp, sent);
    }

    @Override
    public String describe() {
        return "late " + inner.describe();
    }

    @Override
    protected void implClose() throws VerbsException {
        inner.close();
    }
}
