// SPDX-License-Identifier: Apache-2.0
import java.lang.foreign.Arena;

import org.verbena.verbs.*;

/** Uses all features of the device null0. */
public final class UseNull {
    private UseNull() {}

    public static void main(String[] args) throws Exception {
        Say.line("devices", Verbs.devices().stream().map(Device::name).sorted().toList() + " " + Verbs.problems());
        try (Context c = Verbs.open("null0"); Arena arena = Arena.ofShared()) {
            Say.line("supports", c.supports(Feature.RC) + " " + c.supports(Feature.ATOMICS));
            ProtectionDomain pd = c.allocateProtectionDomain();
            CompletionQueue cq = c.createCompletionQueue(8);
            MemoryRegion mr = pd.register(arena.allocate(64), AccessFlags.LOCAL_WRITE);
            QueuePair qp = pd.createQueuePair(
                    QueuePairInitAttributes.builder(cq, cq).maxSendWr(4).maxReceiveWr(1).maxInlineData(8).build());
            Say.line("in RESET", qp.sendQueue().postSend(1, SendFlags.SIGNALED, mr, 0, 64));
            Traffic.connect(qp, c.queryGid(1, 0), 1);
            Say.line("receive", qp.receiveQueue().post(2, mr, 0, 64) + " " + qp.receiveQueue().post(3, mr, 0, 64));
            Say.line("send", qp.sendQueue().start().send(4, 0).sge(mr, 0, 64).write(5, SendFlags.SIGNALED, 1, 0)
                    .sge(mr, 0, 8).send(6, SendFlags.SIGNALED).inline(mr.segment(), 0, 8).complete());
            Say.line("too much inline", qp.sendQueue().start().send(7, 0).inline(mr.segment(), 0, 9).complete());
            Say.line("read", qp.sendQueue().postRead(8, SendFlags.SIGNALED, mr, 0, 8, 1, 0));
            Traffic.completions("sender", cq, 2);
            qp.modify(QueuePairAttributes.to(QueuePairState.ERR).build());
            Traffic.completions("flushed", cq, 1);
            Say.attempt("allocate", () -> pd.allocate(64, AccessFlags.LOCAL_WRITE));
            Say.attempt("atomic access", () -> pd.register(arena.allocate(8), AccessFlags.REMOTE_ATOMIC));
            Say.attempt("UD", () -> pd.createQueuePair(
                    QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.UD).build()));
            Say.attempt("close what is used", () -> {
                cq.close();
                return "closed";
            });
        }
        Say.line("end", "closed");
    }
}
