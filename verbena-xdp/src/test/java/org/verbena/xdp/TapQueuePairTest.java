// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.time.Duration;
import java.util.Arrays;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.EthtoolFeatures;
import org.verbena.testkit.AllocatedBytes;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** Queue pairs of a TAP device against the kernel's sockets on its interface. */
class TapQueuePairTest {
    private static byte[] payload(int length) {
        byte[] p = new byte[length];
        for (int i = 0; i < length; i++) {
            p[i] = (byte) (i * 7 + length);
        }
        return p;
    }

    @ParameterizedTest
    @ValueSource(ints = {1500, 9000})
    void kernelSocketSeesWhatWasSent(int mtu) throws Exception {
        TapLink.run(mtu, link -> {
            try (RawEnd end = TapLink.ready(); DatagramChannel peer = TapLink.kernelSocket()) {
                int sends = 0;
                for (int length = 1; length <= mtu - 28; length = length < 80
                        ? length + 1
                        : Math.max(length + 1, Math.min(length + 97, mtu - 28))) {
                    byte[] p = payload(length);
                    for (int way = 0; way < 3; way++) {
                        for (int sum : new int[] {0, SendFlags.IP_CSUM}) {
                            byte[] frame = Frames.udp(link.mac(), TapLink.OURS, TapLink.port(peer), p, sum == 0);
                            if (way == 2 && frame.length > 1024) {
                                continue;
                            }
                            if (sum != 0) {
                                frame[40] = 77; // whatever is there
                                frame[24] ^= 1;
                            }
                            SendQueue q = end.qp.sendQueue().start();
                            add(end, q, way, sends, frame, SendFlags.SIGNALED | sum);
                            assertThat(q.complete()).isZero();
                            end.awaitSent(sends++);
                            assertThat(RawLink.receive(peer)).isEqualTo(p);
                        }
                    }
                }
                assertThat(sends).isGreaterThan(500);
            }
        });
    }

    /** Adds a frame to the batch: one buffer, three, or inline. */
    private static void add(RawEnd end, SendQueue q, int way, long wrId, byte[] frame, int flags) {
        q.send(wrId, flags);
        if (way == 2) {
            q.inline(MemorySegment.ofArray(frame), 0, frame.length);
            return;
        }
        long at = RawEnd.sendAt((int) wrId % RawEnd.SENDS);
        MemorySegment.copy(frame, 0, end.region.segment(), ValueLayout.JAVA_BYTE, at, frame.length);
        if (way == 0) {
            q.sge(end.region, at, frame.length);
        } else {
            int cut = frame.length / 2;
            q.sge(end.region, at, 15).sge(end.region, at + 15, cut - 15L).sge(end.region, at + cut, frame.length - cut);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1500, 9000})
    void framesOfTheKernelArrive(int mtu) throws Exception {
        TapLink.run(mtu, link -> {
            try (RawEnd end = TapLink.ready(); DatagramChannel peer = TapLink.kernelSocket()) {
                InetSocketAddress to = new InetSocketAddress(RawLink.RAW, 4000);
                for (boolean sums : new boolean[] {false, true}) {
                    EthtoolFeatures.set("vrb0", EthtoolFeatures.Feature.TX_CHECKSUM, !sums);
                    for (int length = 0; length <= mtu - 28; length = length < 30
                            ? length + 1
                            : Math.max(length + 1, Math.min(length + 61, mtu - 28))) {
                        byte[] p = payload(length);
                        peer.send(ByteBuffer.wrap(p), to);
                        RawEnd.Frame f = end.receive();
                        int start = Frames.UDP_HEADERS;
                        assertThat(Arrays.copyOfRange(f.bytes(), start, start + length)).isEqualTo(p);
                        assertThat(f.pieces()).isEqualTo((f.bytes().length + 3839) / 3840);
                        assertThat(WcFlags.toString(f.flags())).isEqualTo(sums ? "IP_CSUM_OK" : "CSUM_PARTIAL");
                    }
                }
                assertThat(end.isIdle()).isTrue();
            }
        });
    }

    @Test
    void tcpPeerSendsSuperPackets() throws Exception {
        TapLink.run(1500, link -> {
            try (RawEnd end = TapLink.ready(); TcpPeer peer = new TcpPeer(end, link.mac(), TapLink.OURS)) {
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
    void kernelReceivesSegments() throws Exception {
        TapLink.run(1500, link -> {
            try (RawEnd end = TapLink.ready(); DatagramChannel peer = TapLink.kernelSocket()) {
                end.qp.modify(QueuePairAttributes.builder().state(QueuePairState.RESET).build());
                XdpQueuePair qp = (XdpQueuePair) end.pd.createQueuePair(QueuePairInitAttributes.builder(end.cq, end.cq)
                        .type(QueuePairType.RAW_PACKET).maxSendWr(16).maxSendSge(3).maxTsoHeader(64).build());
                toReady(qp);
                MemoryRegion data = end.pd.allocate(1 << 16, 0);
                for (int i = 0; i < 1 << 16; i++) {
                    data.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 13 >> 3));
                }
                byte[] header = Arrays.copyOf(Frames.udp(link.mac(), TapLink.OURS, TapLink.port(peer), new byte[0],
                        false), Frames.UDP_HEADERS);
                for (int segment : new int[] {1, 100, 1472}) {
                    for (int payload : new int[] {1, segment, segment + 1, 44 * segment}) {
                        int cut = payload / 3;
                        assertThat(qp.sendQueue().start().sendSegmented(5, SendFlags.SIGNALED, MemorySegment.ofArray(
                                header), 0, header.length, segment).sge(data, 0, cut).sge(data, cut, payload - cut)
                                .complete()).isZero();
                        RawEnd.Done d = end.await();
                        assertThat(WcStatus.toString(d.status())).as(qp.errorReason()).isEqualTo("SUCCESS");
                        assertThat(d.opcode()).isEqualTo(WcOpcode.TSO);
                        for (int at = 0; at < payload; at += segment) {
                            byte[] got = RawLink.receive(peer);
                            assertThat(got.length).isEqualTo(Math.min(segment, payload - at));
                            assertThat(MemorySegment.ofArray(got).mismatch(data.segment().asSlice(at, got.length)))
                                    .isEqualTo(-1);
                        }
                    }
                }
            }
        });
    }

    private static void toReady(XdpQueuePair qp) throws Exception {
        qp.modify(QueuePairAttributes.builder().state(QueuePairState.INIT).port(1).build());
        qp.modify(QueuePairAttributes.builder().state(QueuePairState.RTR).build());
        qp.modify(QueuePairAttributes.builder().state(QueuePairState.RTS).build());
    }

    /** One frame from the device to a queue pair on the other side of its interface, and one back. */
    private static void pingPong(RawEnd a, RawEnd b, int length, int segment) {
        if (a.qp.sendQueue().postSend(1, segment, a.region, RawEnd.sendAt(0), length) != 0) {
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
        TapLink.run(1500, link -> {
            try (RawEnd tap = RawEnd.ready(TapLink.DEVICE); RawEnd other = RawEnd.ready("vrb0")) {
                tap.qp.createFlow(FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, 9))
                        .build());
                other.qp.createFlow(TapLink.everything());
                byte[] frame = Frames.udp(link.mac(), TapLink.OURS, 9, payload(64), true);
                MemorySegment.copy(frame, 0, tap.region.segment(), ValueLayout.JAVA_BYTE, RawEnd.sendAt(0),
                        frame.length);
                for (int flags : new int[] {0, SendFlags.IP_CSUM}) {
                    for (int i = 0; i < 20_000; i++) {
                        pingPong(tap, other, frame.length, flags);
                    }
                    long bytes = AllocatedBytes.leastOf(() -> {
                        for (int i = 0; i < 2000; i++) {
                            pingPong(tap, other, frame.length, flags);
                        }
                    });
                    assertThat(bytes).as("bytes of 2000 round trips").isLessThan(2000);
                }
            }
        });
    }

    @Test
    void sleepersAreWokenForFlowsOnly() throws Exception {
        TapLink.run(1500, link -> {
            try (RawEnd end = RawEnd.open(TapLink.DEVICE); DatagramChannel peer = TapLink.kernelSocket()) {
                CompletionChannel channel = end.context.createCompletionChannel();
                CompletionQueue cq = end.context.createCompletionQueue(CompletionQueueAttributes.builder().cqe(64)
                        .channel(channel).build());
                XdpQueuePair qp = (XdpQueuePair) end.pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(
                        QueuePairType.RAW_PACKET).maxReceiveWr(8).maxSendWr(8).build());
                assertThat(cq.requestNotify(false)).isZero(); // before there is anything to wait for
                toReady(qp);
                qp.createFlow(FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, 4000))
                        .build());
                for (int i = 0; i < 8; i++) {
                    peer.send(ByteBuffer.wrap(payload(9)), new InetSocketAddress(RawLink.RAW, 4001));
                    assertThat(channel.await(Duration.ofMillis(10))).as("not of a flow, or no receive").isNull();
                    if (i % 2 == 0) {
                        assertThat(qp.receiveQueue().post(i, end.region, i * 4096L, 4096)).isZero();
                        peer.send(ByteBuffer.wrap(payload(i)), new InetSocketAddress(RawLink.RAW, 4000));
                    } else {
                        peer.send(ByteBuffer.wrap(payload(i)), new InetSocketAddress(RawLink.RAW, 4000));
                        assertThat(qp.receiveQueue().post(i, end.region, i * 4096L, 4096)).isZero();
                    }
                    assertThat(channel.await(Duration.ofSeconds(60))).isSameAs(cq);
                    assertThat(cq.startPoll()).isZero();
                    assertThat(cq.wrId()).isEqualTo(i);
                    assertThat(cq.byteLength()).isEqualTo(Frames.UDP_HEADERS + i);
                    cq.endPoll();
                    assertThat(cq.requestNotify(false)).isZero();
                }
                byte[] frame = Frames.udp(link.mac(), TapLink.OURS, TapLink.port(peer), payload(5), true);
                MemorySegment.copy(frame, 0, end.region.segment(), ValueLayout.JAVA_BYTE, RawEnd.sendAt(0),
                        frame.length);
                assertThat(qp.sendQueue().postSend(9, SendFlags.SIGNALED, end.region, RawEnd.sendAt(0),
                        frame.length)).isZero();
                assertThat(channel.await(Duration.ofSeconds(60))).as("a send").isSameAs(cq);
            }
        });
    }
}
