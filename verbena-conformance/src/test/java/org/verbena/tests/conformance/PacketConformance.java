// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.Feature;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WorkQueueInitAttributes;

/** Raw packets, flows, receive-side scaling and offloads: a provider without them reports that in every call. */
abstract class PacketConformance extends Conformance {
    PacketConformance(ConformanceFixture fixture) {
        super(fixture);
    }

    /** Expects that a verb fails if, and only if, the feature is missing. */
    private static void assertSupported(Context c, String feature, Verb verb) throws Exception {
        try {
            verb.call();
            assertThat(c.supports(feature)).as(feature).isTrue();
        } catch (VerbsException e) {
            assertThat(c.supports(feature)).as("%s: %s", feature, e.getMessage()).isFalse();
            assertThat(Errno.name(e.errno())).as(e.getMessage()).isEqualTo("EOPNOTSUPP");
        }
    }

    @FunctionalInterface
    private interface Verb {
        void call() throws Exception;
    }

    @Test
    void rawPacketQueuePairNeedsItsFeature() throws Exception {
        End e = end(EndOptions.defaults());
        assertSupported(e.context, Feature.RAW_PACKET, () -> e.pd
                .createQueuePair(e.initAttributes().toBuilder().type(QueuePairType.RAW_PACKET).build()).close());
    }

    @Test
    void flowForAConnectedQueuePairIsRefused() throws Exception {
        End e = end(EndOptions.defaults());
        assertErrno(Errno.EINVAL, () -> e.qp.createFlow(FlowAttributes.builder().spec(FlowSpec.udp()).build()), "RC");
    }

    @Test
    void workQueueNeedsItsFeature() throws Exception {
        End e = end(EndOptions.defaults());
        assertSupported(e.context, Feature.WORK_QUEUE, () -> e.context
                .createWorkQueue(WorkQueueInitAttributes.builder(e.pd, e.receiveCq).build()).close());
        assertErrno(Errno.EINVAL, () -> e.context
                .createWorkQueue(WorkQueueInitAttributes.builder(e.pd, e.receiveCq).maxWr(0).build()), "maxWr");
        assertErrno(Errno.EINVAL, () -> e.context.createRwqIndirectionTable(0, List.of()), "0 work queues");
    }

    @Test
    void workQueuesOfForeignObjectsAreRefused() throws Exception {
        End e = end(EndOptions.defaults());
        End other = end(EndOptions.defaults());
        assertErrno(Errno.EINVAL, () -> e.context
                .createWorkQueue(WorkQueueInitAttributes.builder(other.pd, e.receiveCq).build()), "another context");
        assertErrno(Errno.EINVAL, () -> e.context
                .createWorkQueue(WorkQueueInitAttributes.builder(e.pd, other.receiveCq).build()), "another context");
    }

    @ParameterizedTest
    @ValueSource(ints = {SendFlags.IP_CSUM, SendFlags.DUMMY, SendFlags.DUMMY | SendFlags.IP_CSUM})
    void offloadFlagsNeedTheirFeatures(int flag) throws Exception {
        Pair p = connected();
        boolean known = ((flag & SendFlags.IP_CSUM) == 0 || p.near.context.supports(Feature.IP_CHECKSUM))
                && ((flag & SendFlags.DUMMY) == 0 || p.near.context.supports(Feature.DUMMY_SEND));
        if (!known) {
            for (End.Posting how : End.Posting.values()) {
                p.near.posting = how;
                assertRefused(Errno.EOPNOTSUPP, p.near.post(Op.write(1, p.farAddress, 0).on(0, 8).and(flag)));
            }
            p.near.expectNoCompletion();
        }
    }

    @Test
    void segmentedSendIsRefusedWithoutSideEffects() throws Exception {
        Pair p = connected();
        assertRefused(Errno.EOPNOTSUPP, p.near.qp.sendQueue().start()
                .sendSegmented(1, SendFlags.SIGNALED, p.near.region.segment(), 0, 14, 1000).sge(p.near.region, 0, 4096)
                .complete());
        assertPosted(p.near.post(Op.write(2, p.farAddress, 0).on(0, 8))); // the next batch works normally
        assertThat(p.near.awaitSend().wrId()).isEqualTo(2);
    }

    @Test
    void capabilitiesAgreeWithFeatures() throws Exception {
        Context c = open();
        DeviceAttributes d = c.queryDevice();
        assertThat(d.segmentationCapabilities() != null).isEqualTo(c.supports(Feature.SEGMENTATION));
        assertThat(d.rssCapabilities() != null).isEqualTo(c.supports(Feature.RSS));
        assertThat(d.maxWorkQueues().isPresent()).isEqualTo(c.supports(Feature.WORK_QUEUE));
        assertThat(d.rawPacketCapabilities().isPresent()).isEqualTo(c.supports(Feature.RAW_PACKET));
    }
}
