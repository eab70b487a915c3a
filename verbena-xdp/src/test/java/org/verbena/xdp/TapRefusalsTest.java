// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.linux.NetworkLinks;
import org.verbena.testkit.Await;
import org.verbena.testkit.TapInterface;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;

/** What a TAP device says of itself, what it refuses, and what becomes of it. */
class TapRefusalsTest {
    private static QueuePairAttributes to(QueuePairState state) {
        QueuePairAttributes.Builder b = QueuePairAttributes.builder().state(state);
        return state == QueuePairState.INIT ? b.port(1).build() : b.build();
    }

    @Test
    void onlyInterfacesThatStayAreDevices() throws Exception {
        TapLink.run(1500, link -> {
            TapInterface.ip("tuntap", "add", "dev", "tun7", "mode", "tun");
            assertThat(RawDevice.all()).extracting(Object::toString).containsExactlyInAnyOrder("xdp_lo", "xdp_vrb0",
                    "tap_vrb0");
            TapInterface.ip("tuntap", "del", "dev", "tun7", "mode", "tun");
            try (Context c = RawEnd.context(TapLink.DEVICE)) {
                DeviceAttributes d = c.queryDevice();
                assertThat(d.rawReceiveBuffer()).hasValue(4096);
                assertThat(d.rawReceiveOffset()).hasValue(256);
                assertThat(d.maxQp()).isEqualTo(1);
                assertThat(c.device().transport()).isEqualTo("TAP");
                assertThat(c.device().backEnd()).startsWith("TAP with a vnet header");
                assertThat(c.queryPort(1).stateName()).containsIgnoringCase("active");
                NetworkLinks.setDown(link.netlink, link.index);
                assertThat(c.queryPort(1).stateName()).containsIgnoringCase("down");
            }
        });
    }

    @Test
    void interfaceHasOneQueuePair() throws Exception {
        TapLink.run(1500, link -> {
            try (RawEnd first = TapLink.ready(); RawEnd second = RawEnd.open(TapLink.DEVICE)) {
                second.qp.modify(to(QueuePairState.INIT));
                Errors.expect(Errno.EBUSY, () -> second.qp.modify(to(QueuePairState.RTR)), "vrb0", first.qp
                        .describe());
                first.qp.modify(to(QueuePairState.RESET));
                second.toReady();
                assertThat(second.qp.state()).isEqualTo(QueuePairState.RTS);
                Errors.expect(Errno.EBUSY, second.region::close, "close that");
            }
        });
    }

    @Test
    void multiQueueIsRefused() throws Exception {
        TapLink.run(1500, link -> {
            try (RawEnd end = RawEnd.open(TapLink.DEVICE)) {
                end.qp.modify(to(QueuePairState.INIT));
                Errors.expect(Errno.EINVAL, () -> end.qp.modify(to(QueuePairState.RTR)), "multi_queue");
            }
        }, "multi_queue");
    }

    @Test
    void interfaceMayGoDownAndAway() throws Exception {
        TapLink.run(1500, link -> {
            try (RawEnd e = TapLink.ready(); DatagramChannel peer = TapLink.kernelSocket()) {
                byte[] frame = Frames.udp(link.mac(), TapLink.OURS, TapLink.port(peer), new byte[20], true);
                MemorySegment.copy(frame, 0, e.region.segment(), ValueLayout.JAVA_BYTE, RawEnd.sendAt(0),
                        frame.length);
                NetworkLinks.setDown(link.netlink, link.index);
                for (int i = 1; i <= 3; i++) {
                    assertThat(e.qp.sendQueue().postSend(i, SendFlags.SIGNALED, e.region, RawEnd.sendAt(0),
                            frame.length)).isZero();
                }
                assertThat(e.isIdle()).as("it waits").isTrue();
                NetworkLinks.setUp(link.netlink, link.index);
                for (int i = 1; i <= 3; i++) {
                    assertThat(RawLink.receive(peer)).as("though nobody polls").hasSize(20);
                }
                for (int i = 1; i <= 3; i++) {
                    e.awaitSent(i);
                }
                NetworkLinks.delete(link.netlink, link.index);
                Await.until("the failure", () -> {
                    e.isIdle();
                    return e.qp.state() == QueuePairState.ERR;
                });
                assertThat(e.qp.errorReason()).isEqualTo("the interface is gone");
                Errors.expect(Errno.ENODEV, () -> e.context.queryPort(1), "is gone");
                e.qp.modify(to(QueuePairState.RESET));
                e.qp.modify(to(QueuePairState.INIT));
                Errors.expect(Errno.ENODEV, () -> e.qp.modify(to(QueuePairState.RTR)), "is gone");
            }
        });
    }

    @Test
    void framesThatDoNotFitAreDropped() throws Exception {
        TapLink.run(9000, link -> {
            try (RawEnd end = RawEnd.open(TapLink.DEVICE); DatagramChannel peer = TapLink.kernelSocket()) {
                InetSocketAddress there = new InetSocketAddress(RawLink.RAW, 4000);
                end.qp.modify(to(QueuePairState.INIT));
                assertThat(end.post(0)).isZero();
                assertThat(end.post(1)).isZero();
                end.toReady();
                end.qp.createFlow(TapLink.everything());
                peer.send(ByteBuffer.allocate(8000), there); // three parts
                peer.send(ByteBuffer.allocate(10), there);
                assertThat(end.receive().bytes().length).isEqualTo(Frames.UDP_HEADERS + 10);
                peer.send(ByteBuffer.allocate(7000), there);
                assertThat(end.receive().pieces()).isEqualTo(2);
            }
        });
    }

    @Test
    void flowsApplyToFramesThatComeAfterThem() throws Exception {
        TapLink.run(1500, link -> {
            try (RawEnd end = RawEnd.ready(TapLink.DEVICE); DatagramChannel peer = TapLink.kernelSocket()) {
                InetSocketAddress there = new InetSocketAddress(RawLink.RAW, 4000);
                FlowAttributes to4000 = FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT,
                        4000)).build();
                for (int round = 0; round < 3; round++) {
                    for (int i = 0; i < 400; i++) { // more than are looked at in one turn
                        peer.send(ByteBuffer.allocate(1), there);
                    }
                    try (AutoCloseable flow = end.qp.createFlow(to4000)) {
                        Errors.expect(Errno.EEXIST, () -> end.qp.createFlow(to4000), "same packets");
                        for (int i = 0; i < 100; i++) {
                            peer.send(ByteBuffer.allocate(2 + i), there);
                        }
                        assertThat(flow).isNotNull();
                    }
                    peer.send(ByteBuffer.allocate(1), there);
                    for (int i = 0; i < 100; i++) {
                        assertThat(end.receive().bytes().length).isEqualTo(Frames.UDP_HEADERS + 2 + i);
                    }
                    assertThat(end.isIdle()).isTrue();
                }
                Errors.expect(Errno.EOPNOTSUPP, () -> end.qp.createFlow(FlowAttributes.builder().spec(FlowSpec.ipv4()
                        .match(FlowField.IPV4_TTL, 1)).build()), "does not look");
            }
        });
    }
}
