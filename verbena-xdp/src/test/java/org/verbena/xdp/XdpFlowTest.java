// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.linux.XdpAttachment;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;

/** Flows of queue pairs: what is matched comes to them, all else to the kernel, and the program is there only meanwhile. */
class XdpFlowTest {
    private static FlowAttributes toPort(int port) {
        return FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, port)).build();
    }

    private static boolean isAttached(RawLink link) throws Exception {
        return XdpAttachment.of(link.netlink, link.other).isPresent();
    }

    private static void send(DatagramChannel from, int port, int content) throws Exception {
        from.send(ByteBuffer.wrap(new byte[] {(byte) content, 0, 0, 0}), new InetSocketAddress(RawLink.RAW, port));
    }

    private static void assertReceived(RawEnd end, int port, int content) {
        ByteBuffer frame = ByteBuffer.wrap(end.receive().bytes());
        assertThat(Short.toUnsignedInt(frame.getShort(36))).isEqualTo(port);
        assertThat(frame.get(Frames.UDP_HEADERS)).isEqualTo((byte) content);
    }

    @Test
    void packetsOfAFlowArrive() throws Exception {
        RawLink.run(1500, link -> {
            try (RawEnd end = RawEnd.open("other");
                    DatagramChannel peer = DatagramChannel.open().bind(
                            new InetSocketAddress(RawLink.KERNEL, 0))) {
                assertThat(end.context.supports(Feature.FLOW)).isTrue();
                assertThat(isAttached(link)).isFalse();
                end.qp.modify(QueuePairAttributes.builder().state(QueuePairState.INIT).port(1).build());
                Flow early = end.qp.createFlow(toPort(4000));
                assertThat(isAttached(link)).isTrue();
                send(peer, 4000, 1); // to the kernel: there is no socket yet
                for (int i = 0; i < RawEnd.RECEIVES; i++) {
                    assertThat(end.post(i)).isZero();
                }
                end.toReady();
                send(peer, 4000, 2);
                send(peer, 4001, 3);
                send(peer, 4000, 4);
                assertReceived(end, 4000, 2);
                assertReceived(end, 4000, 4);
                Flow second = end.qp.createFlow(toPort(4001));
                Errors.expect(Errno.EEXIST, () -> end.qp.createFlow(toPort(4001)), "at the same priority");
                send(peer, 4001, 5);
                assertReceived(end, 4001, 5);
                early.close();
                send(peer, 4000, 6);
                send(peer, 4001, 7);
                assertReceived(end, 4001, 7);
                end.qp.modify(QueuePairAttributes.builder().state(QueuePairState.RESET).build());
                assertThat(isAttached(link)).as("the flow is still there").isTrue();
                end.qp.modify(QueuePairAttributes.builder().state(QueuePairState.INIT).port(1).build());
                for (int i = 0; i < RawEnd.RECEIVES; i++) {
                    assertThat(end.post(i)).isZero();
                }
                end.toReady();
                send(peer, 4001, 8);
                assertReceived(end, 4001, 8);
                Errors.expect(Errno.EBUSY, end.qp::close, "still uses");
                second.close();
                assertThat(isAttached(link)).isFalse();
                assertThat(end.isIdle()).isTrue();
                Flow last = end.qp.createFlow(toPort(4002));
                assertThat(last.describe()).contains(end.qp.describe());
            }
            assertThat(isAttached(link)).as("after the context was closed").isFalse();
        });
    }

    @Test
    void foreignProgramIsNamedAndStays() throws Exception {
        RawLink.run(1500, link -> {
            try (RawEnd end = RawEnd.ready("other")) {
                link.redirect(link.other, end.qp);
                Errors.expect(Errno.EBUSY, () -> end.qp.createFlow(toPort(4000)), "redirect", "generic");
                assertThat(isAttached(link)).isTrue();
                Errors.expect(Errno.EOPNOTSUPP, () -> end.qp.createFlow(FlowAttributes.builder().spec(FlowSpec.vxlan())
                        .build()));
            }
        });
    }
}
