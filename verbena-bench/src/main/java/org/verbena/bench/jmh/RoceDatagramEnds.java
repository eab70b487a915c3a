// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.jmh;

import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** Two queue pairs of type UD on two contexts of roce_lo, both of which one thread polls. */
@State(Scope.Thread)
public class RoceDatagramEnds {
    private static final int DEPTH = 16;
    private static final int BYTES = 8192;
    private static final int QKEY = 0x1234;

    private final Context first;
    private final Context second;
    private final CompletionQueue sendCq;
    private final CompletionQueue receiveCq;
    private final MemoryRegion from;
    private final MemoryRegion to;
    private final QueuePair sender;
    private final QueuePair receiver;
    private final AddressHandle handle;

    /** For JMH. */
    public RoceDatagramEnds() {
        try {
            first = Verbs.open("roce_lo");
            second = Verbs.open("roce_lo");
            ProtectionDomain sending = first.allocateProtectionDomain();
            ProtectionDomain receiving = second.allocateProtectionDomain();
            from = sending.allocate(BYTES, AccessFlags.ALL);
            to = receiving.allocate(BYTES, AccessFlags.ALL);
            sendCq = first.createCompletionQueue(DEPTH);
            receiveCq = second.createCompletionQueue(DEPTH);
            sender = ready(sending, sendCq);
            receiver = ready(receiving, receiveCq);
            handle = sending.createAddressHandle(AddressVector.to(second.queryGid(1, 0)));
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
        }
    }

    private static QueuePair ready(ProtectionDomain pd, CompletionQueue cq) throws VerbsException {
        QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.UD).maxSendWr(
                DEPTH)
                .maxReceiveWr(DEPTH).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(QKEY).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).build());
        return qp;
    }

    /** Receive, datagram, poll both; answers the bytes that arrived. */
    long round(int bytes) {
        Ends.ok(receiver.receiveQueue().post(7, to, 0, BYTES));
        Ends.ok(sender.sendQueue().start().send(1, SendFlags.SIGNALED).sge(from, 0, bytes).datagram(handle, receiver
                .number(), QKEY).complete());
        Ends.take(sendCq);
        return Ends.take(receiveCq);
    }

    /** Closes everything. */
    @TearDown(Level.Trial)
    public void close() throws VerbsException {
        first.close();
        second.close();
    }
}
