// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.Arrays;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
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

/** Sends that are cut into segments: by the kernel for its own sockets, and not at all on the way to another device. */
class XdpSegmentationTest {
    private static XdpQueuePair queuePair(RawEnd end) throws Exception {
        XdpQueuePair qp = (XdpQueuePair) end.pd.createQueuePair(QueuePairInitAttributes.builder(end.cq, end.cq).type(
                QueuePairType.RAW_PACKET).maxSendWr(16).maxSendSge(3).maxTsoHeader(64).build());
        qp.modify(QueuePairAttributes.builder().state(QueuePairState.INIT).port(1).build());
        qp.modify(QueuePairAttributes.builder().state(QueuePairState.RTR).build());
        qp.modify(QueuePairAttributes.builder().state(QueuePairState.RTS).build());
        return qp;
    }

    @Test
    void kernelReceivesSegments() throws Exception {
        RawLink.run(1500, link -> {
            try (RawEnd end = RawEnd.open("other"); DatagramChannel peer = DatagramChannel.open()) {
                peer.setOption(StandardSocketOptions.SO_RCVBUF, 4 << 20);
                peer.configureBlocking(false);
                peer.bind(new InetSocketAddress(RawLink.KERNEL, 0));
                int port = ((InetSocketAddress) peer.getLocalAddress()).getPort();
                XdpQueuePair qp = queuePair(end);
                MemoryRegion data = end.pd.allocate(1 << 16, 0);
                for (int i = 0; i < 1 << 16; i++) {
                    data.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 13 >> 3));
                }
                byte[] header = Arrays.copyOf(Frames.udp(link.mac("one"), link.mac("other"), port, new byte[0], false),
                        Frames.UDP_HEADERS);
                for (int segment : new int[] {1, 100, 1471, 1472}) {
                    for (int count : new int[] {1, 2, 44}) {
                        for (int last : new int[] {1, segment}) {
                            int payload = (count - 1) * segment + last;
                            MemorySegment own = MemorySegment.ofArray(header.clone());
                            SendQueue q = qp.sendQueue().start().sendSegmented(5, SendFlags.SIGNALED, own, 0,
                                    header.length, segment);
                            int cut = payload / 3;
                            q.sge(data, 0, cut).sge(data, cut, payload - cut);
                            assertThat(q.complete()).isZero();
                            RawEnd.Done d = end.await();
                            assertThat(WcStatus.toString(d.status())).as(qp.errorReason()).isEqualTo("SUCCESS");
                            assertThat(d.opcode()).isEqualTo(WcOpcode.TSO);
                            for (int at = 0; at < payload; at += segment) {
                                int n = Math.min(segment, payload - at);
                                byte[] got = RawLink.receive(peer);
                                assertThat(got.length).isEqualTo(n);
                                assertThat(MemorySegment.ofArray(got).mismatch(data.segment()
                                        .asSlice(at, n))).isEqualTo(-1);
                            }
                        }
                    }
                }
            }
        });
    }

    @Test
    void otherDeviceReceivesItWhole() throws Exception {
        RawLink.run(1500, link -> {
            try (RawEnd near = RawEnd.open("one"); RawEnd far = RawEnd.ready("other")) {
                XdpQueuePair qp = queuePair(near);
                link.redirect(link.other, far.qp);
                MemoryRegion data = near.pd.allocate(1 << 16, 0);
                for (int i = 0; i < 1 << 16; i++) {
                    data.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 13 >> 3));
                }
                byte[] header = Frames.tcp(link.mac("other"), link.mac("one"), 1, 2, 3, 4, 16);
                for (int payload : new int[] {1, 1460, 1461, 20_000, 60_000}) {
                    assertThat(qp.sendQueue().start().sendSegmented(5, SendFlags.SIGNALED, MemorySegment.ofArray(
                            header),
                            0, header.length, 1460).sge(data, 0, payload).complete()).isZero();
                    assertThat(WcStatus.toString(near.await().status())).as(qp.errorReason()).isEqualTo("SUCCESS");
                    RawEnd.Frame f = far.receive();
                    assertThat(f.bytes().length).isEqualTo(Math.max(header.length + payload, f.bytes().length));
                    assertThat(MemorySegment.ofArray(f.bytes()).asSlice(header.length, payload).mismatch(data.segment()
                            .asSlice(0, payload))).isEqualTo(-1);
                    assertThat(WcFlags.toString(f.flags())).isEqualTo("CSUM_PARTIAL");
                    assertThat(Short.toUnsignedInt(ByteBuffer.wrap(f.bytes()).getShort(16))).isEqualTo(header.length
                            - 14
                            + payload);
                }
            }
        });
    }

    @Test
    void wrongOnesAreRefused() throws Exception {
        RawLink.run(1500, link -> {
            try (RawEnd end = RawEnd.open("other")) {
                MemoryRegion data = end.pd.allocate(1 << 17, 0);
                MemorySegment header = MemorySegment.ofArray(Frames.tcp(link.mac("one"), link.mac("other"), 1, 2, 3, 4,
                        16));
                XdpQueuePair qp = queuePair(end);
                SendQueue q = qp.sendQueue();
                assertThat(q.start().sendSegmented(1, 0, header, 0, 65, 1000).complete()).isEqualTo(Errno.EINVAL);
                assertThat(q.start().sendSegmented(1, 0, header, 0, 54, 0).complete()).isEqualTo(Errno.EINVAL);
                assertThat(q.start().sendSegmented(1, SendFlags.INLINE, header, 0, 54, 10).complete()).isEqualTo(
                        Errno.EINVAL);
                assertThat(q.start().sendSegmented(1, 0, header, 0, 54, 1000).inline(header, 0, 1).complete())
                        .isEqualTo(Errno.EINVAL);
                long[][] wrong = {{54, 1465, 2000, WcStatus.LOC_LEN_ERR}, {54, 1460, 65_500, WcStatus.LOC_LEN_ERR},
                    {53, 1460, 2000, WcStatus.LOC_QP_OP_ERR}, {14, 1460, 2000, WcStatus.LOC_QP_OP_ERR}};
                for (long[] w : wrong) {
                    assertThat(qp.sendQueue().start().sendSegmented(7, 0, header, 0, w[0], (int) w[1]).sge(data, 0,
                            w[2])
                            .complete()).isZero();
                    RawEnd.Done d = end.await();
                    assertThat(WcStatus.toString(d.status())).isEqualTo(WcStatus.toString((int) w[3]));
                    assertThat(qp.errorReason()).contains("segments");
                    qp.close();
                    qp = queuePair(end);
                }
                assertThat(qp.sendQueue().start().sendSegmented(7, 0, header, 0, 54, 1000).sge(data, (1 << 17) - 1, 2)
                        .complete()).isZero();
                assertThat(WcStatus.toString(end.await().status())).isEqualTo("LOC_PROT_ERR");
            }
        });
    }
}
