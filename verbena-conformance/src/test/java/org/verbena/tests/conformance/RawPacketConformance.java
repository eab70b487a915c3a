// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.tests.conformance.Conformance.assertErrno;
import static org.verbena.tests.conformance.Conformance.assertPosted;
import static org.verbena.tests.conformance.Conformance.assertRefused;
import static org.verbena.tests.conformance.Conformance.assertStatus;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.testkit.InternetChecksum;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.FlowType;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.RawPacketCapabilities;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkQueueInitAttributes;

/** The suite for providers of raw packets: frames between two devices on one wire, flows, and offloads. */
abstract class RawPacketConformance {
    private static final byte[] FAR = {2, 0, 0, 0, 0, 2};
    private static final byte[] NEAR = {2, 0, 0, 0, 0, 1};
    private static final int HEADERS = 14 + 20 + 8;
    private static final Duration LONG = Duration.ofSeconds(60);

    protected abstract RawPacketFixture fixture();

    private interface Ends {
        void run(RawPacketEnd near, RawPacketEnd far) throws Exception;
    }

    /** Both ends are ready; the far one receives all there is. */
    private void connected(Ends test) throws Exception {
        fixture().run((n, f) -> {
            RawPacketEnd near = new RawPacketEnd(n).ready();
            RawPacketEnd far = new RawPacketEnd(f).ready();
            far.qp.createFlow(everything());
            test.run(near, far);
        });
    }

    private static FlowAttributes everything() {
        return FlowAttributes.builder().type(FlowType.ALL_DEFAULT).build();
    }

    private static FlowAttributes toPort(int port, int priority) {
        return FlowAttributes.builder().priority(priority).spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, port))
                .build();
    }

    /** A frame of a type that nobody uses (IEEE 802 has it for experiments). */
    private static byte[] frame(int length, int content) {
        byte[] b = new byte[length];
        for (int i = 14; i < length; i++) {
            b[i] = (byte) (content + i * 7);
        }
        ByteBuffer.wrap(b).put(FAR).put(NEAR).putShort((short) 0x88b5);
        return b;
    }

    /** A datagram over IPv4 without checksums. */
    static byte[] datagram(int port, int payload, int content) {
        byte[] b = frame(HEADERS + payload, content);
        ByteBuffer.wrap(b).putShort(12, (short) 0x0800).put(14, (byte) 0x45).put(15, (byte) 0).putShort(16,
                (short) (28 + payload)).putInt(18, 0).putShort(22, (short) (64 << 8 | 17)).putShort(24, (short) 0)
                .putInt(26, 0x0a000001).putInt(30, 0x0a000002).putShort(34, (short) 9).putShort(36, (short) port)
                .putShort(38, (short) (8 + payload)).putShort(40, (short) 0);
        return b;
    }

    private static void assertArrives(RawPacketEnd far, byte[] frame) {
        byte[] got = far.receive().bytes();
        assertThat(got.length).isBetween(frame.length, Math.max(60, frame.length)); // or it is padded
        assertThat(Arrays.copyOf(got, frame.length)).isEqualTo(frame);
    }

    @Test
    void featuresAgreeWithAttributes() throws Exception {
        fixture().run((near, far) -> {
            DeviceAttributes d = near.queryDevice();
            assertThat(near.supports(Feature.RAW_PACKET)).isTrue();
            assertThat(d.rawPacketCapabilities()).isPresent();
            assertThat(d.segmentationCapabilities() != null).isEqualTo(near.supports(Feature.SEGMENTATION));
            assertThat(d.rssCapabilities() != null).isEqualTo(near.supports(Feature.RSS));
            assertThat(d.maxWorkQueues().isPresent()).isEqualTo(near.supports(Feature.WORK_QUEUE));
            assertThat((d.rawPacketCapabilities().orElse(0) & RawPacketCapabilities.IP_CSUM) != 0).isEqualTo(near
                    .supports(Feature.IP_CHECKSUM));
            assertThat(d.rawReceiveBuffer().isPresent()).isEqualTo(d.rawReceiveOffset().isPresent());
            assertThat(d.rawReceiveOffset().orElse(0)).isBetween(0, d.rawReceiveBuffer().orElse(1) - 1);
            RawPacketEnd e = new RawPacketEnd(near);
            refuses(near, Feature.WORK_QUEUE, () -> near.createWorkQueue(WorkQueueInitAttributes.builder(e.pd, e.cq)
                    .build()).close());
            refuses(near, Feature.RC, () -> e.pd.createQueuePair(QueuePairInitAttributes.builder(e.cq, e.cq).build())
                    .close());
            refuses(near, Feature.COUNTERS, () -> near.createCounters().close());
        });
    }

    private interface Verb {
        void call() throws Exception;
    }

    private static void refuses(Context c, String feature, Verb verb) throws Exception {
        if (c.supports(feature)) {
            verb.call();
        } else {
            assertErrno(Errno.EOPNOTSUPP, verb::call);
        }
    }

    @Test
    void framesOfEachSizeArriveWhole() throws Exception {
        connected((near, far) -> {
            long longest = Math.min(near.context.queryPort(1).maxMessageSize() - 4, near.buffer - 64); // a tag more
            for (int length = 14; length <= longest; length = length < 200
                    ? length + 1
                    : Math.max(length + 1, (int) Math
                            .min(length + 31, longest))) {
                byte[] frame = frame(length, length);
                assertPosted(near.send(length, SendFlags.SIGNALED, frame));
                Completion c = near.await();
                assertStatus(WcStatus.SUCCESS, length, c);
                assertThat(WcOpcode.toString(c.opcode())).isEqualTo("SEND");
                assertThat(c.queuePairNumber()).isEqualTo(near.qp.number());
                assertArrives(far, frame);
            }
        });
    }

    @Test
    void buffersAreGatheredAndInlineDataCopied() throws Exception {
        connected((near, far) -> {
            for (int length : new int[] {14, 15, 60, 255, 256}) {
                byte[] frame = frame(length, 1);
                long at = near.put(0, frame);
                int third = length / 3;
                assertPosted(near.qp.sendQueue().start().send(1, 0).sge(near.region, at, third).sge(near.region, at
                        + third, third).sge(near.region, at + 2L * third, length - 2 * third).complete());
                assertArrives(far, frame);
                MemorySegment heap = MemorySegment.ofArray(frame.clone());
                assertPosted(near.qp.sendQueue().start().send(1, 0).inline(heap, 0, length).complete());
                heap.fill((byte) 0);
                assertArrives(far, frame);
                assertPosted(near.qp.sendQueue().start().send(1, SendFlags.INLINE).sge(near.region, at, third).sge(
                        near.region, at + third, length - third).complete());
                assertArrives(far, frame);
            }
            assertRefused(Errno.EINVAL, near.qp.sendQueue().start().send(1, 0).inline(MemorySegment.ofArray(
                    new byte[RawPacketEnd.INLINE + 1]), 0, RawPacketEnd.INLINE + 1).complete());
            assertThat(far.isIdle()).isTrue();
        });
    }

    @Test
    void batchesStayInOrderAndCompleteOnRequest() throws Exception {
        connected((near, far) -> {
            for (int round = 0; round < 20; round++) {
                SendQueue q = near.qp.sendQueue().start();
                for (int i = 0; i < RawPacketEnd.SENDS; i++) {
                    byte[] frame = frame(60 + i, i);
                    q.send(i, i % 5 == 4 || i == RawPacketEnd.SENDS - 1 ? SendFlags.SIGNALED : 0).sge(near.region, near
                            .put(i, frame), frame.length);
                }
                assertPosted(q.complete());
                for (int i = 0; i < RawPacketEnd.SENDS; i++) {
                    if (i % 5 == 4 || i == RawPacketEnd.SENDS - 1) {
                        assertStatus(WcStatus.SUCCESS, i, near.await());
                    }
                    assertArrives(far, frame(60 + i, i));
                }
                assertThat(near.isIdle()).isTrue();
            }
            SendQueue q = near.qp.sendQueue().start();
            for (int i = 0; i <= RawPacketEnd.SENDS; i++) {
                q.send(i, 0).sge(near.region, near.put(0, frame(60, 0)), 60);
            }
            assertRefused(Errno.ENOMEM, q.complete());
            assertThat(far.isIdle()).as("nothing of it was posted").isTrue();
        });
    }

    @Test
    void otherOperationsAreNotSupported() throws Exception {
        connected((near, far) -> {
            SendQueue q = near.qp.sendQueue();
            assertRefused(Errno.EOPNOTSUPP, q.start().write(1, 0, 1, 0).sge(near.region, 0, 60).complete());
            assertRefused(Errno.EOPNOTSUPP, q.start().read(1, 0, 1, 0).sge(near.region, 0, 60).complete());
            assertRefused(Errno.EOPNOTSUPP, q.start().sendImmediate(1, 0, 1).sge(near.region, 0, 60).complete());
            assertRefused(Errno.EOPNOTSUPP, q.start().fetchAndAdd(1, 0, 1, 0, 1).sge(near.region, 0, 8).complete());
            assertRefused(Errno.EOPNOTSUPP, q.start().sendInvalidate(1, 0, 1).sge(near.region, 0, 60).complete());
            if (!near.context.supports(Feature.SEGMENTATION)) {
                assertRefused(Errno.EOPNOTSUPP, q.start().sendSegmented(1, 0, near.region.segment(), 0, 54, 1000).sge(
                        near.region, 0, 2000).complete());
            }
            assertRefused(Errno.EINVAL, q.start().send(1, 1 << 25).sge(near.region, 0, 60).complete());
            assertThat(near.isIdle()).isTrue();
            byte[] frame = frame(60, 1);
            assertPosted(near.send(2, SendFlags.SIGNALED, frame)); // the next batch works normally
            assertStatus(WcStatus.SUCCESS, 2, near.await());
            assertArrives(far, frame);
        });
    }

    @Test
    void wrongSendFailsTheQueuePair() throws Exception {
        connected((near, far) -> {
            byte[] frame = frame(60, 1);
            long at = near.put(0, frame);
            assertPosted(near.qp.sendQueue().start().send(101, 0).sge(near.region, at, 60).send(102, 0).sge(~near.region
                    .lkey(), near.region.address() + at, 60).send(103, 0).sge(near.region, at, 60).complete());
            List<Completion> sends = new ArrayList<>();
            List<Completion> receives = new ArrayList<>();
            for (int i = 0; i < RawPacketEnd.RECEIVES + 2; i++) {
                Completion c = near.await();
                (c.wrId() > 100 ? sends : receives).add(c);
            }
            assertStatus(WcStatus.LOC_PROT_ERR, 102, sends.get(0));
            assertStatus(WcStatus.WR_FLUSH_ERR, 103, sends.get(1));
            for (int i = 0; i < RawPacketEnd.RECEIVES; i++) {
                assertStatus(WcStatus.WR_FLUSH_ERR, i, receives.get(i));
            }
            assertThat(near.qp.state()).isEqualTo(QueuePairState.ERR);
            assertThat(near.qp.errorReason()).isNotBlank();
            assertThat(near.context.awaitAsyncEvent(LONG)).isNotNull();
            assertArrives(far, frame); // what was before it has left
            near.to(QueuePairState.RESET);
            near.ready();
            assertPosted(near.send(4, SendFlags.SIGNALED, frame));
            assertStatus(WcStatus.SUCCESS, 4, near.await());
            assertArrives(far, frame);
        });
    }

    @Test
    void statesAllowWhatTheyShould() throws Exception {
        fixture().run((n, f) -> {
            RawPacketEnd near = new RawPacketEnd(n);
            RawPacketEnd far = new RawPacketEnd(f).ready();
            far.qp.createFlow(everything());
            byte[] frame = frame(60, 1);
            assertRefused(Errno.EINVAL, near.post(0));
            assertRefused(Errno.EINVAL, near.send(1, 0, frame));
            assertErrno(Errno.EINVAL, () -> near.to(QueuePairState.RTR), "no transition from RESET to RTR");
            near.to(QueuePairState.INIT);
            assertPosted(near.post(0));
            assertRefused(Errno.EINVAL, near.send(1, 0, frame));
            near.to(QueuePairState.RTR);
            assertPosted(near.post(1));
            assertRefused(Errno.EINVAL, near.send(1, 0, frame));
            near.to(QueuePairState.RTS);
            assertPosted(near.send(1, SendFlags.SIGNALED, frame));
            assertStatus(WcStatus.SUCCESS, 1, near.await());
            assertArrives(far, frame);
            near.to(QueuePairState.SQD);
            assertPosted(near.send(2, SendFlags.SIGNALED, frame));
            assertThat(near.isIdle()).as("it waits").isTrue();
            near.to(QueuePairState.RTS);
            assertStatus(WcStatus.SUCCESS, 2, near.await());
            assertArrives(far, frame);
            assertThat(near.qp.query().state()).isEqualTo(QueuePairState.RTS);
            near.to(QueuePairState.ERR);
            assertStatus(WcStatus.WR_FLUSH_ERR, 0, near.await());
            assertStatus(WcStatus.WR_FLUSH_ERR, 1, near.await());
            assertPosted(near.send(3, 0, frame));
            assertStatus(WcStatus.WR_FLUSH_ERR, 3, near.await());
            assertPosted(near.post(2));
            near.to(QueuePairState.RESET);
            assertThat(near.isIdle()).as("completions are gone").isTrue();
            near.ready();
        });
    }

    @Test
    void resetReturnsReceivesThatWereNotUsed() throws Exception {
        connected((near, far) -> {
            for (int round = 0; round < 5; round++) {
                byte[] frame = frame(100, round);
                assertPosted(near.send(1, 0, frame));
                assertPosted(near.send(1, 0, frame));
                assertArrives(far, frame);
                far.to(QueuePairState.RESET); // with one that was not polled
                assertThat(far.isIdle()).isTrue();
                far.ready();
                near.to(QueuePairState.RESET);
                near.ready();
            }
        });
    }

    @Test
    void flowsTakeWhatMatches() throws Exception {
        fixture().run((n, f) -> {
            RawPacketEnd near = new RawPacketEnd(n).ready();
            RawPacketEnd far = new RawPacketEnd(f).ready();
            assertPosted(near.send(1, 0, datagram(4000, 100, 1))); // no flow takes it
            Flow one = far.qp.createFlow(toPort(4000, 1));
            byte[] to4000 = datagram(4000, 100, 2);
            byte[] to4001 = datagram(4001, 100, 3);
            assertPosted(near.send(1, 0, to4001));
            assertPosted(near.send(2, 0, to4000));
            assertArrives(far, to4000);
            Flow dropped = far.qp.createFlow(FlowAttributes.builder().priority(0).spec(FlowSpec.udp().match(
                    FlowField.DESTINATION_PORT, 4000)).spec(FlowSpec.drop()).build());
            far.qp.createFlow(toPort(4001, 1));
            assertPosted(near.send(1, 0, to4000));
            assertPosted(near.send(2, 0, to4001));
            assertArrives(far, to4001);
            dropped.close();
            assertPosted(near.send(1, 0, to4000));
            assertArrives(far, to4000);
            one.close();
            assertPosted(near.send(1, 0, to4000));
            assertPosted(near.send(2, 0, to4001));
            assertArrives(far, to4001);
            far.qp.createFlow(FlowAttributes.builder().spec(FlowSpec.ethernet().match(FlowField.ETH_TYPE, 0x88b5))
                    .build());
            assertPosted(near.send(1, 0, frame(80, 9)));
            assertArrives(far, frame(80, 9));
            assertThat(far.isIdle()).isTrue();
            assertErrno(Errno.EBUSY, far.qp::close, "still use");
            assertErrno(Errno.EINVAL, () -> far.qp.createFlow(FlowAttributes.builder().spec(FlowSpec.ipv4().match(
                    FlowField.IPV4_PROTOCOL, 6)).spec(FlowSpec.udp()).build()));
        });
    }

    @Test
    void checksumsAreFilledInAndVerified() throws Exception {
        connected((near, far) -> {
            if (!near.context.supports(Feature.IP_CHECKSUM)) {
                assertRefused(Errno.EOPNOTSUPP, near.send(1, SendFlags.IP_CSUM, datagram(9, 10, 1)));
                return;
            }
            for (int payload : new int[] {0, 1, 2, 17, 18, 999, 1400}) {
                assertPosted(near.send(1, SendFlags.IP_CSUM, datagram(9, payload, payload)));
                RawPacketEnd.Frame f = far.receive();
                ByteBuffer b = ByteBuffer.wrap(f.bytes());
                assertThat(InternetChecksum.fold(InternetChecksum.sum(b, 14, 20))).as("IPv4").isEqualTo(0xffff);
                long pseudo = InternetChecksum.sum(b, 26, 8) + 17 + 8 + payload;
                if ((f.flags() & WcFlags.CSUM_PARTIAL) != 0) {
                    assertThat(b.getShort(40)).isEqualTo((short) InternetChecksum.fold(pseudo));
                } else {
                    assertThat(WcFlags.toString(f.flags())).isEqualTo("IP_CSUM_OK");
                    assertThat(InternetChecksum.fold(pseudo + InternetChecksum.sum(b, 34, 8 + payload))).isEqualTo(
                            0xffff);
                }
                byte[] wrong = datagram(9, payload, payload);
                wrong[40] = 1;
                assertPosted(near.send(1, 0, wrong));
                assertThat(WcFlags.toString(far.receive().flags())).isEqualTo("0");
            }
            byte[] other = frame(60, 3);
            assertPosted(near.send(1, SendFlags.IP_CSUM, other));
            assertArrives(far, other);
        });
    }

    @Test
    void channelWakesOncePerArming() throws Exception {
        connected((near, far) -> {
            for (int i = 0; i < 10; i++) {
                assertThat(far.cq.requestNotify(false)).isZero();
                assertThat(far.channel.await(Duration.ofMillis(5))).isNull();
                byte[] frame = frame(60, i);
                assertPosted(near.send(1, 0, frame));
                assertPosted(near.send(2, 0, frame));
                assertThat(far.channel.await(LONG)).isSameAs(far.cq);
                assertThat(far.channel.await(Duration.ZERO)).isNull();
                assertArrives(far, frame);
                assertArrives(far, frame);
                assertThat(near.cq.requestNotify(false)).isZero();
                assertPosted(near.send(3, SendFlags.SIGNALED, frame));
                assertThat(near.channel.await(LONG)).isSameAs(near.cq);
                assertStatus(WcStatus.SUCCESS, 3, near.await());
                assertArrives(far, frame);
            }
        });
    }

    /** The thread of the provider that looks for completions may be asleep again by then. */
    @Test
    void channelWakesForASendLongAfterArming() throws Exception {
        connected((near, far) -> {
            byte[] frame = frame(60, 1);
            assertThat(near.cq.requestNotify(false)).isZero();
            assertThat(near.channel.await(Duration.ofMillis(500))).isNull();
            assertPosted(near.send(1, SendFlags.SIGNALED, frame));
            assertThat(near.channel.await(LONG)).isSameAs(near.cq);
            assertStatus(WcStatus.SUCCESS, 1, near.await());
            assertArrives(far, frame);
        });
    }

    @Test
    void packetsWithoutReceivesAreLostOrWaitAndTheNextArrive() throws Exception {
        connected((near, far) -> {
            byte[] frame = frame(60, 1);
            for (int i = 0; i < 2 * RawPacketEnd.RECEIVES; i++) {
                assertPosted(near.send(1, 0, frame));
                near.isIdle(); // sends that are done are looked at
            }
            for (int i = 0; i < RawPacketEnd.RECEIVES; i++) {
                assertThat(far.await().wrId()).isEqualTo(i);
            }
            assertThat(far.isIdle()).isTrue();
            for (int i = 0; i < RawPacketEnd.RECEIVES; i++) {
                assertPosted(far.post(i));
            }
            assertRefused(Errno.ENOMEM, far.post(RawPacketEnd.RECEIVES));
            byte[] next = frame(70, 2);
            assertPosted(near.send(1, 0, next));
            for (int waited = 0; waited < RawPacketEnd.RECEIVES; waited++) { // as many as were not received, at most
                byte[] got = far.receive().bytes();
                if (got.length >= next.length) {
                    assertThat(got).isEqualTo(next);
                    return;
                }
                assertThat(Arrays.copyOf(got, frame.length)).isEqualTo(frame);
            }
            assertArrives(far, next);
        });
    }

    @Test
    void queuesGoToTheNextWhenClosed() throws Exception {
        fixture().run((n, f) -> {
            RawPacketEnd near = new RawPacketEnd(n).ready();
            RawPacketEnd far = new RawPacketEnd(f).ready();
            far.qp.createFlow(everything()).close();
            far.qp.close();
            QueuePair next = far.queuePair();
            RawPacketEnd.to(next, QueuePairState.INIT);
            assertPosted(next.receiveQueue().post(77, far.region, 0, far.buffer));
            RawPacketEnd.to(next, QueuePairState.RTR);
            next.createFlow(everything());
            assertPosted(near.send(1, 0, frame(60, 1)));
            assertStatus(WcStatus.SUCCESS, 77, far.await());
            assertThat(QueuePairType.toString(next.type())).isEqualTo("RAW_PACKET");
            Await.until("RTR", () -> next.state() == QueuePairState.RTR);
        });
    }
}
