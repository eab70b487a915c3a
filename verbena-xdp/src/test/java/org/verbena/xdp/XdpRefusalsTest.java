// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.time.Duration;
import java.util.function.ToIntFunction;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.linux.NetworkLinks;
import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.Feature;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.RawPacketCapabilities;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.WcStatus;

/** What a device says of itself, and what it refuses. */
class XdpRefusalsTest {
    private static QueuePairAttributes to(QueuePairState state) {
        QueuePairAttributes.Builder b = QueuePairAttributes.builder().state(state);
        return state == QueuePairState.INIT ? b.port(1).build() : b.build();
    }

    @Test
    void deviceSaysWhatItCan() throws Exception {
        RawLink.run(1500, link -> {
            assertThat(RawDevice.all()).extracting(Object::toString).containsExactly("xdp_lo", "xdp_other", "xdp_one");
            try (Context c = RawEnd.context("other")) {
                DeviceAttributes d = c.queryDevice();
                assertThat(d.rawReceiveBuffer()).hasValue(4096);
                assertThat(d.rawReceiveOffset()).hasValue(256);
                assertThat(d.rawPacketCapabilities()).hasValue(RawPacketCapabilities.IP_CSUM);
                assertThat(d.toString()).contains("rawReceiveOffset=256");
                assertThat(c.device().backEnd()).contains("generic mode", "veth", "AF_PACKET");
                assertThat(c.supports(Feature.RAW_PACKET)).isTrue();
                assertThat(c.supports(Feature.RC)).isFalse();
                assertThat(c.queryPort(1).stateName()).containsIgnoringCase("active");
                assertThat(c.queryPort(1).maxMessageSize()).isEqualTo(1518);
                Errors.expect(Errno.EINVAL, () -> c.queryPort(2), "port 1 only");
                Errors.expect(Errno.EINVAL, () -> c.queryGid(1, 0), "0 entries");
                assertThat(c.queryGidTable()).isEmpty();
                NetworkLinks.setDown(link.netlink, link.other);
                assertThat(c.queryPort(1).stateName()).containsIgnoringCase("down");
            }
        });
    }

    @Test
    void wrongQueuePairsAreRefused() throws Exception {
        RawLink.run(1500, link -> {
            try (RawEnd e = RawEnd.open("other")) {
                QueuePairInitAttributes.Builder raw = QueuePairInitAttributes.builder(e.cq, e.cq).type(
                        QueuePairType.RAW_PACKET);
                Errors.expect(Errno.EOPNOTSUPP, () -> e.pd.createQueuePair(QueuePairInitAttributes.builder(e.cq, e.cq)
                        .build()), "RAW_PACKET", "RC");
                Errors.expect(Errno.EINVAL, () -> e.pd.createQueuePair(raw.maxReceiveSge(2).build()), "one buffer");
                raw.maxReceiveSge(1);
                Errors.expect(Errno.EINVAL, () -> e.pd.createQueuePair(raw.maxSendWr(1 << 20).build()), "maxSendWr");
                assertThat(e.qp.receiveQueue().post(1, e.region, 0, 4096)).as("in RESET").isEqualTo(Errno.EINVAL);
                assertThat(e.qp.sendQueue().postSend(1, 0, e.region, 64, 60)).as("in RESET").isEqualTo(Errno.EINVAL);
                e.qp.modify(to(QueuePairState.INIT));
                e.toReady();
                Errors.expect(Errno.EBUSY, e.region::close, "a queue receives into it");
                try (RawEnd second = RawEnd.open("other")) {
                    second.qp.modify(to(QueuePairState.INIT));
                    Errors.expect(Errno.EBUSY, () -> second.qp.modify(to(QueuePairState.RTR)),
                            "the only one of other is in use", e.qp.describe());
                }
                e.qp.modify(to(QueuePairState.RESET));
                try (RawEnd second = RawEnd.ready("other")) {
                    assertThat(second.qp.interfaceQueue()).isZero();
                }
                e.region.close();
            }
        });
    }

    @Test
    void wrongReceivesAreRefused() throws Exception {
        RawLink.run(1500, link -> {
            try (RawEnd e = RawEnd.open("other")) {
                e.qp.modify(to(QueuePairState.INIT));
                MemoryRegion other = e.pd.allocate(4 * 4096, AccessFlags.LOCAL_WRITE);
                MemoryRegion readOnly = e.pd.allocate(4096, 0);
                MemoryRegion registered = e.pd.register(Arena.ofAuto().allocate(8192, 4096), AccessFlags.LOCAL_WRITE);
                ProtectionDomain pd = e.context.allocateProtectionDomain();
                MemoryRegion foreign = pd.allocate(4096, AccessFlags.LOCAL_WRITE);
                assertThat(e.post(3)).isZero();
                assertThat(e.post(3)).as("posted twice").isEqualTo(Errno.EINVAL);
                for (MemoryRegion wrong : new MemoryRegion[] {other, readOnly, registered, foreign}) {
                    assertThat(e.qp.receiveQueue().post(1, wrong, 0, 4096)).isEqualTo(Errno.EINVAL);
                }
                long[][] places = {{1, 4096}, {256, 4096}, {4096, 4095}, {4096, 8192}, {-4096, 4096}, {e.region
                        .length(), 4096}, {0, 0}};
                for (long[] p : places) {
                    assertThat(e.qp.receiveQueue().post(1, e.region, p[0], p[1])).as("%d, %d", p[0], p[1]).isEqualTo(
                            Errno.EINVAL);
                }
                assertThat(e.qp.receiveQueue().start().receive(1).complete()).as("no buffer").isEqualTo(Errno.EINVAL);
                assertThat(e.qp.receiveQueue().start().receive(1).sge(e.region, 0, 4096).sge(e.region, 4096, 4096)
                        .complete()).as("two buffers").isEqualTo(Errno.EINVAL);
                assertThat(e.qp.receiveQueue().start().receive(1).sge(e.region, 0, 4096).receive(2).sge(e.region,
                        3 * 4096, 4096).complete()).as("the second is posted").isEqualTo(Errno.EINVAL);
                for (int i = 0; i < RawEnd.RECEIVES; i++) {
                    assertThat(i == 3 ? 0 : e.post(i)).isZero();
                }
                assertThat(e.post(RawEnd.RECEIVES)).isEqualTo(Errno.ENOMEM);
                e.toReady();
                e.qp.modify(to(QueuePairState.ERR));
                assertThat(e.await()).isEqualTo(new RawEnd.Done(3, WcStatus.WR_FLUSH_ERR, 128, 0, 0));
                for (int i = 0; i < RawEnd.RECEIVES; i++) {
                    assertThat(i == 3 ? 3 : e.await().wrId()).as("in the order of posting").isEqualTo(i);
                }
                assertThat(e.post(1)).isZero();
                assertThat(e.await().status()).as("posted to a failed one").isEqualTo(WcStatus.WR_FLUSH_ERR);
            }
        });
    }

    /** Expects a send to fail, and what is behind it to be flushed; the queue pair is ready again afterwards. */
    private static void fails(RawEnd e, int status, String why, ToIntFunction<SendQueue> post) throws Exception {
        int posted = post.applyAsInt(e.qp.sendQueue().start());
        assertThat(Errno.name(posted)).isEqualTo(Errno.name(0));
        RawEnd.Done failed = e.await();
        assertThat(WcStatus.toString(failed.status())).isEqualTo(WcStatus.toString(status));
        assertThat(failed.wrId()).isEqualTo(7);
        assertThat(e.qp.state()).isEqualTo(QueuePairState.ERR);
        assertThat(e.qp.errorReason()).contains(why);
        AsyncEvent event = e.context.awaitAsyncEvent(Duration.ofSeconds(60));
        assertThat(event).isNotNull();
        assertThat(event.type()).isEqualTo(AsyncEventType.QP_FATAL);
        RawEnd.Done flushed = e.await();
        assertThat(flushed.wrId()).isEqualTo(8);
        assertThat(flushed.status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
        assertThat(e.qp.sendQueue().postSend(9, 0, e.region, RawEnd.sendAt(0), 60)).isZero();
        assertThat(e.await().status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
        e.qp.modify(to(QueuePairState.RESET));
        e.qp.modify(to(QueuePairState.INIT));
        e.toReady();
    }

    @Test
    void malformedSendsFailWithTheReason() throws Exception {
        RawLink.run(1500, link -> {
            try (RawEnd e = RawEnd.open("other")) {
                e.qp.modify(to(QueuePairState.INIT));
                e.toReady();
                MemoryRegion r = e.region;
                long at = RawEnd.sendAt(0);
                for (int length : new int[] {0, 1, 13, 1519, 8000}) {
                    fails(e, WcStatus.LOC_LEN_ERR, length + " bytes: it must have 14", q -> q.send(7, 0).sge(r, at,
                            length)
                            .send(8, 0).sge(r, at, 60).complete());
                }
                fails(e, WcStatus.LOC_LEN_ERR, "has 0 bytes", q -> q.send(7, 0).send(8, 0).sge(r, at, 60).complete());
                fails(e, WcStatus.LOC_PROT_ERR, "has the key", q -> q.send(7, 0).sge(12345, r.address(), 60).send(8, 0)
                        .sge(r, at, 60).complete());
                fails(e, WcStatus.LOC_PROT_ERR, "not within its region", q -> q.send(7, 0).sge(r, r.length() - 59, 60)
                        .send(8, 0).sge(r, at, 60).complete());
                fails(e, WcStatus.LOC_PROT_ERR, "not within its region", q -> q.send(7, 0).sge(r, -60, 60)
                        .send(8, 0).sge(r, at, 60).complete());
                Arena arena = Arena.ofShared();
                MemoryRegion gone = e.pd.register(arena.allocate(4096, 4096), 0);
                arena.close();
                fails(e, WcStatus.LOC_PROT_ERR, "is gone", q -> q.send(7, 0).sge(gone, 0, 60).send(8, 0).sge(r, at, 60)
                        .complete());
                SendQueue q = e.qp.sendQueue();
                assertThat(q.start().send(1, 1 << 20).sge(r, at, 60).complete()).isEqualTo(Errno.EINVAL);
                assertThat(q.start().send(1, SendFlags.DUMMY).sge(r, at, 60).complete()).isEqualTo(Errno.EOPNOTSUPP);
                assertThat(q.start().write(1, 0, 0, 0).sge(r, at, 60).complete()).isEqualTo(Errno.EOPNOTSUPP);
                assertThat(q.start().sendSegmented(1, 0, r.segment(), 0, 54, 1000).complete()).isEqualTo(
                        Errno.EINVAL); // without maxTsoHeader
                assertThat(q.start().send(1, 0).inline(MemorySegment.ofArray(new byte[1025]), 0, 1025).complete())
                        .isEqualTo(Errno.EINVAL);
                assertThat(q.start().send(1, 0).sge(r, at, 20).sge(r, at, 20).sge(r, at, 20).sge(r, at, 20).sge(r, at,
                        20).complete()).isEqualTo(Errno.EINVAL);
                assertThat(q.complete()).isEqualTo(Errno.EINVAL);
                assertThat(e.isIdle()).isTrue();
                assertThat(e.qp.state()).isEqualTo(QueuePairState.RTS);
            }
        });
    }

    @Test
    void interfaceMayGoDownAndAway() throws Exception {
        RawLink.run(1500, link -> {
            try (RawEnd e = RawEnd.ready("other");
                    DatagramChannel peer = DatagramChannel.open().bind(new InetSocketAddress(RawLink.KERNEL, 0))) {
                int port = ((InetSocketAddress) peer.getLocalAddress()).getPort();
                byte[] frame = Frames.udp(link.mac("one"), link.mac("other"), port, new byte[20], true);
                MemorySegment.copy(frame, 0, e.region.segment(), ValueLayout.JAVA_BYTE, RawEnd.sendAt(0),
                        frame.length);
                NetworkLinks.setDown(link.netlink, link.other);
                assertThat(e.qp.sendQueue().postSend(1, SendFlags.SIGNALED, e.region, RawEnd.sendAt(0),
                        frame.length)).isZero();
                assertThat(e.isIdle()).as("it waits").isTrue();
                NetworkLinks.setUp(link.netlink, link.other);
                peer.receive(ByteBuffer.allocate(100)); // though nobody polls
                e.awaitSent(1);
                NetworkLinks.createVeth(link.netlink, "x", "y");
                NetworkLinks.setUp(link.netlink, NetworkLinks.index(link.netlink, "x"));
                NetworkLinks.setUp(link.netlink, NetworkLinks.index(link.netlink, "y"));
                try (RawEnd gone = RawEnd.ready("x")) {
                    NetworkLinks.delete(link.netlink, NetworkLinks.index(link.netlink, "x"));
                    assertThat(gone.qp.sendQueue().postSend(1, 0, gone.region, RawEnd.sendAt(0), 60)).isZero();
                    Await.until("the failure", () -> {
                        gone.isIdle();
                        return gone.qp.state() == QueuePairState.ERR;
                    });
                    assertThat(gone.qp.errorReason()).isEqualTo("the interface is gone");
                    Errors.expect(Errno.ENODEV, () -> gone.context.queryPort(1), "is gone");
                }
            }
        });
    }
}
