// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.linux.EthtoolFeatures;
import org.verbena.testkit.AllocatedBytes;
import org.verbena.testkit.Await;
import org.verbena.testkit.KernelThread;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.WcFlags;

/** Queue pairs against the kernel's sockets, and each other, on both ends of a link. */
class XdpQueuePairTest {
    private static DatagramChannel kernelSocket() throws Exception {
        DatagramChannel c = DatagramChannel.open();
        c.setOption(StandardSocketOptions.SO_RCVBUF, 1 << 20);
        c.configureBlocking(false);
        return c.bind(new InetSocketAddress(RawLink.KERNEL, 0));
    }

    private static int port(DatagramChannel c) throws Exception {
        return ((InetSocketAddress) c.getLocalAddress()).getPort();
    }

    private static byte[] payload(int length) {
        byte[] p = new byte[length];
        for (int i = 0; i < length; i++) {
            p[i] = (byte) (i * 7 + length);
        }
        return p;
    }

    private static void assertArrived(DatagramChannel peer, byte[] payload) throws Exception {
        assertThat(RawLink.receive(peer)).isEqualTo(payload);
    }

    /** Adds a frame to the batch, in one of the ways that there are. */
    private static void add(RawEnd end, SendQueue q, int way, long wrId, byte[] frame, int flags) {
        long at = RawEnd.sendAt((int) wrId % RawEnd.SENDS) + (way == 1 ? -64 : 0); // at the begin of a chunk there is no room for metadata
        if (way == 3) {
            q.send(wrId, flags).inline(MemorySegment.ofArray(frame), 0, frame.length);
            return;
        }
        MemorySegment.copy(frame, 0, end.region.segment(), ValueLayout.JAVA_BYTE, at, frame.length);
        q.send(wrId, flags);
        if (way == 2) {
            int cut = Math.min(17, frame.length - 1);
            int second = frame.length / 2;
            q.sge(end.region, at, cut).sge(end.region, at + cut, Math.max(0, second - cut)).sge(end.region, at + Math
                    .max(cut, second), frame.length - Math.max(cut, second));
        } else {
            q.sge(end.region, at, frame.length);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1500, 9000})
    void kernelSocketSeesWhatWasSent(int mtu) throws Exception {
        RawLink.run(mtu, link -> {
            try (RawEnd end = RawEnd.ready("other"); DatagramChannel peer = kernelSocket()) {
                byte[] to = link.mac("one");
                byte[] from = link.mac("other");
                int sends = 0;
                for (int length = 1; length <= mtu - 28; length = length < 80
                        ? length + 1
                        : Math.max(length + 1, Math
                                .min(length + 97, mtu - 28))) {
                    byte[] p = payload(length);
                    for (int way = 0; way < 4; way++) {
                        if (way == 3 && length > 1024 - Frames.UDP_HEADERS) {
                            continue;
                        }
                        for (int sum : new int[] {0, SendFlags.IP_CSUM}) {
                            byte[] frame = Frames.udp(to, from, port(peer), p, sum == 0);
                            if (sum != 0) {
                                frame[40] = 77; // whatever is there
                                frame[24] ^= 1;
                            }
                            SendQueue q = end.qp.sendQueue().start();
                            add(end, q, way, sends, frame, SendFlags.SIGNALED | sum);
                            assertThat(q.complete()).isZero();
                            end.awaitSent(sends++);
                            assertArrived(peer, p);
                        }
                    }
                }
                assertThat(sends).isGreaterThan(700);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1500, 9000})
    void framesOfTheKernelArrive(int mtu) throws Exception {
        RawLink.run(mtu, link -> {
            try (RawEnd end = RawEnd.ready("other"); DatagramChannel peer = kernelSocket()) {
                link.redirect(link.other, end.qp);
                InetSocketAddress to = new InetSocketAddress(RawLink.RAW, 4000);
                for (boolean sums : new boolean[] {false, true}) {
                    EthtoolFeatures.set("one", EthtoolFeatures.Feature.TX_CHECKSUM, !sums);
                    for (int length = 0; length <= mtu - 28; length = length < 30
                            ? length + 1
                            : Math.max(length + 1,
                                    Math.min(length + 61, mtu - 28))) {
                        byte[] p = payload(length);
                        peer.send(ByteBuffer.wrap(p), to);
                        RawEnd.Frame f = end.receive();
                        int start = Frames.UDP_HEADERS;
                        assertThat(Arrays.copyOfRange(f.bytes(), start, start + length)).isEqualTo(p);
                        assertThat(f.bytes().length).isBetween(start + length, Math.max(60, start + length));
                        assertThat(f.pieces()).isEqualTo((f.bytes().length + 3839) / 3840);
                        assertThat(WcFlags.toString(f.flags())).isEqualTo(sums ? "IP_CSUM_OK" : "CSUM_PARTIAL");
                    }
                }
                assertThat(end.isIdle()).isTrue();
            }
        });
    }

    @Test
    void batchesCompleteInOrderAndOnRequest() throws Exception {
        RawLink.run(1500, link -> {
            try (RawEnd end = RawEnd.ready("other"); DatagramChannel peer = kernelSocket()) {
                byte[] p = payload(100);
                byte[] frame = Frames.udp(link.mac("one"), link.mac("other"), port(peer), p, true);
                for (int round = 0; round < 50; round++) {
                    SendQueue q = end.qp.sendQueue().start();
                    for (int i = 0; i < RawEnd.SENDS; i++) {
                        add(end, q, i % 4, i, frame, i % 8 == 7 ? SendFlags.SIGNALED : 0);
                    }
                    assertThat(q.complete()).isZero();
                    for (int i = 7; i < RawEnd.SENDS; i += 8) {
                        end.awaitSent(i);
                    }
                    assertThat(end.isIdle()).isTrue();
                    for (int i = 0; i < RawEnd.SENDS; i++) {
                        assertArrived(peer, p);
                    }
                }
                SendQueue q = end.qp.sendQueue().start();
                for (int i = 0; i < RawEnd.SENDS + 1; i++) {
                    add(end, q, 0, i, frame, SendFlags.SIGNALED);
                }
                assertThat(q.complete()).as("one too many").isEqualTo(Errno.ENOMEM);
                assertThat(end.isIdle()).isTrue();
                for (int i = 0; i < RawEnd.SENDS; i++) { // what was not polled keeps its place
                    assertThat(end.qp.sendQueue().postSend(i, SendFlags.SIGNALED, end.region, RawEnd.sendAt(0),
                            frame.length)).isZero();
                }
                assertThat(end.qp.sendQueue().postSend(0, 0, end.region, RawEnd.sendAt(0), frame.length)).isEqualTo(
                        Errno.ENOMEM);
                end.awaitSent(0);
                assertThat(end.qp.sendQueue().postSend(64, SendFlags.SIGNALED, end.region, RawEnd.sendAt(0),
                        frame.length)).isZero();
                for (int i = 1; i <= RawEnd.SENDS; i++) {
                    end.awaitSent(i);
                }
            }
        });
    }

    /** One frame there and back; what arrives is sent from where it is. */
    private static void pingPong(RawEnd a, RawEnd b, int length) {
        if (a.qp.sendQueue().postSend(1, 0, a.region, RawEnd.sendAt(0), length) != 0) {
            throw new AssertionError("not posted");
        }
        long at = take(b, length);
        if (b.qp.sendQueue().postSend(1, 0, b.region, at, length) != 0) {
            throw new AssertionError("not posted");
        }
        b.post((int) (at / RawEnd.CHUNK));
        a.post((int) (take(a, length) / RawEnd.CHUNK));
    }

    private static long take(RawEnd e, int length) {
        long end = System.nanoTime() + 60_000_000_000L;
        while (e.cq.startPoll() != 0) {
            if (System.nanoTime() > end) {
                throw new AssertionError("nothing arrived");
            }
        }
        long chunk = e.cq.wrId();
        boolean right = e.cq.status() == 0 && e.cq.byteLength() == length;
        e.cq.endPoll();
        if (!right) {
            throw new AssertionError("another frame");
        }
        return chunk * RawEnd.CHUNK + RawEnd.OFFSET;
    }

    @Test
    void roundTripsAllocateNothing() throws Exception {
        RawLink.run(1500, link -> {
            try (RawEnd a = RawEnd.ready("one"); RawEnd b = RawEnd.ready("other")) {
                link.redirect(link.one, a.qp);
                link.redirect(link.other, b.qp);
                byte[] frame = Frames.udp(link.mac("other"), link.mac("one"), 9, payload(64), true);
                MemorySegment.copy(frame, 0, a.region.segment(), ValueLayout.JAVA_BYTE, RawEnd.sendAt(0),
                        frame.length);
                for (int i = 0; i < 30_000; i++) {
                    pingPong(a, b, frame.length);
                }
                long bytes = AllocatedBytes.leastOf(() -> {
                    for (int i = 0; i < 2000; i++) {
                        pingPong(a, b, frame.length);
                    }
                });
                assertThat(bytes).as("bytes of 2000 round trips").isLessThan(2000);
            }
        });
    }

    @Test
    void sleepersAreWoken() throws Exception {
        RawLink.run(1500, link -> {
            try (RawEnd end = RawEnd.open("other"); DatagramChannel peer = kernelSocket()) {
                CompletionChannel channel = end.context.createCompletionChannel();
                CompletionQueue cq = end.context.createCompletionQueue(CompletionQueueAttributes.builder().cqe(64)
                        .channel(channel).build());
                XdpQueuePair qp = (XdpQueuePair) end.pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(
                        QueuePairType.RAW_PACKET).maxReceiveWr(8).maxSendWr(8).build());
                qp.modify(QueuePairAttributes.builder().state(QueuePairState.INIT).port(1).build());
                for (int i = 0; i < 8; i++) {
                    assertThat(qp.receiveQueue().post(i, end.region, i * 4096L, 4096)).isZero();
                }
                qp.modify(QueuePairAttributes.builder().state(QueuePairState.RTR).build());
                qp.modify(QueuePairAttributes.builder().state(QueuePairState.RTS).build());
                link.redirect(link.other, qp);
                InetSocketAddress to = new InetSocketAddress(RawLink.RAW, 4000);
                for (int i = 0; i < 8; i++) {
                    assertThat(cq.requestNotify(false)).isZero();
                    assertThat(channel.await(Duration.ofMillis(20))).as("nothing has come").isNull();
                    Path receiver = KernelThread.self();
                    Thread sender = Thread.ofPlatform().start(() -> {
                        try {
                            KernelThread.awaitAsleep(receiver);
                            peer.send(ByteBuffer.wrap(payload(10)), to);
                        } catch (Exception e) {
                            throw new AssertionError(e);
                        }
                    });
                    assertThat(channel.await(Duration.ofSeconds(60))).isSameAs(cq);
                    sender.join();
                    assertThat(cq.startPoll()).isZero();
                    assertThat(cq.wrId()).isEqualTo(i);
                    cq.endPoll();
                }
                byte[] frame = Frames.udp(link.mac("one"), link.mac("other"), port(peer), payload(5), true);
                MemorySegment.copy(frame, 0, end.region.segment(), ValueLayout.JAVA_BYTE, RawEnd.sendAt(0),
                        frame.length);
                assertThat(cq.requestNotify(false)).isZero();
                assertThat(qp.sendQueue().postSend(9, SendFlags.SIGNALED, end.region, RawEnd.sendAt(0),
                        frame.length)).isZero();
                assertThat(channel.await(Duration.ofSeconds(60))).as("a send").isSameAs(cq);
                assertThat(cq.startPoll()).isZero();
                cq.endPoll();
                assertThat(qp.receiveQueue().post(3, end.region, 0, 4096)).isZero();
                assertThat(cq.requestNotify(true)).isZero();
                qp.modify(QueuePairAttributes.builder().state(QueuePairState.ERR).build());
                assertThat(channel.await(Duration.ofSeconds(60))).as("an error counts as solicited").isSameAs(cq);
            }
        });
    }

    @Test
    void tcpPeerSendsSuperPackets() throws Exception {
        RawLink.run(1500, link -> {
            try (RawEnd end = RawEnd.ready("other"); TcpPeer peer = new TcpPeer(link, end)) {
                peer.connect();
                long total = 4 << 20;
                peer.send((int) total);
                peer.receive(total);
                assertThat(peer.longest()).as("bytes of the longest frame").isGreaterThan(32_000);
                assertThat(WcFlags.toString(peer.flags())).isEqualTo("CSUM_PARTIAL");
            }
        });
    }

    @Test
    void eachQueueHasItsQueuePair() throws Exception {
        RawLink.run(1500, link -> {
            EthtoolFeatures.setChannels("other", new EthtoolFeatures.Channels(2, 2, 0, 0, 0, 0));
            try (RawEnd first = RawEnd.ready("other")) {
                assertThat(first.context.queryDevice().maxQp()).isEqualTo(2);
                XdpQueuePair second = first.queuePair();
                second.modify(QueuePairAttributes.builder().state(QueuePairState.INIT).port(1).build());
                second.modify(QueuePairAttributes.builder().state(QueuePairState.RTR).build());
                assertThat(first.qp.interfaceQueue()).isZero();
                assertThat(second.interfaceQueue()).isEqualTo(1);
                XdpQueuePair third = first.queuePair();
                third.modify(QueuePairAttributes.builder().state(QueuePairState.INIT).port(1).build());
                Errors.expect(Errno.EBUSY, () -> third.modify(QueuePairAttributes.builder().state(QueuePairState.RTR)
                        .build()), "all 2 of other are in use", first.qp.describe(), "ethtool -L other rx 3");
                assertThat(third.state()).isEqualTo(QueuePairState.INIT);
                second.close();
                third.modify(QueuePairAttributes.builder().state(QueuePairState.RTR).build());
                assertThat(third.interfaceQueue()).isEqualTo(1);
                Await.until("the queue", () -> third.state() == QueuePairState.RTR);
            }
        });
    }
}
