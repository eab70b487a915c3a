// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.RwqIndirectionTable;
import org.verbena.verbs.RxHashConfiguration;
import org.verbena.verbs.RxHashFields;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkQueue;
import org.verbena.verbs.WorkQueueAttributes;
import org.verbena.verbs.WorkQueueInitAttributes;
import org.verbena.verbs.WorkQueueState;

/** Work queues, each with a completion queue and a region of its own, and a table with each of them twice. */
final class SpreadEnd implements AutoCloseable {
    static final int UDP = RxHashFields.SRC_IPV4 | RxHashFields.DST_IPV4 | RxHashFields.SRC_PORT_UDP
            | RxHashFields.DST_PORT_UDP;
    static final int RECEIVES = 128;

    final Context context;
    final ProtectionDomain pd;
    final CompletionChannel channel;
    final CompletionQueue sendCq;
    final List<WorkQueue> queues = new ArrayList<>();
    final List<CompletionQueue> cqs = new ArrayList<>();
    final List<MemoryRegion> regions = new ArrayList<>();
    final RwqIndirectionTable table;

    private SpreadEnd(Context context, int log) throws VerbsException {
        this.context = context;
        pd = context.allocateProtectionDomain();
        channel = context.createCompletionChannel();
        sendCq = context.createCompletionQueue(64);
        for (int i = 0; i < 1 << log; i++) {
            cqs.add(context.createCompletionQueue(CompletionQueueAttributes.builder().cqe(RECEIVES).channel(channel)
                    .build()));
            queues.add(workQueue(cqs.getLast()));
            regions.add(pd.allocate((long) RECEIVES * RawEnd.CHUNK, AccessFlags.LOCAL_WRITE));
        }
        List<WorkQueue> twice = new ArrayList<>(queues);
        twice.addAll(queues.reversed());
        table = context.createRwqIndirectionTable(log + 1, twice);
    }

    /** An end with {@code 1 << log} work queues in RESET. */
    static SpreadEnd open(String name, int log) throws VerbsException {
        return new SpreadEnd(RawEnd.context(name), log);
    }

    /** An end with work queues in RDY that have all receives posted. */
    static SpreadEnd ready(String name, int log) throws VerbsException {
        SpreadEnd e = open(name, log);
        for (int i = 0; i < e.queues.size(); i++) {
            to(e.queues.get(i), WorkQueueState.RDY);
            e.postAll(i);
        }
        return e;
    }

    WorkQueue workQueue(CompletionQueue cq) throws VerbsException {
        return context.createWorkQueue(WorkQueueInitAttributes.builder(pd, cq).maxWr(RECEIVES).build());
    }

    void postAll(int queue) {
        for (int i = 0; i < RECEIVES; i++) {
            assertThat(post(queue, i)).isZero();
        }
    }

    int post(int queue, int chunk) {
        return queues.get(queue).receiveQueue().post(chunk, regions.get(queue), (long) chunk * RawEnd.CHUNK,
                RawEnd.CHUNK);
    }

    static void to(WorkQueue wq, int state) throws VerbsException {
        wq.modify(WorkQueueAttributes.to(state));
    }

    static RxHashConfiguration hash(byte[] key, int fields) {
        return RxHashConfiguration.of(RxHashConfiguration.TOEPLITZ, key, fields);
    }

    QueuePair queuePair(RwqIndirectionTable t, RxHashConfiguration hash, int sends) throws VerbsException {
        return pd.createQueuePair(QueuePairInitAttributes.builder(sendCq, sendCq).type(QueuePairType.RAW_PACKET)
                .maxSendWr(sends).maxSendSge(1).receiveSideScaling(t, hash).build());
    }

    /** A queue pair over the table, in RTS. */
    QueuePair ready(RxHashConfiguration hash, int sends) throws VerbsException {
        QueuePair qp = queuePair(table, hash, sends);
        start(qp);
        return qp;
    }

    static void start(QueuePair qp) throws VerbsException {
        qp.modify(QueuePairAttributes.builder().state(QueuePairState.INIT).port(1).build());
        qp.modify(QueuePairAttributes.builder().state(QueuePairState.RTR).build());
        qp.modify(QueuePairAttributes.builder().state(QueuePairState.RTS).build());
    }

    /** The next completion of a work queue; null if there is none now. */
    RawEnd.@Nullable Done poll(int queue) {
        CompletionQueue cq = cqs.get(queue);
        if (cq.startPoll() != 0) {
            return null;
        }
        assertThat(cq.queuePairNumber()).isEqualTo(queues.get(queue).number());
        RawEnd.Done d = new RawEnd.Done(cq.wrId(), cq.status(), cq.opcode(), cq.flags(), cq.byteLength());
        cq.endPoll();
        return d;
    }

    /** The next frame of a work queue, whose chunks are posted again; null if there is none now. */
    byte @Nullable [] frame(int queue) {
        byte[] frame = new byte[0];
        for (RawEnd.Done d = poll(queue); d != null; d = poll(queue)) {
            assertThat(WcStatus.toString(d.status())).isEqualTo("SUCCESS");
            assertThat(d.opcode()).isEqualTo(WcOpcode.RECV);
            byte[] all = Arrays.copyOf(frame, frame.length + (int) d.bytes());
            MemorySegment.copy(regions.get(queue).segment(), ValueLayout.JAVA_BYTE, d.wrId() * RawEnd.CHUNK
                    + RawEnd.OFFSET, all, frame.length, (int) d.bytes());
            frame = all;
            assertThat(post(queue, (int) d.wrId())).isZero();
            if ((d.flags() & WcFlags.CONTINUES) == 0) {
                return frame;
            }
        }
        assertThat(frame).isEmpty();
        return null;
    }

    @Override
    public void close() throws VerbsException {
        context.close();
    }
}
