// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.tests.conformance.Conformance.assertErrno;
import static org.verbena.tests.conformance.Conformance.assertPosted;
import static org.verbena.tests.conformance.Conformance.assertStatus;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.testkit.Seeds;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.FlowType;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.RssCapabilities;
import org.verbena.verbs.RwqIndirectionTable;
import org.verbena.verbs.RxHashConfiguration;
import org.verbena.verbs.RxHashFields;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkQueue;
import org.verbena.verbs.WorkQueueAttributes;
import org.verbena.verbs.WorkQueueInitAttributes;
import org.verbena.verbs.WorkQueueState;

/** The suite for work queues, indirection tables and hashes of received packets. */
abstract class WorkQueueConformance {
    private static final int RECEIVES = 32;
    private static final int PAYLOAD = 50;
    private static final int FIELDS = RxHashFields.SRC_IPV4 | RxHashFields.DST_IPV4 | RxHashFields.SRC_PORT_UDP
            | RxHashFields.DST_PORT_UDP;

    protected abstract RawPacketFixture fixture();

    /** Work queues with a completion queue and a region each, and a queue pair over their table. */
    private static final class Far {
        final Context context;
        final ProtectionDomain pd;
        final CompletionQueue sendCq;
        final List<CompletionQueue> cqs = new ArrayList<>();
        final List<WorkQueue> queues = new ArrayList<>();
        final List<MemoryRegion> regions = new ArrayList<>();
        final RwqIndirectionTable table;
        final int buffer;
        final int offset;

        Far(Context context, int log) throws Exception {
            this.context = context;
            DeviceAttributes d = context.queryDevice();
            buffer = d.rawReceiveBuffer().orElse(1 << 14);
            offset = d.rawReceiveOffset().orElse(0);
            pd = context.allocateProtectionDomain();
            sendCq = context.createCompletionQueue(8);
            for (int i = 0; i < 1 << log; i++) {
                cqs.add(context.createCompletionQueue(RECEIVES));
                queues.add(context.createWorkQueue(WorkQueueInitAttributes.builder(pd, cqs.getLast()).maxWr(RECEIVES)
                        .build()));
                regions.add(pd.allocate((long) RECEIVES * buffer, AccessFlags.LOCAL_WRITE));
            }
            table = context.createRwqIndirectionTable(log, queues);
        }

        Far ready() throws Exception {
            for (int i = 0; i < queues.size(); i++) {
                queues.get(i).modify(WorkQueueAttributes.to(WorkQueueState.RDY));
                for (int j = 0; j < RECEIVES; j++) {
                    assertPosted(post(i, j));
                }
            }
            return this;
        }

        int post(int queue, int i) {
            return queues.get(queue).receiveQueue().post(i, regions.get(queue), (long) i * buffer, buffer);
        }

        QueuePair queuePair(RxHashConfiguration hash) throws Exception {
            QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(sendCq, sendCq).type(
                    QueuePairType.RAW_PACKET).maxSendWr(0).receiveSideScaling(table, hash).build());
            RawPacketEnd.to(qp, QueuePairState.INIT);
            RawPacketEnd.to(qp, QueuePairState.RTR);
            return qp;
        }

        @Nullable
        Completion poll(int queue) {
            if (cqs.get(queue).startPoll() != 0) {
                return null;
            }
            Completion c = Completion.of(cqs.get(queue));
            cqs.get(queue).endPoll();
            return c;
        }

        Completion await(int queue) {
            @Nullable Completion[] got = {null};
            Await.until("a completion of work queue " + queue, () -> (got[0] = poll(queue)) != null);
            return got[0];
        }

        void assertArrives(int queue, byte[] frame) {
            Completion c = await(queue);
            assertStatus(WcStatus.SUCCESS, c.wrId(), c);
            assertThat(c.opcode()).isEqualTo(WcOpcode.RECV);
            assertThat(c.byteLength()).isBetween((long) frame.length, Math.max(60L, frame.length));
            byte[] got = new byte[frame.length];
            MemorySegment.copy(regions.get(queue).segment(), ValueLayout.JAVA_BYTE, c.wrId() * buffer + offset, got, 0,
                    got.length);
            assertThat(got).isEqualTo(frame);
            assertPosted(post(queue, (int) c.wrId()));
        }
    }

    private interface Ends {
        void run(RawPacketEnd near, Far far) throws Exception;
    }

    private void spread(int log, Ends test) throws Exception {
        fixture().run((n, f) -> {
            assertThat(f.supports(Feature.RSS)).as("the provider spreads packets").isTrue();
            test.run(new RawPacketEnd(n).ready(), new Far(f, log));
        });
    }

    private static RxHashConfiguration hash(byte[] key, int fields) {
        return RxHashConfiguration.of(RxHashConfiguration.TOEPLITZ, key, fields);
    }

    private static FlowAttributes everything() {
        return FlowAttributes.builder().type(FlowType.ALL_DEFAULT).build();
    }

    /** Addresses and ports of a datagram over IPv4, hashed by the definition of Toeplitz. */
    private static int hashOf(byte[] frame, byte[] key) {
        byte[] input = Arrays.copyOfRange(frame, 26, 38);
        BigInteger k = new BigInteger(1, key);
        int hash = 0;
        for (int bit = 0; bit < 8 * input.length; bit++) {
            if ((input[bit / 8] & 0x80 >> bit % 8) != 0) {
                hash ^= k.shiftRight(8 * key.length - 32 - bit).intValue();
            }
        }
        return hash;
    }

    private static void send(RawPacketEnd near, int i, byte[] frame) {
        assertPosted(near.send(i, 0, frame));
        near.isIdle();
    }

    @Test
    void capabilitiesSayWhatCanBeMade() throws Exception {
        spread(1, (near, far) -> {
            RssCapabilities c = far.context.queryDevice().rssCapabilities();
            assertThat(c).isNotNull();
            assertThat(c.queuePairTypes() & 1 << QueuePairType.RAW_PACKET).isNotZero();
            assertThat(c.hashFunctions() & RxHashConfiguration.TOEPLITZ).isNotZero();
            assertThat(c.hashFields() & FIELDS).isEqualTo(FIELDS);
            assertThat(c.maxIndirectionTables()).isPositive();
            assertThat(c.maxIndirectionTableSize()).isGreaterThanOrEqualTo(2);
            assertThat(far.context.supports(Feature.WORK_QUEUE)).isTrue();
            assertThat(far.context.queryDevice().maxWorkQueues().orElse(0)).isGreaterThanOrEqualTo(2);
            int more = 2 * Integer.highestOneBit(c.maxIndirectionTableSize());
            List<WorkQueue> entries = new ArrayList<>(Collections.nCopies(more, far.queues.getFirst()));
            assertErrno(Errno.EINVAL, () -> far.context.createRwqIndirectionTable(Integer.numberOfTrailingZeros(more),
                    entries));
        });
    }

    @Test
    void hashChoosesTheWorkQueue() throws Exception {
        spread(2, (near, far) -> {
            Random random = new Random(Seeds.FIRST);
            byte[] key = new byte[RxHashConfiguration.TOEPLITZ_KEY_BYTES];
            random.nextBytes(key);
            far.ready().queuePair(hash(key, FIELDS)).createFlow(everything());
            for (int i = 0; i < 200; i++) {
                byte[] frame = RawPacketConformance.datagram(random.nextInt(1 << 16), PAYLOAD, i);
                send(near, i, frame);
                far.assertArrives(hashOf(frame, key) & 3, frame);
            }
        });
    }

    @Test
    void packetsWithoutTheFieldsGoToTheFirstEntry() throws Exception {
        spread(1, (near, far) -> {
            byte[] key = new byte[RxHashConfiguration.TOEPLITZ_KEY_BYTES];
            Arrays.fill(key, (byte) -1);
            far.ready().queuePair(hash(key, RxHashFields.SRC_IPV6 | RxHashFields.DST_PORT_TCP)).createFlow(
                    everything());
            for (int i = 0; i < 20; i++) {
                byte[] frame = RawPacketConformance.datagram(i, PAYLOAD, i);
                send(near, i, frame);
                far.assertArrives(0, frame);
            }
        });
    }

    @Test
    void workQueuesHaveStatesOfTheirOwn() throws Exception {
        spread(0, (near, far) -> {
            WorkQueue wq = far.queues.getFirst();
            assertThat(wq.state()).isEqualTo(WorkQueueState.RESET);
            assertThat(far.post(0, 0)).isEqualTo(Errno.EINVAL);
            QueuePair qp = far.queuePair(hash(new byte[RxHashConfiguration.TOEPLITZ_KEY_BYTES], FIELDS));
            qp.createFlow(everything());
            far.ready();
            assertThat(far.post(0, 0)).as("more than there is room for").isEqualTo(Errno.ENOMEM);
            byte[] frame = RawPacketConformance.datagram(1, PAYLOAD, 1);
            send(near, 1, frame);
            far.assertArrives(0, frame);
            assertErrno(Errno.EINVAL, () -> wq.modify(WorkQueueAttributes.builder().currentState(
                    WorkQueueState.RESET).state(WorkQueueState.ERR).build()));
            wq.modify(WorkQueueAttributes.to(WorkQueueState.ERR));
            for (int i = 1; i <= RECEIVES; i++) { // the first one was posted again
                assertStatus(WcStatus.WR_FLUSH_ERR, i % RECEIVES, far.await(0));
            }
            assertThat(far.poll(0)).isNull();
            assertPosted(far.post(0, 3));
            assertStatus(WcStatus.WR_FLUSH_ERR, 3, far.await(0));
            assertErrno(Errno.EINVAL, () -> wq.modify(WorkQueueAttributes.to(WorkQueueState.RDY)));
            wq.modify(WorkQueueAttributes.to(WorkQueueState.RESET));
            far.ready();
            byte[] last = RawPacketConformance.datagram(2, PAYLOAD, 2);
            send(near, 2, last);
            far.assertArrives(0, last);
        });
    }

    @Test
    void whatIsUsedCannotBeClosed() throws Exception {
        spread(1, (near, far) -> {
            QueuePair qp = far.ready().queuePair(hash(new byte[RxHashConfiguration.TOEPLITZ_KEY_BYTES], FIELDS));
            Flow flow = qp.createFlow(FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, 1))
                    .build());
            assertErrno(Errno.EBUSY, qp::close);
            assertErrno(Errno.EBUSY, far.table::close);
            assertErrno(Errno.EBUSY, far.queues.getFirst()::close);
            assertErrno(Errno.EBUSY, far.cqs.getFirst()::close);
            assertErrno(Errno.EBUSY, far.pd::close);
            flow.close();
            qp.close();
            assertErrno(Errno.EBUSY, far.queues.getFirst()::close);
            far.table.close();
            far.queues.getFirst().close();
            far.queues.getFirst().close();
            far.cqs.getFirst().close();
            assertErrno(Errno.EINVAL, () -> far.queues.getFirst().modify(WorkQueueAttributes.to(
                    WorkQueueState.RESET)));
            assertThat(far.post(0, 0)).isEqualTo(Errno.EINVAL);
        });
    }
}
