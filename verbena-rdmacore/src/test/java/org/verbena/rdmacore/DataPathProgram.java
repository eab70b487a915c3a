// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;

import org.verbena.linux.Errno;
import org.verbena.verbs.*;

/** The data path over the mock, which loops back. Prints the name of each part that passed. */
final class DataPathProgram {
    private static final int ALL = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ
            | AccessFlags.REMOTE_ATOMIC;
    private static final int EVERY_OPERATION = 0x1fff & ~SendOperations.SEGMENTED_SEND;
    private static final Duration LONG = Duration.ofSeconds(20);

    private final Context context;
    private final ProtectionDomain pd;
    private final MemoryRegion region;
    private final CompletionQueue cq;
    private final WorkCompletion[] wc = WorkCompletion.array(32);

    private DataPathProgram(Context context, int fields) throws VerbsException {
        this.context = context;
        pd = context.allocateProtectionDomain();
        region = pd.allocate(65536, ALL);
        cq = context.createCompletionQueue(CompletionQueueAttributes.builder().cqe(100).fields(fields).build());
    }

    private interface Part {
        void run(DataPathProgram p) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        for (int fields : new int[] {CompletionQueueAttributes.STANDARD_FIELDS, 0xfff}) {
            part("messages", fields, p -> p.messages(p.queuePair(0)));
            part("messages by the extended interface", fields, p -> p.messages(p.queuePair(EVERY_OPERATION)));
            part("remote", fields, p -> p.remote(p.queuePair(0)));
            part("remote by the extended interface", fields, p -> p.remote(p.queuePair(EVERY_OPERATION)));
            part("refusals", fields, p -> p.refusals(p.queuePair(0), Errno.EOPNOTSUPP));
            part("refusals of the extended interface", fields, p -> p.refusals(p.queuePair(EVERY_OPERATION), 0));
            part("batches", fields, p -> p.batches(p.queuePair(0)));
            part("batches of the extended interface", fields, p -> p.batches(p.queuePair(EVERY_OPERATION)));
            part("datagrams", fields, p -> p.datagrams(0));
            part("datagrams of the extended interface", fields, p -> p.datagrams(SendOperations.SEND));
            part("shared receives", fields, DataPathProgram::sharedReceives);
            part("many completions", fields, DataPathProgram::manyCompletions);
        }
        part("extended operations", 0x7f, DataPathProgram::extendedOperations);
        part("segments", 0x7f, DataPathProgram::segments);
        part("extended fields", 0xfff, DataPathProgram::extendedFields);
        part("notification", 0x7f, DataPathProgram::notification);
        part("closed meanwhile", 0x7f, DataPathProgram::closedMeanwhile);
        System.out.println("done");
    }

    private static void part(String name, int fields, Part part) throws Exception {
        try (Context c = Verbs.open("mock0")) {
            part.run(new DataPathProgram(c, fields));
        }
        assertThat(Mock.alive()).as("native objects left by " + name).isZero();
        System.out.println(name);
    }

    private QueuePair queuePair(int operations) throws VerbsException {
        QueuePairInitAttributes.Builder b = QueuePairInitAttributes.builder(cq, cq).maxSendWr(40).maxReceiveWr(100)
                .maxSendSge(3).maxReceiveSge(1).maxInlineData(32);
        return Ends.ready(pd, cq, (operations == 0 ? b : b.sendOperations(operations)).build());
    }

    private WorkCompletion take() {
        assertThat(cq.poll(wc)).isEqualTo(1);
        return wc[0];
    }

    private String text(long offset, long length) {
        return new String(region.segment().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE),
                StandardCharsets.UTF_8);
    }

    private void messages(QueuePair qp) {
        MemorySegment m = region.segment();
        m.setString(0, "scattered ");
        m.setString(100, "message");
        assertThat(qp.receiveQueue().post(11, region, 1000, 100)).isZero();
        assertThat(qp.sendQueue().start().sendImmediate(12, SendFlags.SIGNALED, 0x01020304).sge(region, 0, 10).sge(
                region, 100, 7).complete()).isZero();
        assertThat(cq.poll(wc)).isEqualTo(2);
        assertThat(List.of(wc[0].wrId(), wc[0].byteLength(), wc[1].wrId(), wc[1].byteLength())).containsExactly(11L,
                17L, 12L, 17L);
        assertThat(List.of(wc[0].status(), wc[0].opcode(), wc[0].flags(), wc[0].immediate(), wc[0].queuePairNumber(),
                wc[0].sourceQueuePair())).containsExactly(0, WcOpcode.RECV, WcFlags.WITH_IMM, 0x01020304, qp.number(),
                        qp.number());
        assertThat(wc[1].opcode()).isEqualTo(WcOpcode.SEND);
        assertThat(text(1000, 17)).isEqualTo("scattered message");
        assertThat(qp.receiveQueue().post(13, region, 2000, 100)).isZero();
        assertThat(qp.sendQueue().start().sendInvalidate(14, 0, 0x77).inline(MemorySegment.ofArray("xxinlinexx"
                .getBytes(StandardCharsets.UTF_8)), 2, 6).complete()).isZero();
        assertThat(take().invalidatedRkey()).isEqualTo(0x77);
        assertThat(wc[0].flags()).isEqualTo(WcFlags.WITH_INV);
        assertThat(text(2000, 6)).isEqualTo("inline");
        assertThat(qp.receiveQueue().post(15, region, 3000, 100)).isZero();
        assertThat(qp.sendQueue().start().send(16, 0).complete()).isZero();
        assertThat(take().byteLength()).as("a message of no bytes").isZero();
        assertThat(qp.sendQueue().postSend(17, 0, region, 0, 1)).isZero();
        assertThat(take().status()).isEqualTo(WcStatus.RNR_RETRY_EXC_ERR);
    }

    private void remote(QueuePair qp) {
        MemorySegment m = region.segment();
        SendQueue s = qp.sendQueue();
        m.setString(0, "remote");
        long at = region.address();
        assertThat(s.postWrite(1, SendFlags.SIGNALED, region, 0, 6, region.rkey(), at + 4096)).isZero();
        assertThat(take().opcode()).isEqualTo(WcOpcode.RDMA_WRITE);
        assertThat(text(4096, 6)).isEqualTo("remote");
        assertThat(s.postRead(2, SendFlags.SIGNALED, region, 8192, 6, region.rkey(), at)).isZero();
        assertThat(take().opcode()).isEqualTo(WcOpcode.RDMA_READ);
        assertThat(text(8192, 6)).isEqualTo("remote");
        assertThat(qp.receiveQueue().start().receive(3).complete()).isZero();
        assertThat(s.start().writeImmediate(4, 0, region.rkey(), at + 5000, -2).sge(region, 0, 6).complete()).isZero();
        assertThat(take().opcode()).isEqualTo(WcOpcode.RECV_RDMA_WITH_IMM);
        assertThat(wc[0].immediate()).isEqualTo(-2);
        m.set(ValueLayout.JAVA_LONG, 6400, 40);
        assertThat(s.start().fetchAndAdd(5, SendFlags.SIGNALED, region.rkey(), at + 6400, 2).sge(region, 6408, 8)
                .complete()).isZero();
        assertThat(take().opcode()).isEqualTo(WcOpcode.FETCH_ADD);
        assertThat(s.start().compareAndSwap(6, SendFlags.SIGNALED, region.rkey(), at + 6400, 42, Long.MIN_VALUE).sge(
                region, 6416, 8).complete()).isZero();
        assertThat(take().opcode()).isEqualTo(WcOpcode.COMP_SWAP);
        assertThat(List.of(m.get(ValueLayout.JAVA_LONG, 6400), m.get(ValueLayout.JAVA_LONG, 6408), m.get(
                ValueLayout.JAVA_LONG, 6416))).containsExactly(Long.MIN_VALUE, 40L, 42L);
        assertThat(s.start().localInvalidate(7, SendFlags.SIGNALED, 0x99).complete()).isZero();
        assertThat(take().opcode()).isEqualTo(WcOpcode.LOCAL_INV);
        assertThat(s.postWrite(8, 0, region, 0, 6, region.rkey() + 1, at)).isZero();
        assertThat(take().status()).as("an error completes, signaled or not").isEqualTo(WcStatus.REM_ACCESS_ERR);
        assertThat(wc[0].vendorError()).isEqualTo(10);
        assertThat(s.postWrite(9, 0, region, 65536 - 5, 6, region.rkey(), at)).isZero();
        assertThat(take().status()).isEqualTo(WcStatus.LOC_PROT_ERR);
    }

    private void refusals(QueuePair qp, int flush) {
        SendQueue s = qp.sendQueue();
        long posts = Mock.count("post_send") + Mock.count("wr_start");
        assertThat(s.complete()).isEqualTo(Errno.EINVAL);
        assertThat(s.start().send(1, 1 << 20).complete()).isEqualTo(Errno.EINVAL);
        assertThat(s.start().send(1, SendFlags.DUMMY).complete()).isEqualTo(Errno.EOPNOTSUPP);
        assertThat(s.start().send(1, SendFlags.INLINE).complete()).as("inline() sets it").isEqualTo(Errno.EINVAL);
        assertThat(s.start().sge(region, 0, 1).complete()).as("no request yet").isEqualTo(Errno.EINVAL);
        assertThat(s.start().send(1, 0).sge(1, 0, -1).complete()).isEqualTo(Errno.EINVAL);
        assertThat(s.start().send(1, 0).sge(1, 0, 1L << 32).complete()).isEqualTo(Errno.EINVAL);
        assertThat(s.start().send(1, 0).sge(region, 0, 1).sge(region, 0, 1).sge(region, 0, 1).sge(region, 0, 1)
                .complete()).isEqualTo(Errno.EINVAL);
        MemorySegment data = MemorySegment.ofArray(new byte[100]);
        assertThat(s.start().send(1, 0).inline(data, 0, 33).complete()).as("too long").isEqualTo(Errno.EINVAL);
        assertThat(s.start().send(1, 0).inline(data, 99, 2).complete()).isEqualTo(Errno.EINVAL);
        assertThat(s.start().send(1, 0).inline(data, -1, 2).complete()).isEqualTo(Errno.EINVAL);
        assertThat(s.start().send(1, 0).inline(data, 0, 2).sge(region, 0, 1).complete()).isEqualTo(Errno.EINVAL);
        assertThat(s.start().read(1, 0, 1, 1).inline(data, 0, 2).complete()).isEqualTo(Errno.EINVAL);
        Arena closed = Arena.ofConfined();
        MemorySegment gone = closed.allocate(8);
        closed.close();
        assertThat(s.start().send(1, 0).inline(gone, 0, 8).complete()).isEqualTo(Errno.EFAULT);
        assertThat(s.start().send(1, 0).remoteSharedReceiveQueue(1).complete()).isEqualTo(Errno.EINVAL);
        assertThat(s.start().sendSegmented(1, 0, data, 0, 10, 100).complete()).isEqualTo(Errno.EOPNOTSUPP);
        assertThat(s.start().flush(1, 0, 1, 1, 1, 8, 0).complete()).isEqualTo(flush == 0 ? Errno.EINVAL : flush);
        if (flush != 0) {
            assertThat(s.start().flush(1, 0, 1, 1, 1, FlushType.GLOBAL, 0).complete()).isEqualTo(flush);
            assertThat(s.start().atomicWrite(1, 0, 1, 8, 1).complete()).isEqualTo(flush);
        }
        s.start().send(1, 0).abort();
        assertThat(s.complete()).isEqualTo(Errno.EINVAL);
        assertThat(Mock.count("post_send") + Mock.count("wr_start")).as("nothing reached the driver").isEqualTo(
                posts);
        ReceiveQueue r = qp.receiveQueue();
        assertThat(r.complete()).isEqualTo(Errno.EINVAL);
        assertThat(r.start().receive(1).sge(region, 0, 1).sge(region, 0, 1).complete()).isEqualTo(Errno.EINVAL);
        assertThat(r.start().sge(region, 0, 1).complete()).isEqualTo(Errno.EINVAL);
        assertThat(r.start().complete()).isZero();
    }

    /** Longer than the initial memory of the queues, and longer than the queues. */
    private void batches(QueuePair qp) {
        SendQueue s = qp.sendQueue();
        ReceiveQueue r = qp.receiveQueue().start();
        s.start();
        for (int i = 0; i < 40; i++) {
            r.receive(100 + i).sge(region, 1000 + i * 16, 16);
            s.send(i, SendFlags.SIGNALED).inline(MemorySegment.ofArray(new byte[] {(byte) i, 1}), 0, 2);
        }
        assertThat(r.complete()).isZero();
        assertThat(s.complete()).isZero();
        for (int i = 0; i < 80; i++) {
            assertThat(i == 0 ? cq.startPoll() : cq.nextPoll()).isZero();
            assertThat(cq.status()).isZero();
            assertThat(cq.wrId()).isEqualTo(i % 2 == 0 ? 100 + i / 2 : i / 2);
        }
        assertThat(cq.nextPoll()).isEqualTo(Errno.ENOENT);
        cq.endPoll();
        assertThat(cq.startPoll()).isEqualTo(Errno.ENOENT);
        for (int i = 0; i < 40; i++) {
            assertThat(region.segment().get(ValueLayout.JAVA_BYTE, 1000 + i * 16)).isEqualTo((byte) i);
        }
        s.start();
        for (int i = 0; i < 41; i++) {
            s.write(i, SendFlags.SIGNALED, region.rkey(), region.address()).sge(region, 0, 8);
        }
        assertThat(s.complete()).isEqualTo(Errno.ENOMEM);
        assertThat(cq.poll(wc)).as("nothing was posted").isZero();
        r.start();
        for (int i = 0; i < 101; i++) {
            r.receive(i);
        }
        assertThat(r.complete()).isEqualTo(Errno.ENOMEM);
    }

    private void datagrams(int operations) throws VerbsException {
        QueuePairInitAttributes.Builder b = QueuePairInitAttributes.builder(cq, cq).maxSendWr(4).maxReceiveWr(4)
                .maxInlineData(16);
        QueuePair qp = Ends.datagram(pd, operations == 0 ? b : b.sendOperations(operations));
        AddressHandle ah = pd.createAddressHandle(AddressVector.to(Gid.parse("::ffff:127.0.0.1")));
        assertThat(qp.receiveQueue().post(1, region, 0, 100)).isZero();
        assertThat(qp.sendQueue().start().send(2, 0).inline(MemorySegment.ofArray("udp".getBytes(
                StandardCharsets.UTF_8)), 0, 3).datagram(ah,
                        qp.number(), 9).complete()).isZero();
        assertThat(take().byteLength()).isEqualTo(43);
        assertThat(wc[0].flags()).isEqualTo(WcFlags.GRH);
        assertThat(text(40, 3)).isEqualTo("udp");
        assertThat(qp.sendQueue().start().send(2, 0).complete()).as("no destination").isEqualTo(Errno.EINVAL);
        AddressHandle foreign = context.allocateProtectionDomain().createAddressHandle(ah.vector());
        assertThat(qp.sendQueue().start().send(2, 0).datagram(foreign, qp.number(), 9).complete()).as(
                "another domain's")
                .isEqualTo(Errno.EINVAL);
        assertThat(qp.sendQueue().start().write(2, 0, 1, 1).datagram(ah, 1, 1).complete()).isEqualTo(Errno.EINVAL);
        assertThat(qp.sendQueue().start().send(2, 0).datagram(ah, 1 << 24, 1).complete()).isEqualTo(Errno.EINVAL);
    }

    private void sharedReceives() throws VerbsException {
        SharedReceiveQueue srq = pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(8).build());
        QueuePair qp = Ends.ready(pd, cq, QueuePairInitAttributes.builder(cq, cq).sharedReceiveQueue(srq).build());
        assertThat(qp.receiveQueue().post(1, region, 0, 8)).isEqualTo(Errno.EINVAL);
        assertThat(srq.receiveQueue().post(2, region, 64, 8)).isZero();
        region.segment().setString(0, "shared!");
        assertThat(qp.sendQueue().postSend(3, 0, region, 0, 8)).isZero();
        assertThat(take().wrId()).isEqualTo(2);
        assertThat(text(64, 7)).isEqualTo("shared!");
    }

    /** More than one call of ibv_poll_cq returns. */
    private void manyCompletions() throws VerbsException {
        QueuePair qp = queuePair(0);
        for (int i = 0; i < 50; i++) {
            assertThat(qp.sendQueue().postWrite(i, SendFlags.SIGNALED, region, 0, 8, region.rkey(), region.address()))
                    .isZero();
        }
        int n = 0;
        for (int k = cq.poll(wc); k > 0; k = cq.poll(wc)) {
            for (int i = 0; i < k; i++) {
                assertThat(wc[i].wrId()).isEqualTo(n++);
            }
        }
        assertThat(n).isEqualTo(50);
    }

    private void extendedOperations() {
        QueuePair qp;
        try {
            qp = queuePair(EVERY_OPERATION);
        } catch (VerbsException e) {
            throw new AssertionError(e);
        }
        SendQueue s = qp.sendQueue();
        long at = region.address();
        assertThat(s.start().flush(1, SendFlags.SIGNALED, 0x12, at, 100, FlushType.PERSISTENT, FlushType.REGION)
                .atomicWrite(2, SendFlags.SIGNALED, region.rkey(), at + 8, -5).complete()).isZero();
        assertThat(cq.poll(wc)).isEqualTo(2);
        assertThat(List.of(wc[0].opcode(), wc[1].opcode())).containsExactly(WcOpcode.FLUSH, WcOpcode.ATOMIC_WRITE);
        assertThat(List.of(Mock.argument("wr_flush", 0), Mock.argument("wr_flush", 2), Mock.argument("wr_flush", 3),
                Mock.argument("wr_flush", 4))).containsExactly(0x12L, 100L, 2L, 1L);
        assertThat(region.segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(-5);
    }

    private void segments() throws VerbsException {
        QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.RAW_PACKET)
                .maxTsoHeader(64).sendOperations(SendOperations.SEGMENTED_SEND).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).port(1).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
        qp.modify(QueuePairAttributes.to(QueuePairState.RTS).build());
        MemorySegment header = MemorySegment.ofArray(new byte[] {1, 2, 42, 4});
        assertThat(qp.sendQueue().start().sendSegmented(1, SendFlags.SIGNALED | SendFlags.IP_CSUM, header, 2, 2, 1400)
                .sge(region, 0, 4000).complete()).isZero();
        assertThat(List.of(Mock.argument("wr_send_tso", 0), Mock.argument("wr_send_tso", 1), Mock.argument(
                "wr_send_tso", 2))).containsExactly(2L, 1400L, 42L);
        assertThat(take().opcode()).isEqualTo(WcOpcode.TSO);
        assertThat(qp.sendQueue().start().send(1, 0).complete()).as("was not requested").isEqualTo(Errno.EINVAL);
    }

    private void extendedFields() throws VerbsException {
        QueuePair qp = queuePair(0);
        assertThat(qp.receiveQueue().post(1, region, 0, 8)).isZero();
        assertThat(qp.sendQueue().postSend(2, 0, region, 100, 8)).isZero();
        assertThat(cq.timestamp()).as("no cursor").isZero();
        assertThat(cq.startPoll()).isZero();
        assertThat(List.of(cq.timestamp(), cq.wallClockTimestamp(), cq.tmTag())).containsExactly(0x123456789abcdefL,
                1700000000000000001L, 0x1122334455667788L);
        assertThat(List.of(cq.cvlan(), cq.flowTag(), cq.tmPrivate(), cq.slid(), cq.serviceLevel(), cq.dlidPathBits()))
                .containsExactly(0x8123, 0x76543210, 0x99, 7, 3, 5);
        cq.endPoll();
        CompletionQueue few = context.createCompletionQueue(CompletionQueueAttributes.builder().fields(
                CompletionQueueAttributes.WITH_CVLAN).build());
        QueuePair other = Ends.ready(pd, few, QueuePairInitAttributes.builder(few, few).build());
        assertThat(other.sendQueue().postSend(2, 0, region, 100, 8)).isZero();
        assertThat(few.startPoll()).isZero();
        assertThat(List.of(few.queuePairNumber(), few.sourceQueuePair(), few.status())).as("was not requested")
                .containsExactly(0, 0, WcStatus.RNR_RETRY_EXC_ERR);
        assertThat(few.startPoll()).as("the cursor is open").isEqualTo(Errno.EINVAL);
        few.endPoll();
    }

    private void notification() throws Exception {
        CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue armed = context.createCompletionQueue(CompletionQueueAttributes.builder().cqe(10).channel(
                channel).build());
        QueuePair qp = Ends.ready(pd, armed, QueuePairInitAttributes.builder(armed, armed).build());
        assertThat(channel.await(Duration.ofMillis(10))).isNull();
        for (boolean virtual : new boolean[] {false, true}) {
            assertThat(armed.requestNotify(true)).isZero();
            assertThat(Mock.argument("req_notify_cq", 1)).isEqualTo(1);
            FutureTask<CompletionQueue> waiter = new FutureTask<>(() -> channel.await(LONG));
            Thread t = virtual ? Thread.ofVirtual().start(waiter) : Thread.ofPlatform().start(waiter);
            Thread.sleep(50);
            assertThat(qp.sendQueue().postWrite(1, SendFlags.SIGNALED, region, 0, 8, region.rkey(), region.address()))
                    .isZero();
            assertThat(waiter.get()).isSameAs(armed);
            t.join();
            assertThat(armed.poll(wc)).isEqualTo(1);
        }
        assertThat(Mock.count("ibv_ack_cq_events")).isEqualTo(2);
        FutureTask<CompletionQueue> waiter = new FutureTask<>(() -> channel.await(LONG));
        Thread t = Thread.ofVirtual().start(waiter);
        Thread.sleep(50);
        qp.close();
        armed.close();
        channel.close();
        t.join();
        assertThat(waiter.state()).as("waiting threads are notified").isEqualTo(FutureTask.State.FAILED);
        assertThat(channel.descriptor()).isEqualTo(-1);
    }

    /** Queue pairs and queues are closed while other threads post and poll: every call returns, none crashes. */
    private void closedMeanwhile() throws Exception {
        for (int round = 0; round < 50; round++) {
            CompletionQueue own = context.createCompletionQueue(CompletionQueueAttributes.builder().cqe(10).fields(round
                    % 2 == 0 ? 0x7f : 0xfff).build());
            QueuePair qp = Ends.ready(pd, own, QueuePairInitAttributes.builder(own, own).build());
            CountDownLatch begun = new CountDownLatch(2);
            Thread poster = Thread.ofPlatform().start(() -> {
                while (qp.sendQueue().postWrite(1, SendFlags.SIGNALED, region, 0, 8, region.rkey(), region
                        .address()) == 0) {
                    begun.countDown();
                }
            });
            Thread poller = Thread.ofPlatform().start(() -> {
                int result = 0;
                while (result != Errno.EINVAL) {
                    result = own.startPoll();
                    if (result == 0) {
                        own.endPoll();
                    }
                    begun.countDown();
                }
            });
            begun.await();
            qp.close();
            own.close();
            poster.join(20_000);
            poller.join(20_000);
            assertThat(poster.isAlive() || poller.isAlive()).isFalse();
        }
    }
}
