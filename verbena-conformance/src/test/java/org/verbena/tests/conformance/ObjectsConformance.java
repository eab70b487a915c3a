// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsObject;

/** Creation and destruction of protection domains, completion queues, channels and queue pairs, and their limits. */
abstract class ObjectsConformance extends Conformance {
    ObjectsConformance(ConformanceFixture fixture) {
        super(fixture);
    }

    @Test
    void protectionDomainMayBeClosedTwice() throws Exception {
        Context c = open();
        ProtectionDomain pd = c.allocateProtectionDomain();
        assertThat(pd.context()).isSameAs(c);
        assertThat(pd.isClosed()).isFalse();
        assertThat(pd.describe()).isNotBlank();
        pd.close();
        assertThat(pd.isClosed()).isTrue();
        pd.close();
        assertThat(pd.isClosed()).isTrue();
    }

    @Test
    void manyProtectionDomainsCanBeAllocated() throws Exception {
        Context c = open();
        List<ProtectionDomain> pds = new ArrayList<>();
        for (int i = 0; i < Math.min(500, c.queryDevice().maxPd()); i++) {
            pds.add(c.allocateProtectionDomain());
        }
        for (ProtectionDomain pd : pds.reversed()) {
            pd.close();
        }
    }

    @Test
    void closedProtectionDomainRefusesEverything() throws Exception {
        End e = end(EndOptions.defaults());
        ProtectionDomain pd = e.context.allocateProtectionDomain();
        pd.close();
        assertErrno(Errno.EINVAL, () -> pd.allocate(4096, 0), "closed");
        assertErrno(Errno.EINVAL, () -> pd.register(e.region.segment(), 0), "closed");
        assertErrno(Errno.EINVAL, () -> pd.createQueuePair(e.initAttributes()), "closed");
    }

    @Test
    void everyObjectMayBeClosedTwice() throws Exception {
        End e = end(EndOptions.defaults().channel());
        for (VerbsObject o : List.of(e.qp, e.region, e.sendCq, e.receiveCq, channel(e), e.pd, e.context)) {
            o.close();
            assertThat(o.isClosed()).as(o.describe()).isTrue();
            o.close();
            assertThat(o.toString()).contains("closed");
        }
    }

    private static CompletionChannel channel(End e) {
        return java.util.Objects.requireNonNull(e.channel);
    }

    @Test
    void protectionDomainWithARegionIsBusy() throws Exception {
        Context c = open();
        ProtectionDomain pd = c.allocateProtectionDomain();
        MemoryRegion a = pd.allocate(4096, AccessFlags.ALL);
        MemoryRegion b = pd.allocate(4096, AccessFlags.ALL);
        assertBusy(pd);
        a.close();
        assertBusy(pd);
        b.close();
        pd.close();
    }

    @Test
    void protectionDomainWithAQueuePairIsBusy() throws Exception {
        Context c = open();
        ProtectionDomain pd = c.allocateProtectionDomain();
        CompletionQueue cq = c.createCompletionQueue(4);
        QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).build());
        assertBusy(pd);
        qp.close();
        pd.close();
    }

    @Test
    void completionQueuesOfAQueuePairAreBusy() throws Exception {
        Context c = open();
        ProtectionDomain pd = c.allocateProtectionDomain();
        CompletionQueue send = c.createCompletionQueue(4);
        CompletionQueue receive = c.createCompletionQueue(4);
        QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(send, receive).build());
        QueuePair other = pd.createQueuePair(QueuePairInitAttributes.builder(send, send).build());
        assertBusy(send);
        assertBusy(receive);
        qp.close();
        receive.close();
        assertBusy(send);
        other.close();
        send.close();
    }

    @Test
    void channelOfACompletionQueueIsBusy() throws Exception {
        Context c = open();
        CompletionChannel channel = c.createCompletionChannel();
        CompletionQueue cq = c
                .createCompletionQueue(CompletionQueueAttributes.builder().cqe(1).channel(channel).build());
        assertThat(cq.channel()).isSameAs(channel);
        assertBusy(channel);
        cq.close();
        channel.close();
    }

    /** A refused close leaves the object unchanged. */
    private static void assertBusy(VerbsObject o) {
        assertErrno(Errno.EBUSY, o::close);
        assertThat(o.isClosed()).isFalse();
    }

    @Test
    void busyObjectStaysUsable() throws Exception {
        End e = end(EndOptions.defaults());
        assertBusy(e.pd);
        assertBusy(e.sendCq);
        e.pd.allocate(100, AccessFlags.LOCAL_WRITE).close();
        e.toInit();
        assertPosted(e.postReceives(Op.receive(1).on(0, 8)));
        assertThat(e.sendCq.startPoll()).isEqualTo(Errno.ENOENT);
    }

    @Test
    void channelOfAnotherContextIsRefused() throws Exception {
        Context c = open();
        CompletionChannel foreign = open().createCompletionChannel();
        assertErrno(Errno.EINVAL, () -> c
                .createCompletionQueue(CompletionQueueAttributes.builder().channel(foreign).build()),
                "another context");
        foreign.close();
    }

    @Test
    void closedChannelIsRefused() throws Exception {
        Context c = open();
        CompletionChannel channel = c.createCompletionChannel();
        channel.close();
        assertErrno(Errno.EINVAL,
                () -> c.createCompletionQueue(CompletionQueueAttributes.builder().channel(channel).build()), "closed");
    }

    @ParameterizedTest
    @ValueSource(ints = {1 << 12, 1 << 20, 1 << 30, Integer.MIN_VALUE})
    void unknownCompletionFieldsAreNotSupported(int field) throws Exception {
        Context c = open();
        assertErrno(Errno.EOPNOTSUPP, () -> c.createCompletionQueue(CompletionQueueAttributes.builder()
                .fields(CompletionQueueAttributes.STANDARD_FIELDS | field).build()));
    }

    @Test
    void closedCompletionQueueReturnsEinval() throws Exception {
        Context c = open();
        CompletionQueue cq = c.createCompletionQueue(1);
        cq.close();
        assertRefused(Errno.EINVAL, cq.startPoll());
        assertRefused(Errno.EINVAL, cq.requestNotify(false));
        assertThat(cq.poll(org.verbena.verbs.WorkCompletion.array(2))).isZero();
        ProtectionDomain pd = c.allocateProtectionDomain();
        assertErrno(Errno.EINVAL, () -> pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).build()), "closed");
    }

    @Test
    void queueWithoutAChannelCannotBeArmed() throws Exception {
        assertRefused(Errno.EINVAL, open().createCompletionQueue(1).requestNotify(false));
    }

    @Test
    void newQueuePairIsInReset() throws Exception {
        End e = end(EndOptions.defaults());
        assertThat(e.qp.state()).isEqualTo(QueuePairState.RESET);
        assertThat(e.qp.query().state()).isEqualTo(QueuePairState.RESET);
        assertThat(e.qp.type()).isEqualTo(QueuePairType.RC);
        assertThat(e.qp.number()).isBetween(1, 0xffffff);
        assertThat(e.qp.protectionDomain()).isSameAs(e.pd);
        assertThat(e.qp.errorReason()).isEmpty();
        assertThat(e.qp.describe()).contains(Integer.toHexString(e.qp.number()));
    }

    @Test
    void capacitiesAreAtLeastAsRequested() throws Exception {
        End e = end(EndOptions.defaults());
        QueuePairInitAttributes asked = QueuePairInitAttributes.builder(e.sendCq, e.receiveCq).maxSendWr(5)
                .maxReceiveWr(7).maxSendSge(2).maxReceiveSge(1).maxInlineData(Math.min(17, e.device.maxInlineData()))
                .sqSigAll(true).build();
        try (QueuePair qp = e.pd.createQueuePair(asked)) {
            QueuePairInitAttributes got = qp.initAttributes();
            assertThat(got.maxSendWr()).isGreaterThanOrEqualTo(5);
            assertThat(got.maxReceiveWr()).isGreaterThanOrEqualTo(7);
            assertThat(got.maxSendSge()).isGreaterThanOrEqualTo(2);
            assertThat(got.maxReceiveSge()).isGreaterThanOrEqualTo(1);
            assertThat(got.maxInlineData()).isGreaterThanOrEqualTo(asked.maxInlineData());
            assertThat(got.sqSigAll()).isTrue();
            assertThat(got.sendCq()).isSameAs(e.sendCq);
            assertThat(got.receiveCq()).isSameAs(e.receiveCq);
        }
    }

    @Test
    void limitsOfTheDeviceAreUsable() throws Exception {
        End e = end(EndOptions.defaults());
        DeviceAttributes d = e.device;
        e.pd.createQueuePair(QueuePairInitAttributes.builder(e.sendCq, e.receiveCq).maxSendWr(d.maxQpWr())
                .maxReceiveWr(d.maxQpWr()).build()).close();
        e.pd.createQueuePair(QueuePairInitAttributes.builder(e.sendCq, e.receiveCq).maxSendSge(d.maxSge())
                .maxReceiveSge(d.maxSge()).maxInlineData(d.maxInlineData()).build()).close();
    }

    @Test
    void capacityBeyondTheLimitOfTheDeviceIsRefusedAndNamed() throws Exception {
        End e = end(EndOptions.defaults());
        DeviceAttributes d = e.device;
        assertCap(e, "maxSendWr", d.maxQpWr(), QueuePairInitAttributes.Builder::maxSendWr);
        assertCap(e, "maxReceiveWr", d.maxQpWr(), QueuePairInitAttributes.Builder::maxReceiveWr);
        assertCap(e, "maxSendSge", d.maxSge(), QueuePairInitAttributes.Builder::maxSendSge);
        assertCap(e, "maxReceiveSge", d.maxSge(), QueuePairInitAttributes.Builder::maxReceiveSge);
        assertCap(e, "maxInlineData", d.maxInlineData(), QueuePairInitAttributes.Builder::maxInlineData);
    }

    private static void assertCap(End e, String name, int max,
            java.util.function.ObjIntConsumer<QueuePairInitAttributes.Builder> set) {
        for (int wrong : new int[] {max + 1, Integer.MAX_VALUE, -1, Integer.MIN_VALUE}) {
            QueuePairInitAttributes.Builder b = QueuePairInitAttributes.builder(e.sendCq, e.receiveCq);
            set.accept(b, wrong);
            assertErrno(Errno.EINVAL, () -> e.pd.createQueuePair(b.build()), name, Integer.toString(wrong));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 5, 99, 255, -1})
    void queuePairOfAnUnknownTypeIsNotSupported(int type) throws Exception {
        End e = end(EndOptions.defaults());
        assertErrno(Errno.EOPNOTSUPP, () -> e.pd
                .createQueuePair(QueuePairInitAttributes.builder(e.sendCq, e.receiveCq).type(type).build()));
    }

    @Test
    void queuePairWithAForeignCompletionQueueIsRefused() throws Exception {
        End e = end(EndOptions.defaults());
        CompletionQueue foreign = open().createCompletionQueue(1);
        assertErrno(Errno.EINVAL,
                () -> e.pd.createQueuePair(QueuePairInitAttributes.builder(foreign, e.receiveCq).build()),
                "another context");
        assertErrno(Errno.EINVAL,
                () -> e.pd.createQueuePair(QueuePairInitAttributes.builder(e.sendCq, foreign).build()),
                "another context");
        foreign.close();
    }

    @Test
    void refusedCreationLeavesNothingBehind() throws Exception {
        End e = end(EndOptions.defaults());
        ProtectionDomain pd = e.context.allocateProtectionDomain();
        CompletionQueue cq = e.context.createCompletionQueue(1);
        assertErrno(Errno.EOPNOTSUPP,
                () -> pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(99).build()));
        assertErrno(Errno.EINVAL, () -> pd.allocate(0, 0));
        pd.close();
        cq.close();
    }

    /** A peer names a queue pair by GID and number; a provider may give each context its own GID. */
    @Test
    void queuePairNumbersAreUnique() throws Exception {
        End a = end(EndOptions.defaults());
        End b = end(EndOptions.defaults());
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            for (End e : List.of(a, b)) {
                EndAddress x = e.address(e.queuePair());
                names.add(x.gid() + " " + x.queuePairNumber());
            }
        }
        assertThat(names).doesNotHaveDuplicates();
    }

    @Test
    void closedQueuePairRefusesEverything() throws Exception {
        End e = end(EndOptions.defaults());
        e.toInit();
        e.qp.close();
        assertRefused(Errno.EINVAL, e.post(Op.send(1)));
        assertRefused(Errno.EINVAL, e.postReceives(Op.receive(1).on(0, 8)));
        assertRefused(Errno.EINVAL, e.qp.receiveQueue().post(1, e.region, 0, 8));
        assertErrno(Errno.EINVAL, () -> e.qp.modify(QueuePairAttributes.to(QueuePairState.RESET).build()), "closed");
        assertErrno(Errno.EINVAL, e.qp::query, "closed");
    }

    @Test
    void queuePairsAreCreatedAndDestroyedRepeatedly() throws Exception {
        End e = end(EndOptions.defaults());
        for (int i = 0; i < 2000; i++) {
            QueuePair qp = e.pd.createQueuePair(e.initAttributes());
            e.toInit(qp);
            assertPosted(e.postReceives(qp, Op.receive(i).on(0, 8)));
            qp.close();
        }
        assertThat(End.poll(e.receiveCq, 1)).isEmpty();
    }
}
