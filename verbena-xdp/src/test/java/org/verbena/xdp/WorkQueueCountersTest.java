// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.xdp.SpreadEnd.RECEIVES;
import static org.verbena.xdp.SpreadEnd.to;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.verbs.CounterAttachAttributes;
import org.verbena.verbs.Counters;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.RemoteObject;
import org.verbena.verbs.RemoteProcess;
import org.verbena.verbs.RxHashConfiguration;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.WorkQueue;
import org.verbena.verbs.WorkQueueState;

/** What a work queue counts, by the process itself and by those that look at it. */
class WorkQueueCountersTest {
    private static final int PORT = 4000;
    private static final int PACKETS = 7;
    private static final int BYTES = PACKETS * (Frames.UDP_HEADERS + 100);
    private static final List<Integer> POINTS = List.of(SamplePoint.WQ_RX_PACKETS, SamplePoint.WQ_RX_RECEIVES,
            SamplePoint.WQ_RX_RECEIVE_BYTES, SamplePoint.WQ_RESP_FLUSHED);
    private static final int OF_PORT = SamplePoint.PORT;

    private static long[] read(Counters c) throws Exception {
        long[] values = new long[POINTS.size() + 1];
        c.read(values, 0);
        return values;
    }

    private static RemoteObject seen(RemoteProcess process, int type, int number) throws Exception {
        return process.objects(0).stream().filter(o -> o.type() == type && o.number() == number && o.device().equals(
                "xdp_other")).findFirst().orElseThrow();
    }

    @Test
    void receivesOfAWorkQueueAreCountedAndShown() throws Exception {
        RawLink.run(1500, 2, link -> {
            try (SpreadEnd end = SpreadEnd.ready("other", 1);
                    RemoteProcess own = RemoteProcess.open(ProcessHandle.current().pid());
                    DatagramChannel peer = DatagramChannel.open().bind(new InetSocketAddress(RawLink.KERNEL, 0))) {
                WorkQueue wq = end.queues.getFirst();
                Counters counters = end.context.createCounters();
                Counters others = end.context.createCounters();
                for (int i = 0; i < POINTS.size(); i++) {
                    counters.attach(CounterAttachAttributes.of(POINTS.get(i), i), wq);
                    others.attach(CounterAttachAttributes.of(POINTS.get(i), i), end.queues.getLast());
                    assertThat(end.context.supportsSamplePoint(POINTS.get(i))).isTrue();
                }
                counters.attach(CounterAttachAttributes.of(OF_PORT + SamplePoint.QP_RX_RECEIVE_BYTES, POINTS.size()),
                        end.context);
                Errors.expect(Errno.EINVAL, () -> counters.attach(CounterAttachAttributes.of(
                        SamplePoint.QP_RX_PACKETS, 0), wq), "WQ");
                QueuePair qp = end.ready(SpreadEnd.hash(new byte[RxHashConfiguration.TOEPLITZ_KEY_BYTES], 0), 0);
                qp.createFlow(FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, PORT))
                        .build());
                for (int i = 0; i < PACKETS; i++) {
                    peer.send(ByteBuffer.allocate(100), new InetSocketAddress(RawLink.RAW, PORT));
                    Await.until("a datagram", () -> end.frame(0) != null);
                }
                assertThat(read(counters)).containsExactly(PACKETS, PACKETS, BYTES, 0, BYTES);
                assertThat(read(others)).containsOnly(0);
                RemoteObject seen = seen(own, ObjectType.WQ, wq.number());
                assertThat(seen.state()).isEqualTo("RDY");
                assertThat(seen.attributes()).containsEntry("maxWr", (long) RECEIVES).containsKey("cq");
                assertThat(seen.value(SamplePoint.WQ_RX_RECEIVE_BYTES)).isEqualTo(BYTES);
                assertThat(seen(own, ObjectType.QP, qp.number()).state()).isEqualTo("RTS");
                assertThat(seen(own, ObjectType.PORT, 1).value(OF_PORT + SamplePoint.QP_RX_PACKETS)).isEqualTo(PACKETS);
                to(wq, WorkQueueState.ERR);
                assertThat(seen(own, ObjectType.WQ, wq.number()).state()).isEqualTo("ERR");
                assertThat(read(counters)).containsExactly(PACKETS, PACKETS, BYTES, RECEIVES, BYTES);
                WorkQueue another = end.workQueue(end.cqs.getFirst());
                assertThat(seen(own, ObjectType.WQ, another.number()).state()).isEqualTo("RESET");
                another.close();
                assertThat(own.objects(0)).noneMatch(o -> o.type() == ObjectType.WQ && o.number() == another.number());
                assertThat(seen(own, ObjectType.PORT, 1).value(OF_PORT + SamplePoint.QP_RX_PACKETS)).isEqualTo(PACKETS);
            }
        });
    }
}
