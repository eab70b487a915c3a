// SPDX-License-Identifier: Apache-2.0
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.FutureTask;

import org.verbena.linux.Errno;
import org.verbena.verbs.*;

/** Two queue pairs of two contexts, connected by hand, and two connected by the manager: bytes flow both ways. */
final class Traffic implements AutoCloseable {
    final Context a = Verbs.open("shm0");
    final Context b = Verbs.open("shm0");
    final ProtectionDomain pdA = a.allocateProtectionDomain();
    final ProtectionDomain pdB = b.allocateProtectionDomain();
    final CompletionQueue cqA = a.createCompletionQueue(64);
    final CompletionQueue cqB = b.createCompletionQueue(64);
    final MemoryRegion mrA = pdA.allocate(4096, AccessFlags.ALL);
    final MemoryRegion mrB = pdB.allocate(4096, AccessFlags.ALL);
    final QueuePair qpA = queuePair(pdA, cqA);
    final QueuePair qpB = queuePair(pdB, cqB);

    Traffic() throws VerbsException {
        connect(qpA, b.queryGid(1, 0), qpB.number());
        connect(qpB, a.queryGid(1, 0), qpA.number());
    }

    static QueuePair queuePair(ProtectionDomain pd, CompletionQueue cq) throws VerbsException {
        return pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(16).maxReceiveWr(16).build());
    }

    static void connect(QueuePair qp, Gid peer, int number) throws VerbsException {
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(AccessFlags.ALL)
                .build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR).addressVector(AddressVector.to(peer))
                .destinationQueuePair(number).pathMtu(4096).rqPsn(0).maxDestReadAtomic(16).minRnrTimer(12).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).timeout(14).retryCount(7).rnrRetry(7).sqPsn(0)
                .maxReadAtomic(16).build());
    }

    void run() throws Exception {
        byHand();
        byManager();
        Say.attempt("modify without a transition", () -> {
            qpA.modify(QueuePairAttributes.to(QueuePairState.INIT).build());
            return "done";
        });
    }

    private void byHand() {
        mrA.segment().set(ValueLayout.JAVA_LONG, 0, 4711);
        require(qpB.receiveQueue().start().receive(1).sge(mrB, 1024, 1024).complete());
        require(qpA.sendQueue().start().sendImmediate(2, SendFlags.SIGNALED, 9).sge(mrA, 0, 8)
                .write(3, SendFlags.SIGNALED, mrB.rkey(), mrB.address()).sge(mrA, 0, 64)
                .fetchAndAdd(4, SendFlags.SIGNALED, mrB.rkey(), mrB.address(), 1).sge(mrA, 64, 8)
                .read(5, SendFlags.SIGNALED, mrB.rkey(), mrB.address()).sge(mrA, 128, 8).complete());
        completions("sender", cqA, 4);
        completions("receiver", cqB, 1);
        Say.line("received", mrB.segment().get(ValueLayout.JAVA_LONG, 1024));
        Say.line("read back", mrA.segment().get(ValueLayout.JAVA_LONG, 128));
    }

    private void byManager() throws Exception {
        QueuePair near = queuePair(pdA, cqA);
        QueuePair far = queuePair(pdB, cqB);
        connect(near, far, ConnectionParameters.builder().privateData((byte) 7).build(), true);
        near.close();
        far.close();
    }

    /** Connects two queue pairs by address, and sends a message. */
    void connect(QueuePair near, QueuePair far, ConnectionParameters parameters, boolean message) throws Exception {
        try (ConnectionListener listener = b.connectionManager()
                .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            FutureTask<Connection> accepted = new FutureTask<>(() -> {
                ConnectionRequest r = listener.awaitRequest(Duration.ofSeconds(20));
                return r.accept(far, ConnectionParameters.defaults());
            });
            Thread.ofPlatform().daemon().start(accepted);
            Connection c = a.connectionManager().connect(near, listener.localAddress(), parameters);
            accepted.get();
            if (message) {
                Say.line("event", c.awaitEvent(Duration.ofSeconds(20)).typeName());
                require(far.receiveQueue().start().receive(6).sge(mrB, 2048, 1024).complete());
                require(near.sendQueue().postSend(7, SendFlags.SIGNALED, mrA, 0, 8));
                completions("sender", cqA, 1);
                completions("receiver", cqB, 1);
            }
            c.disconnect();
            c.close();
            accepted.get().close();
        }
    }

    static void completions(String who, CompletionQueue cq, int count) {
        WorkCompletion[] into = WorkCompletion.array(1);
        for (int seen = 0; seen < count;) {
            if (cq.poll(into) == 0) {
                Thread.onSpinWait();
                continue;
            }
            seen++;
            WorkCompletion c = into[0];
            Say.line(who, c.wrId() + " " + WcStatus.toString(c.status()) + " " + WcOpcode.toString(c.opcode()) + " "
                    + c.byteLength() + " " + WcFlags.toString(c.flags())
                    + ((c.flags() & WcFlags.WITH_IMM) != 0 ? " " + c.immediate() : ""));
        }
    }

    static void require(int error) {
        if (error != 0) {
            throw new IllegalStateException("not posted: " + Errno.name(error));
        }
    }

    @Override
    public void close() throws VerbsException {
        a.close();
        b.close();
    }
}
