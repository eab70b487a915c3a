// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.jmh;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import org.verbena.bench.Loop;
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
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.SharedReceiveQueueType;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.XrcDomain;
import org.verbena.verbs.XrcDomainAttributes;

/** Receive, send, poll both, on queue pairs of other kinds than those of {@link DataPath}. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
    "-XX:+UseSerialGC"})
public class QueuePairKinds {
    private static final int DEPTH = 16;
    private static final int BYTES = 1 << 14;
    private static final int QKEY = 1;
    private static final int HEADER = 40;
    private static final int LONGEST = 4096;
    /** After this time a message that has not arrived counts as lost. */
    private static final Duration LOST = Duration.ofMillis(20);
    private static final int SENDS = 250;

    /** The kinds of sender and receiver; {@code srq}: into a shared receive queue. */
    @Param({"uc", "ud", "rc-srq", "uc-srq", "ud-srq", "xrc"}) public String kind = "";

    private Context first;
    private Context second;
    private CompletionQueue sendCq;
    private CompletionQueue receiveCq;
    private MemoryRegion from;
    private MemoryRegion to;
    private QueuePair sender;
    private SendQueue sends;
    private ReceiveQueue receives;
    private AddressHandle handle;
    private int receiver;
    private int queue;

    /** For JMH, which sets the fields. */
    @SuppressWarnings("NullAway.Init")
    public QueuePairKinds() {}

    /** Connects two contexts, and sends once. */
    @Setup(Level.Trial)
    public void open() throws VerbsException {
        first = Verbs.open("shm0");
        second = Verbs.open("shm0");
        ProtectionDomain sending = first.allocateProtectionDomain();
        ProtectionDomain receiving = second.allocateProtectionDomain();
        from = sending.allocate(BYTES, AccessFlags.ALL);
        to = receiving.allocate(BYTES, AccessFlags.ALL);
        sendCq = first.createCompletionQueue(DEPTH);
        receiveCq = second.createCompletionQueue(DEPTH);
        handle = sending.createAddressHandle(AddressVector.to(second.queryGid(1, 0)));
        int type = kind.equals("xrc")
                ? QueuePairType.XRC_SEND
                : kind.startsWith("ud")
                        ? QueuePairType.UD
                        : kind.startsWith("uc")
                                ? QueuePairType.UC
                                : QueuePairType.RC;
        sender = sending.createQueuePair(QueuePairInitAttributes.builder(sendCq, sendCq).type(type).maxSendWr(DEPTH)
                .maxReceiveWr(1).build());
        sends = sender.sendQueue();
        QueuePair target = target(receiving, type);
        receiver = target.number();
        ready(target, sender);
        ready(sender, target);
        sendOnce();
    }

    /** Unreliable messages may be lost until the two ends have connected. */
    private void sendOnce() throws VerbsException {
        Loop.check(post());
        for (int i = 0; i < SENDS; i++) {
            Loop.check(send(8).complete());
            Loop.take(sendCq);
            if (isReliable()) {
                Loop.take(receiveCq);
                return;
            }
            if (Loop.isTaken(receiveCq, LOST)) {
                return;
            }
        }
        throw new IllegalStateException("nothing arrives by " + kind);
    }

    private boolean isReliable() {
        return sender.type() == QueuePairType.RC || sender.type() == QueuePairType.XRC_SEND;
    }

    private QueuePair target(ProtectionDomain pd, int type) throws VerbsException {
        if (type == QueuePairType.XRC_SEND) {
            XrcDomain domain = second.openXrcDomain(XrcDomainAttributes.builder().fd(-1).openFlags(
                    XrcDomainAttributes.CREATE).build());
            SharedReceiveQueue srq = pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(DEPTH)
                    .type(SharedReceiveQueueType.XRC).xrcDomain(domain).completionQueue(receiveCq).build());
            receives = srq.receiveQueue();
            queue = srq.number();
            return domain.createQueuePair(QueuePairInitAttributes.builderXrcReceive().build());
        }
        QueuePairInitAttributes.Builder b = QueuePairInitAttributes.builder(receiveCq, receiveCq).type(type)
                .maxReceiveWr(DEPTH);
        if (!kind.endsWith("srq")) {
            QueuePair qp = pd.createQueuePair(b.build());
            receives = qp.receiveQueue();
            return qp;
        }
        SharedReceiveQueue srq = pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(DEPTH)
                .build());
        receives = srq.receiveQueue();
        return pd.createQueuePair(b.sharedReceiveQueue(srq).build());
    }

    private static void ready(QueuePair qp, QueuePair peer) throws VerbsException {
        QueuePairAttributes.Builder init = QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1);
        QueuePairAttributes.Builder rtr = QueuePairAttributes.to(QueuePairState.RTR);
        QueuePairAttributes.Builder rts = QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0);
        int type = qp.type();
        if (type == QueuePairType.UD) {
            init.qkey(QKEY);
        } else {
            init.accessFlags(AccessFlags.ALL);
            rtr.addressVector(AddressVector.to(peer.context().queryGid(1, 0))).pathMtu(4096)
                    .destinationQueuePair(peer.number()).rqPsn(0);
        }
        if (type == QueuePairType.RC || type == QueuePairType.XRC_RECV) {
            rtr.maxDestReadAtomic(16).minRnrTimer(1);
            rts.timeout(14);
        }
        if (type == QueuePairType.RC || type == QueuePairType.XRC_SEND) {
            rts.timeout(14).retryCount(7).rnrRetry(7).maxReadAtomic(16);
        }
        qp.modify(init.build());
        qp.modify(rtr.build());
        qp.modify(rts.build());
    }

    private int post() {
        return receives.post(7, to, 0, HEADER + LONGEST);
    }

    private SendQueue send(int bytes) {
        SendQueue q = sends.start().send(1, SendFlags.SIGNALED).sge(from, 0, bytes);
        return switch (sender.type()) {
            case QueuePairType.UD -> q.datagram(handle, receiver, QKEY);
            case QueuePairType.XRC_SEND -> q.remoteSharedReceiveQueue(queue);
            default -> q;
        };
    }

    private long round(int bytes) {
        try {
            Ends.ok(post());
            Ends.ok(send(bytes).complete());
            Ends.take(sendCq);
            return Ends.take(receiveCq);
        } catch (IllegalStateException e) {
            throw new IllegalStateException(kind + ", " + bytes + " bytes", e); // JMH does not name the benchmark of a failure
        }
    }

    /** 32 bytes, which travel in the entry. */
    @Benchmark
    public long small() {
        return round(32);
    }

    /** 4096 bytes. */
    @Benchmark
    public long large() {
        return round(LONGEST);
    }

    /** Closes everything. */
    @TearDown(Level.Trial)
    public void close() throws VerbsException {
        first.close();
        second.close();
    }
}
