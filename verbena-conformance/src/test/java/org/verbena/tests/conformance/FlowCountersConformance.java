// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.tests.conformance.Conformance.assertErrno;
import static org.verbena.tests.conformance.Conformance.assertPosted;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.verbs.Context;
import org.verbena.verbs.CounterAttachAttributes;
import org.verbena.verbs.Counters;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowFlags;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.FlowType;
import org.verbena.verbs.ReadCountersFlags;
import org.verbena.verbs.SamplePoint;

/** The suite for counters of flows: what is attached before a flow and after, what adds up, what is refused. */
abstract class FlowCountersConformance {
    private static final int PAYLOAD = 100;
    private static final int BYTES = 14 + 20 + 8 + PAYLOAD;

    protected abstract RawPacketFixture fixture();

    private interface Ends {
        void run(RawPacketEnd near, RawPacketEnd far) throws Exception;
    }

    /** Both ends are ready, and flows of the far one are counted. */
    private void counting(Ends test) throws Exception {
        fixture().run((n, f) -> {
            assertThat(f.supports(Feature.FLOW) && f.supportsSamplePoint(SamplePoint.PACKETS)).as(
                    "the provider counts flows").isTrue();
            test.run(new RawPacketEnd(n).ready(), new RawPacketEnd(f).ready());
        });
    }

    private static CounterAttachAttributes at(int point, int index) {
        return CounterAttachAttributes.of(point, index);
    }

    private static long[] read(Counters c, int n) throws Exception {
        long[] values = new long[n];
        c.read(values, 0);
        return values;
    }

    private static FlowAttributes.Builder toPort(int port) {
        return FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, port));
    }

    private static void send(RawPacketEnd near, int port, int times) {
        for (int i = 0; i < times; i++) {
            assertPosted(near.send(i, 0, RawPacketConformance.datagram(port, PAYLOAD, i)));
            near.isIdle();
        }
    }

    @Test
    void flowCreatedWithCountersCountsFromTheBeginning() throws Exception {
        counting((near, far) -> {
            Counters c = far.context.createCounters();
            c.attach(at(SamplePoint.PACKETS, 0));
            c.attach(at(SamplePoint.BYTES, 1));
            Flow one = far.qp.createFlow(toPort(4000).spec(FlowSpec.count(c)).build());
            Flow two = far.qp.createFlow(toPort(4001).spec(FlowSpec.count(c)).build());
            assertErrno(Errno.EBUSY, () -> c.attach(at(SamplePoint.BYTES, 2)), "2 objects");
            send(near, 4000, 3);
            send(near, 4001, 2);
            send(near, 4002, 1);
            for (int i = 0; i < 5; i++) {
                far.receive();
            }
            assertThat(read(c, 2)).containsExactly(5, 5 * BYTES);
            one.close();
            assertErrno(Errno.EBUSY, c::close);
            send(near, 4001, 1);
            far.receive();
            assertThat(read(c, 3)).containsExactly(6, 6 * BYTES, 0);
            two.close();
            assertThat(read(c, 2)).containsExactly(6, 6 * BYTES);
            c.attach(at(SamplePoint.BYTES, 2));
            c.close();
        });
    }

    @Test
    void flowIsAttachedAndDetachedWhileItIsThere() throws Exception {
        counting((near, far) -> {
            Flow flow = far.qp.createFlow(toPort(4000).build());
            send(near, 4000, 2);
            far.receive();
            far.receive();
            Counters c = far.context.createCounters();
            c.attach(at(SamplePoint.PACKETS, 1), flow);
            c.attach(at(SamplePoint.PACKETS, 1), flow);
            c.attach(at(SamplePoint.BYTES, 1), flow);
            assertThat(read(c, 2)).containsExactly(0, 0);
            send(near, 4000, 3);
            for (int i = 0; i < 3; i++) {
                far.receive();
            }
            assertThat(read(c, 2)).containsExactly(0, 3 + 3 + 3 * BYTES);
            c.detach(at(SamplePoint.BYTES, 1), flow);
            send(near, 4000, 1);
            far.receive();
            assertThat(read(c, 2)).containsExactly(0, 4 + 4 + 3 * BYTES);
            long[] cached = {1, 1};
            c.read(cached, ReadCountersFlags.PREFER_CACHED);
            assertThat(cached).containsExactly(0, 4 + 4 + 3 * BYTES);
            flow.close(); // counters do not keep it
            assertThat(read(c, 2)).containsExactly(0, 4 + 4 + 3 * BYTES);
            c.close();
        });
    }

    @Test
    void droppedAndWatchedPacketsAreCounted() throws Exception {
        counting((near, far) -> {
            Counters dropped = far.context.createCounters();
            dropped.attach(at(SamplePoint.PACKETS, 0));
            Counters watched = far.context.createCounters();
            watched.attach(at(SamplePoint.PACKETS, 0));
            far.qp.createFlow(toPort(4000).spec(FlowSpec.drop()).spec(FlowSpec.count(dropped)).build());
            far.qp.createFlow(FlowAttributes.builder().flags(FlowFlags.DONT_TRAP).spec(FlowSpec.udp()).spec(FlowSpec
                    .count(watched)).build());
            far.qp.createFlow(toPort(4001).build());
            send(near, 4000, 4);
            send(near, 4001, 2);
            far.receive();
            far.receive();
            assertThat(far.isIdle()).isTrue();
            assertThat(read(dropped, 1)).containsExactly(4);
            assertThat(read(watched, 1)).containsExactly(6);
        });
    }

    @Test
    void watchersOfTheSamePacketsCountEach() throws Exception {
        counting((near, far) -> {
            Counters[] watched = new Counters[3];
            for (int i = 0; i < watched.length; i++) {
                watched[i] = far.context.createCounters();
                watched[i].attach(at(SamplePoint.PACKETS, 0));
                far.qp.createFlow(FlowAttributes.builder().flags(FlowFlags.DONT_TRAP).spec(FlowSpec.udp()).spec(FlowSpec
                        .count(watched[i])).build());
            }
            far.qp.createFlow(toPort(4001).build());
            send(near, 4000, 2);
            send(near, 4001, 1);
            far.receive();
            for (Counters c : watched) {
                assertThat(read(c, 1)).containsExactly(3);
            }
            assertErrno(Errno.EINVAL, () -> far.qp.createFlow(FlowAttributes.builder().type(FlowType.SNIFFER).spec(
                    FlowSpec
                            .drop()).build()), "a sniffer");
        });
    }

    @Test
    void wrongAttachmentsAreRefused() throws Exception {
        counting((near, far) -> {
            Flow flow = far.qp.createFlow(toPort(4000).build());
            Counters c = far.context.createCounters();
            assertErrno(Errno.EINVAL, () -> c.attach(at(SamplePoint.CQ_COMPLETIONS, 0), flow), "type CQ");
            assertErrno(Errno.EOPNOTSUPP, () -> c.attach(at(SamplePoint.PACKETS, 0), far.cq));
            assertErrno(Errno.EOPNOTSUPP, () -> c.attach(at(SamplePoint.PACKETS, 0), far.context));
            assertErrno(Errno.EOPNOTSUPP, () -> c.attach(at(2, 0), flow), "0x2");
            assertErrno(Errno.EOPNOTSUPP, () -> c.attach(at(2, 0)), "does not count");
            assertErrno(Errno.EINVAL, () -> c.attach(at(SamplePoint.BYTES, Counters.MAX_INDEX + 1), flow), "index");
            assertErrno(Errno.EINVAL, () -> c.attach(CounterAttachAttributes.builder(SamplePoint.BYTES, 0).port(1)
                    .build(), flow), "no ports");
            assertErrno(Errno.EINVAL, () -> c.detach(flow), "not attached");
            assertErrno(Errno.EINVAL, () -> far.qp.createFlow(toPort(4001).spec(FlowSpec.count(c)).build()),
                    "nothing was attached");
            Counters ofQueue = far.context.createCounters();
            ofQueue.attach(at(SamplePoint.CQ_COMPLETIONS, 0));
            assertErrno(Errno.EINVAL, () -> far.qp.createFlow(toPort(4001).spec(FlowSpec.count(ofQueue)).build()),
                    "type FLOW");
            Counters ofFlow = far.context.createCounters();
            ofFlow.attach(at(SamplePoint.PACKETS, 0));
            Context other = near.context;
            Counters foreign = other.createCounters();
            foreign.attach(at(SamplePoint.PACKETS, 0));
            assertErrno(Errno.EINVAL, () -> far.qp.createFlow(toPort(4001).spec(FlowSpec.count(foreign)).build()),
                    "another context");
            assertErrno(Errno.EINVAL, () -> foreign.attach(at(SamplePoint.PACKETS, 0), flow), "another context");
            flow.close();
            assertErrno(Errno.EINVAL, () -> c.attach(at(SamplePoint.PACKETS, 0), flow), "closed");
            far.qp.createFlow(toPort(4001).spec(FlowSpec.count(ofFlow)).build()).close();
        });
    }
}
