// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;
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
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.Xsk;
import org.verbena.linux.XskConfig;
import org.verbena.testkit.Await;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.RxHashConfiguration;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkQueue;
import org.verbena.verbs.WorkQueueState;

/** The queues of the interface that work queues share: who waits for them, and who has them to send. */
class SpreadingTest {
    private static final int PORT = 4000;

    /** A hash function whose result is 0 for every packet. */
    private static RxHashConfiguration none() {
        return hash(new byte[RxHashConfiguration.TOEPLITZ_KEY_BYTES], 0);
    }

    private static void send(int number) throws Exception {
        try (DatagramChannel peer = DatagramChannel.open().bind(new InetSocketAddress(RawLink.KERNEL, 0))) {
            peer.send(ByteBuffer.allocate(4).putInt(0, number), new InetSocketAddress(RawLink.RAW, PORT));
        }
    }

    private static void awaitNumber(SpreadEnd end, int queue, int number) {
        byte[][] got = {null};
        Await.until("datagram " + number, () -> (got[0] = end.frame(queue)) != null);
        assertThat(ByteBuffer.wrap(got[0]).getInt(Frames.UDP_HEADERS)).isEqualTo(number);
    }

    /** False if another socket has the queue. */
    private static boolean isBound(Xsk xsk, int ifindex) throws LinuxException {
        try {
            xsk.bind(ifindex, 0, Xsk.XDP_COPY);
            return true;
        } catch (LinuxException e) {
            assertThat(e.errno()).isEqualTo(Errno.EBUSY);
            return false;
        }
    }

    /** One whose threads are in the caller's network namespace. */
    private static Thread start(FutureTask<?> task) {
        return Thread.ofPlatform().daemon().start(task);
    }

    private static void awaitInBind(Thread thread) {
        Await.until("a thread that waits for a queue", () -> Arrays.stream(thread.getStackTrace()).anyMatch(e -> e
                .getClassName().equals(QueueSocket.class.getName()) && e.getMethodName().equals("bound")));
    }

    /**
     * The kernel frees a queue late, which is waited for: here a socket that nobody knows has the queue that one of this
     * process has just given up.
     */
    @Test
    void nobodyElseWaitsForTheQueues() throws Exception {
        RawLink.run(1500, 2, link -> {
            Mapping memory = Mapping.anonymous(64L * XdpLimits.CHUNK);
            try (SpreadEnd end = SpreadEnd.open("other", 1);
                    Xsk other = Xsk.open(memory.segment(), XskConfig.of(XdpLimits.CHUNK, 16))) {
                CompletionQueue cq = end.cqs.getFirst();
                QueuePair qp = end.pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(
                        QueuePairType.RAW_PACKET).receiveSideScaling(end.table, none()).build());
                RawEnd.ready("other").close();
                Await.until("the queue", () -> isBound(other, link.other));
                FutureTask<Void> opening = new FutureTask<>(() -> {
                    SpreadEnd.start(qp);
                    return null;
                });
                awaitInBind(start(opening));
                FutureTask<Void> second = new FutureTask<>(() -> {
                    end.ready(none(), 0);
                    return null;
                });
                start(second);
                WorkQueue wq = end.queues.getFirst();
                to(wq, WorkQueueState.RDY);
                to(wq, WorkQueueState.ERR);
                to(wq, WorkQueueState.RESET);
                to(wq, WorkQueueState.RDY);
                end.postAll(0);
                assertThat(end.poll(0)).isNull();
                assertThat(cq.requestNotify(false)).isZero();
                end.workQueue(end.cqs.getLast()).close();
                assertThat(opening.isDone()).as("it has waited all the while").isFalse();
                other.close();
                opening.get(60, TimeUnit.SECONDS);
                second.get(60, TimeUnit.SECONDS);
                qp.createFlow(FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, PORT))
                        .build());
                send(1);
                assertThat(end.channel.await(Duration.ofSeconds(60))).as("armed before there were sockets")
                        .isSameAs(cq);
                awaitNumber(end, 0, 1);
            }
        });
    }

    /** How many of these descriptors an epoll set of this process has. */
    private static long watched(List<Integer> sockets) throws IOException {
        long n = 0;
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fdinfo"))) {
            for (Path info : all.toList()) {
                try {
                    n += Files.readAllLines(info).stream().filter(l -> l.startsWith("tfd:") && sockets.contains(Integer
                            .parseInt(l.substring(4).strip().split(" ", 2)[0]))).count();
                } catch (IOException e) {
                    // closed meanwhile
                }
            }
        }
        return n;
    }

    /** Which costs each packet time. */
    @Test
    void kernelLooksAtSleepersOnlyWhileThereAreSome() throws Exception {
        int queues = 3;
        RawLink.run(1500, queues, link -> {
            try (SpreadEnd end = SpreadEnd.ready("other", 0)) {
                QueuePair qp = end.ready(none(), 0);
                qp.createFlow(FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, PORT))
                        .build());
                XdpWorkQueue wq = (XdpWorkQueue) end.queues.getFirst();
                List<Integer> sockets = wq.sockets().stream().map(Fd::value).toList();
                assertThat(sockets).hasSize(queues);
                CompletionQueue cq = end.cqs.getFirst();
                for (int i = 0; i < 5; i++) {
                    send(2 * i);
                    awaitNumber(end, 0, 2 * i);
                    assertThat(watched(sockets)).isZero();
                    assertThat(cq.requestNotify(false)).isZero();
                    assertThat(watched(sockets)).isEqualTo(queues);
                    send(2 * i + 1);
                    assertThat(end.channel.await(Duration.ofSeconds(60))).isSameAs(cq);
                    awaitNumber(end, 0, 2 * i + 1);
                    Await.until("the end of looking", () -> watched(sockets) == 0);
                }
                assertThat(cq.requestNotify(false)).isZero();
                to(wq, WorkQueueState.RESET);
                assertThat(watched(sockets)).isZero();
                to(wq, WorkQueueState.RDY);
                end.postAll(0);
                assertThat(watched(wq.sockets().stream().map(Fd::value).toList())).as("it is armed").isEqualTo(queues);
                send(99);
                assertThat(end.channel.await(Duration.ofSeconds(60))).isSameAs(cq);
                awaitNumber(end, 0, 99);
            }
        });
    }

    private static void post(RawLink link, SpreadEnd end, QueuePair qp, int number) throws Exception {
        byte[] frame = Frames.udp(link.mac("one"), link.mac("other"), PORT, new byte[] {(byte) number}, true);
        MemorySegment.copy(frame, 0, end.regions.getFirst().segment(), ValueLayout.JAVA_BYTE, 0, frame.length);
        assertThat(qp.sendQueue().postSend(number, SendFlags.SIGNALED, end.regions.getFirst(), 0, frame.length))
                .isZero();
    }

    /** Nobody gets the queues of queue pairs whose frames wait, nor are they lost. */
    @Test
    void queuesOfClosedQueuePairsComeBackWithTheInterface() throws Exception {
        RawLink.run(1500, 2, link -> {
            try (SpreadEnd end = SpreadEnd.open("other", 0);
                    DatagramChannel peer = DatagramChannel.open().bind(new InetSocketAddress(RawLink.KERNEL, PORT))) {
                peer.configureBlocking(false);
                end.ready(none(), 0); // it keeps all queues
                QueuePair one = end.ready(none(), 16);
                QueuePair two = end.ready(none(), 16);
                NetworkLinks.setDown(link.netlink, link.other);
                post(link, end, one, 1);
                post(link, end, two, 2);
                one.close();
                two.modify(QueuePairAttributes.builder().state(QueuePairState.RESET).build());
                Errors.expect(Errno.EBUSY, () -> end.ready(none(), 16), "2 of the queues have packets", "other down");
                end.ready(none(), 0);
                NetworkLinks.setUp(link.netlink, link.other);
                List<QueuePair> again = List.of(end.ready(none(), 16), end.ready(none(), 16));
                assertThat(new byte[] {RawLink.receive(peer)[0], RawLink.receive(peer)[0]}).containsExactlyInAnyOrder(1,
                        2);
                for (int round = 3; round < 40; round++) {
                    post(link, end, again.get(round % 2), round);
                    assertThat(RawLink.receive(peer)).containsExactly(round);
                    Await.until("the send", () -> end.sendCq.startPoll() == 0);
                    assertThat(WcStatus.toString(end.sendCq.status())).isEqualTo("SUCCESS");
                    assertThat(end.sendCq.wrId()).isEqualTo(round);
                    end.sendCq.endPoll();
                }
                Errors.expect(Errno.EBUSY, () -> end.ready(none(), 16), "maxSendWr of 0");
            }
        });
    }

    /** What waits is dropped with the sockets. */
    @Test
    void queuesAreFreeWithFramesThatWait() throws Exception {
        RawLink.run(1500, 2, link -> {
            try (SpreadEnd end = SpreadEnd.open("other", 0)) {
                QueuePair one = end.ready(none(), 16);
                NetworkLinks.setDown(link.netlink, link.other);
                post(link, end, one, 1);
                one.close();
                NetworkLinks.setUp(link.netlink, link.other);
                end.ready(none(), 16);
                end.ready(none(), 16);
            }
        });
    }
}
