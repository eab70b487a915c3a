// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.xdp.SpreadEnd.RECEIVES;
import static org.verbena.xdp.SpreadEnd.UDP;
import static org.verbena.xdp.SpreadEnd.hash;
import static org.verbena.xdp.SpreadEnd.to;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.linux.XdpAttachment;
import org.verbena.testkit.AllocatedBytes;
import org.verbena.testkit.Await;
import org.verbena.testkit.KernelThread;
import org.verbena.testkit.Seeds;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CounterAttachAttributes;
import org.verbena.verbs.Counters;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.RwqIndirectionTable;
import org.verbena.verbs.RxHashConfiguration;
import org.verbena.verbs.RxHashFields;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkQueue;
import org.verbena.verbs.WorkQueueAttributes;
import org.verbena.verbs.WorkQueueFlags;
import org.verbena.verbs.WorkQueueInitAttributes;
import org.verbena.verbs.WorkQueueState;
import org.verbena.xdp.program.SpreadModel;

/** Work queues over four queues of an interface: what the kernel sends from many ports is spread by the hash. */
class WorkQueueTest {
    private static final int QUEUES = 4;
    private static final int PORT = 4000;

    private static FlowAttributes toPort(int port) {
        return FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, port)).build();
    }

    private static byte[] key(Random random) {
        byte[] key = new byte[RxHashConfiguration.TOEPLITZ_KEY_BYTES];
        random.nextBytes(key);
        return key;
    }

    /** A hash function whose result is 0 for every packet. */
    private static RxHashConfiguration none() {
        return hash(new byte[RxHashConfiguration.TOEPLITZ_KEY_BYTES], 0);
    }

    private static DatagramChannel peer() throws Exception {
        DatagramChannel c = DatagramChannel.open().bind(new InetSocketAddress(RawLink.KERNEL, 0));
        c.configureBlocking(false);
        return c;
    }

    /** A datagram with a number and more. */
    private static void send(DatagramChannel from, int port, int number, int more) throws Exception {
        from.send(ByteBuffer.allocate(4 + more).putInt(0, number), new InetSocketAddress(RawLink.RAW, port));
    }

    private static int number(byte[] frame) {
        return ByteBuffer.wrap(frame).getInt(Frames.UDP_HEADERS);
    }

    private static void awaitNumber(SpreadEnd end, int queue, int number) {
        byte[][] got = {null};
        Await.until("datagram " + number, () -> (got[0] = end.frame(queue)) != null);
        assertThat(number(got[0])).isEqualTo(number);
    }

    private interface Peers {
        void run(List<DatagramChannel> peers) throws Exception;
    }

    private static void withPeers(int n, Peers action) throws Exception {
        List<DatagramChannel> peers = new ArrayList<>();
        try {
            for (int i = 0; i < n; i++) {
                peers.add(peer());
            }
            action.run(peers);
        } finally {
            for (DatagramChannel c : peers) {
                c.close();
            }
        }
    }

    @Test
    void everyPacketArrivesOnceOnTheQueueThatItsHashSays() throws Exception {
        RawLink.run(1500, QUEUES, link -> withPeers(200, peers -> Seeds.each(3, random -> {
            try (SpreadEnd end = SpreadEnd.ready("other", 2)) {
                assertThat(end.context.queryDevice().maxQp()).isEqualTo(QUEUES);
                RxHashConfiguration hash = hash(key(random), UDP);
                QueuePair qp = end.ready(hash, 0);
                qp.createFlow(toPort(PORT));
                BitSet missing = new BitSet();
                int[] counts = new int[end.queues.size()];
                for (int round = 0; round < 5; round++) {
                    for (int i = 0; i < peers.size(); i++) {
                        int number = round * peers.size() + i;
                        missing.set(number);
                        send(peers.get(i), PORT, number, random.nextInt(1400));
                        send(peers.get(i), PORT + 1, -1, 0); // for the kernel
                        if (i % 50 == 49) { // no more than the rings have room for
                            Await.until("datagrams", () -> taken(end, hash, missing, counts) && missing.isEmpty(),
                                    missing::toString);
                        }
                    }
                }
                Await.never("another datagram", () -> !taken(end, hash, missing, counts));
                assertThat(counts).as("packets of each work queue").doesNotContain(0);
            }
        })));
    }

    /** Takes what has come; false if something has come that should not. */
    private static boolean taken(SpreadEnd end, RxHashConfiguration hash, BitSet missing, int[] counts) {
        for (int i = 0; i < end.queues.size(); i++) {
            for (byte[] frame = end.frame(i); frame != null; frame = end.frame(i)) {
                int number = number(frame);
                assertThat(missing.get(number)).as("datagram " + number + " comes once").isTrue();
                missing.clear(number);
                int entry = SpreadModel.hash(hash, frame) & end.table.entries().size() - 1;
                assertThat(end.queues.get(i)).isSameAs(end.table.entries().get(entry));
                counts[i]++;
            }
        }
        return true;
    }

    /** That is why there are sockets on all of them. */
    @Test
    void packetsOfOneFlowComeOnSeveralQueuesOfTheInterface() throws Exception {
        RawLink.run(1500, QUEUES, link -> withPeers(100, peers -> {
            try (RawEnd end = RawEnd.ready("other");
                    DatagramChannel kernel = DatagramChannel.open().bind(
                            new InetSocketAddress(RawLink.KERNEL, PORT))) {
                assertThat(kernel.isOpen()).isTrue();
                Flow flow = end.qp.createFlow(toPort(PORT));
                for (int i = 0; i < peers.size(); i++) {
                    send(peers.get(i), PORT, i, 0);
                }
                int received = 0;
                while (Await.within(Await.WHILE, () -> !end.isIdle())) {
                    received++;
                }
                assertThat(received).isBetween(1, peers.size() - 1);
                flow.close();
            }
        }));
    }

    @Test
    void framesOfManyPartsWaitForAsManyReceives() throws Exception {
        RawLink.run(40_000, QUEUES, link -> withPeers(1, peers -> {
            try (SpreadEnd end = SpreadEnd.open("other", 0)) {
                to(end.queues.getFirst(), WorkQueueState.RDY);
                QueuePair qp = end.ready(none(), 0);
                qp.createFlow(toPort(PORT));
                send(peers.getFirst(), PORT, 1, 20_000); // six parts
                send(peers.getFirst(), PORT, 2, 0);
                for (int i = 0; i < 5; i++) {
                    assertThat(end.post(0, i)).isZero();
                }
                Await.never("a part of a frame", () -> end.poll(0) != null);
                assertThat(end.post(0, 5)).isZero();
                byte[][] got = {null};
                Await.until("a frame", () -> (got[0] = end.frame(0)) != null);
                assertThat(got[0]).hasSize(Frames.UDP_HEADERS + 20_004);
                assertThat(number(got[0])).isEqualTo(1);
                awaitNumber(end, 0, 2);
            }
        }));
    }

    /** Packets that the program has treated. */
    private static void awaitSeen(Counters seen, long packets) throws Exception {
        long[] count = new long[1];
        Await.until(packets + " packets", () -> {
            seen.read(count, 0);
            return count[0] == packets;
        });
    }

    @Test
    void packetWithoutAReceiveLetsTheEngineSleep() throws Exception {
        RawLink.run(1500, QUEUES, link -> withPeers(1, peers -> {
            try (SpreadEnd end = SpreadEnd.open("other", 0)) {
                QueuePair qp = end.ready(none(), 0);
                to(end.queues.getFirst(), WorkQueueState.RDY);
                Counters seen = end.context.createCounters();
                seen.attach(CounterAttachAttributes.of(SamplePoint.PACKETS, 0), qp.createFlow(toPort(PORT)));
                assertThat(end.cqs.getFirst().requestNotify(false)).isZero();
                send(peers.getFirst(), PORT, 1, 0);
                awaitSeen(seen, 1);
                KernelThread.awaitAsleepIn(thread("verbena-xdp_oth"), KernelThread.EPOLL_WAIT, Duration.ofSeconds(60));
                end.postAll(0);
                awaitNumber(end, 0, 1);
            }
        }));
    }

    /** The folder of a thread of this process, whose name the kernel keeps 15 bytes of. */
    private static Path thread(String name) throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/task"))) {
            for (Path t : all.toList()) {
                if (Files.readString(t.resolve("comm")).strip().equals(name)) {
                    return t;
                }
            }
        }
        throw new AssertionError("no thread " + name);
    }

    @Test
    void statesOfWorkQueues() throws Exception {
        RawLink.run(1500, QUEUES, link -> withPeers(1, peers -> {
            DatagramChannel peer = peers.getFirst();
            try (SpreadEnd end = SpreadEnd.open("other", 0)) {
                WorkQueue wq = end.queues.getFirst();
                assertThat(wq.state()).isEqualTo(WorkQueueState.RESET);
                assertThat(end.post(0, 0)).as("in RESET").isEqualTo(Errno.EINVAL);
                QueuePair qp = end.ready(none(), 0);
                assertThat(qp.receiveQueue().post(0, end.regions.getFirst(), 0, RawEnd.CHUNK)).isNotZero();
                Counters seen = end.context.createCounters();
                seen.attach(CounterAttachAttributes.of(SamplePoint.PACKETS, 0), qp.createFlow(toPort(PORT)));
                send(peer, PORT, 1, 0); // to the kernel
                awaitSeen(seen, 1);
                to(wq, WorkQueueState.RDY);
                end.postAll(0);
                assertThat(end.post(0, 0)).as("more than maxWr").isEqualTo(Errno.ENOMEM);
                Errors.expect(Errno.EBUSY, () -> end.regions.getFirst().close(), "receives into it");
                send(peer, PORT, 2, 0);
                awaitNumber(end, 0, 2);
                send(peer, PORT, 3, 0);
                awaitSeen(seen, 3);
                Await.during(Duration.ofMillis(20)); // the program has seen it, and the socket has it at once
                to(wq, WorkQueueState.ERR);
                RawEnd.Done first = end.poll(0);
                assertThat(first).isNotNull();
                assertThat(first.status()).as("what had arrived").isEqualTo(WcStatus.SUCCESS);
                for (int i = 0; i < RECEIVES - 1; i++) {
                    RawEnd.Done d = end.poll(0);
                    assertThat(d).isNotNull();
                    assertThat(WcStatus.toString(d.status())).isEqualTo("WR_FLUSH_ERR");
                }
                assertThat(end.poll(0)).isNull();
                assertThat(end.post(0, 7)).isZero();
                RawEnd.Done flushed = end.poll(0);
                assertThat(flushed).isNotNull();
                assertThat(flushed.wrId()).isEqualTo(7);
                assertThat(WcStatus.toString(flushed.status())).isEqualTo("WR_FLUSH_ERR");
                send(peer, PORT, 4, 0); // to the kernel
                awaitSeen(seen, 4);
                Errors.expect(Errno.EINVAL, () -> to(wq, WorkQueueState.RDY), "no transition");
                to(wq, WorkQueueState.RESET);
                to(wq, WorkQueueState.RDY);
                end.regions.set(0, end.pd.allocate((long) RECEIVES * RawEnd.CHUNK, 1)); // another one than before
                end.postAll(0);
                send(peer, PORT, 5, 0);
                awaitNumber(end, 0, 5);
                qp.modify(QueuePairAttributes.builder().state(QueuePairState.ERR).build());
                send(peer, PORT, 6, 0); // to the kernel
                awaitSeen(seen, 6);
                assertThat(wq.state()).as("that of the queue pair is another").isEqualTo(WorkQueueState.RDY);
                Await.never("a completion", () -> end.poll(0) != null);
                qp.modify(QueuePairAttributes.builder().state(QueuePairState.RESET).build());
                SpreadEnd.start(qp);
                send(peer, PORT, 7, 0);
                awaitNumber(end, 0, 7);
            }
            assertThat(XdpAttachment.of(link.netlink, link.other)).isEmpty();
        }));
    }

    @Test
    void wrongSizesAndOrders() throws Exception {
        RawLink.run(1500, QUEUES, link -> {
            try (SpreadEnd end = SpreadEnd.open("other", 1)) {
                WorkQueue one = end.queues.getFirst();
                CompletionQueue cq = end.cqs.getFirst();
                WorkQueueInitAttributes.Builder b = WorkQueueInitAttributes.builder(end.pd, cq);
                Errors.expect(Errno.EINVAL, () -> end.context.createWorkQueue(b.maxSge(2).build()), "maxSge");
                b.maxSge(1);
                Errors.expect(Errno.EINVAL, () -> end.context.createWorkQueue(b.maxWr(1 << 20).build()), "maxWr");
                b.maxWr(1);
                Errors.expect(Errno.EOPNOTSUPP, () -> end.context.createWorkQueue(b.flags(
                        WorkQueueFlags.CVLAN_STRIPPING).build()), "CVLAN_STRIPPING");
                end.context.createWorkQueue(b.flags(WorkQueueFlags.DELAY_DROP).build()).close();
                Errors.expect(Errno.EOPNOTSUPP, () -> one.modify(WorkQueueAttributes.builder().flags(
                        WorkQueueFlags.SCATTER_FCS, WorkQueueFlags.SCATTER_FCS).build()));
                one.modify(WorkQueueAttributes.builder().flags(WorkQueueFlags.DELAY_DROP, WorkQueueFlags.DELAY_DROP)
                        .build());
                Errors.expect(Errno.EINVAL, () -> end.context.createRwqIndirectionTable(1, List.of(one)),
                        "1 work queues");
                Errors.expect(Errno.EINVAL, () -> end.context.createRwqIndirectionTable(9, Collections.nCopies(
                        512, one)), "at most 256");
                Errors.expect(Errno.EOPNOTSUPP, () -> end.queuePair(end.table, hash(new byte[40],
                        RxHashFields.IPSEC_SPI), 0), "IPSEC_SPI");
                Errors.expect(Errno.EINVAL, () -> end.queuePair(end.table, hash(new byte[39], UDP), 0), "39 bytes");
                Errors.expect(Errno.EBUSY, one::close, "still uses");
                Errors.expect(Errno.EBUSY, cq::close, "still uses");
                QueuePair qp = end.ready(none(), 0);
                Errors.expect(Errno.EBUSY, end.table::close, "still uses");
                Flow flow = qp.createFlow(toPort(PORT));
                Errors.expect(Errno.EBUSY, qp::close, "still uses");
                flow.close();
                qp.close();
                end.table.close();
                one.close();
                cq.close();
                Errors.expect(Errno.EINVAL, () -> end.context.createRwqIndirectionTable(0, List.of(one)), "is closed");
            }
        });
    }

    @Test
    void allQueuesAreTakenTogether() throws Exception {
        RawLink.run(1500, QUEUES, link -> {
            try (SpreadEnd end = SpreadEnd.ready("other", 1); RawEnd raw = RawEnd.ready("other")) {
                Errors.expect(Errno.EBUSY, () -> end.ready(none(), 0), "all queues of other", "queue 0", raw.qp
                        .describe());
                raw.qp.modify(QueuePairAttributes.builder().state(QueuePairState.ERR).build());
                QueuePair qp = end.ready(none(), 0);
                raw.qp.modify(QueuePairAttributes.builder().state(QueuePairState.RESET).build());
                raw.qp.modify(QueuePairAttributes.builder().state(QueuePairState.INIT).port(1).build());
                Errors.expect(Errno.EBUSY, raw::toReady, "the work queues of " + qp.describe());
                WorkQueue another = end.workQueue(end.cqs.getFirst());
                RwqIndirectionTable mixed = end.context.createRwqIndirectionTable(1, List.of(another, end.queues
                        .getFirst()));
                QueuePair second = end.queuePair(mixed, none(), 0);
                Errors.expect(Errno.EBUSY, () -> SpreadEnd.start(second), "the work queues of " + qp.describe());
                qp.close();
                second.modify(QueuePairAttributes.builder().state(QueuePairState.RTR).build());
                second.close();
                raw.toReady();
            }
        });
    }

    /** As applications do that hash TCP in one way and UDP in another. */
    @Test
    void queuePairsShareATable() throws Exception {
        RawLink.run(1500, QUEUES, link -> withPeers(1, peers -> {
            try (SpreadEnd end = SpreadEnd.ready("other", 1)) {
                List<QueuePair> qps = new ArrayList<>();
                RwqIndirectionTable last = end.context.createRwqIndirectionTable(0, List.of(end.queues.getLast()));
                for (int i = 0; i < 6; i++) {
                    QueuePair qp = end.queuePair(i == 5 ? last : end.table, none(), 0);
                    SpreadEnd.start(qp);
                    qp.createFlow(toPort(PORT + i));
                    qps.add(qp);
                }
                for (int i = 0; i < 6; i++) {
                    send(peers.getFirst(), PORT + i, i, 0);
                    awaitNumber(end, i == 5 ? 1 : 0, i);
                }
                qps.getFirst().modify(QueuePairAttributes.builder().state(QueuePairState.ERR).build());
                send(peers.getFirst(), PORT, 99, 0); // to the kernel
                send(peers.getFirst(), PORT + 1, 7, 0);
                awaitNumber(end, 0, 7);
            }
        }));
    }

    @Test
    void queuePairWithATableSends() throws Exception {
        RawLink.run(1500, QUEUES, link -> {
            try (SpreadEnd end = SpreadEnd.ready("other", 0);
                    DatagramChannel peer = DatagramChannel.open().bind(new InetSocketAddress(RawLink.KERNEL, PORT))) {
                peer.configureBlocking(false);
                List<QueuePair> qps = new ArrayList<>();
                for (int i = 0; i < QUEUES; i++) {
                    qps.add(end.ready(none(), 16));
                }
                Errors.expect(Errno.EBUSY, () -> end.ready(none(), 16), "maxSendWr of 0");
                end.ready(none(), 0);
                for (int round = 0; round < 50; round++) {
                    for (QueuePair qp : qps) {
                        byte[] frame = Frames.udp(link.mac("one"), link.mac("other"), PORT, new byte[] {(byte) round, 1,
                            2, 3}, true);
                        MemorySegment.copy(frame, 0, end.regions.getFirst().segment(),
                                ValueLayout.JAVA_BYTE, 0, frame.length);
                        assertThat(qp.sendQueue().postSend(round, SendFlags.SIGNALED, end.regions.getFirst(), 0,
                                frame.length)).isZero();
                        Await.until("the send", () -> end.sendCq.startPoll() == 0);
                        assertThat(WcStatus.toString(end.sendCq.status())).isEqualTo("SUCCESS");
                        end.sendCq.endPoll();
                        assertThat(RawLink.receive(peer)).startsWith(round, 1, 2, 3);
                    }
                }
                qps.getFirst().close();
                end.ready(none(), 16); // it has the queue of the first one
            }
        });
    }

    @Test
    void sleepersAreWoken() throws Exception {
        RawLink.run(1500, QUEUES, link -> withPeers(20, peers -> {
            try (SpreadEnd end = SpreadEnd.ready("other", 0)) {
                QueuePair qp = end.ready(none(), 0);
                qp.createFlow(toPort(PORT));
                CompletionQueue cq = end.cqs.getFirst();
                for (int i = 0; i < peers.size(); i++) {
                    assertThat(cq.requestNotify(false)).isZero();
                    assertThat(end.poll(0)).isNull();
                    send(peers.get(i), PORT, i, 0);
                    assertThat(end.channel.await(Duration.ofSeconds(60))).isSameAs(cq);
                    awaitNumber(end, 0, i);
                }
            }
        }));
    }

    /** A lost packet ends the test. */
    private static void spin(long deadline) {
        if (System.nanoTime() - deadline > 0) {
            throw new AssertionError("a packet is missing");
        }
        Thread.onSpinWait();
    }

    @Test
    void nothingIsAllocatedForAPacket() throws Exception {
        RawLink.run(1500, QUEUES, link -> {
            try (SpreadEnd end = SpreadEnd.ready("other", 1); SpreadEnd from = SpreadEnd.open("one", 0)) {
                end.ready(hash(key(new Random(1)), UDP), 0).createFlow(toPort(PORT));
                QueuePair qp = from.ready(none(), 16);
                byte[] frame = Frames.udp(link.mac("other"), link.mac("one"), PORT, new byte[64], true);
                MemorySegment.copy(frame, 0, from.regions.getFirst().segment(),
                        ValueLayout.JAVA_BYTE, 0, frame.length);
                long deadline = System.nanoTime() + Duration.ofMinutes(2).toNanos();
                Runnable packet = () -> {
                    while (qp.sendQueue().postSend(1, SendFlags.SIGNALED, from.regions.getFirst(), 0,
                            frame.length) != 0) {
                        spin(deadline);
                    }
                    while (from.sendCq.startPoll() != 0) {
                        spin(deadline);
                    }
                    from.sendCq.endPoll();
                    for (int i = 0;; i ^= 1) {
                        spin(deadline);
                        CompletionQueue cq = end.cqs.get(i);
                        if (cq.startPoll() == 0) {
                            int chunk = (int) cq.wrId();
                            cq.endPoll();
                            end.post(i, chunk);
                            return;
                        }
                    }
                };
                for (int i = 0; i < 20_000; i++) {
                    packet.run();
                }
                long bytes = AllocatedBytes.leastOf(() -> {
                    for (int i = 0; i < 2000; i++) {
                        packet.run();
                    }
                });
                assertThat(bytes).as("bytes of 2000 packets").isLessThan(2000);
            }
        });
    }

    @Test
    void killedProcessLeavesTheQueuesAndThePacketsToOthers() throws Exception {
        RawLink.run(1500, QUEUES, link -> withPeers(8, peers -> {
            try (SharedMember member = SharedMember.start("other")) {
                assertThat(member.ask("spread " + PORT)).isEqualTo("done");
                for (int i = 0; i < peers.size(); i++) {
                    send(peers.get(i), PORT, i, 0);
                }
                long[] received = {0};
                Await.until("packets of the other process", () -> (received[0] += member.number(
                        "spread-received")) == peers.size());
                try (SpreadEnd end = SpreadEnd.ready("other", 1)) {
                    Errors.expect(Errno.EBUSY, () -> end.ready(none(), 0), "a socket of another process");
                    member.kill();
                    Await.until("the queues are free", () -> isFree(end));
                    QueuePair qp = end.ready(none(), 0);
                    qp.createFlow(toPort(PORT));
                    for (int i = 0; i < peers.size(); i++) {
                        send(peers.get(i), PORT, i, 0);
                        awaitNumber(end, 0, i);
                    }
                }
            }
        }));
    }

    private static boolean isFree(SpreadEnd end) throws Exception {
        QueuePair qp = end.queuePair(end.table, none(), 0);
        try (qp) {
            SpreadEnd.start(qp);
            return true;
        } catch (VerbsException e) {
            assertThat(e.errno()).isEqualTo(Errno.EBUSY);
            return false;
        }
    }
}
