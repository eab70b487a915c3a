// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.CounterAttachAttributes;
import org.verbena.verbs.Counters;
import org.verbena.verbs.Feature;
import org.verbena.verbs.MemoryAdvice;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryRegionAttributes;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.ParentDomainAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.ScatterGatherElement;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.SharedReceiveQueueType;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.WorkQueueInitAttributes;

/**
 * Objects of another context: every method of the API that takes an object is listed here; a method that is added later
 * fails {@link #everyMethodWithAnObjectParameterIsTested} until it is.
 */
abstract class ForeignObjectsConformance extends Conformance {
    /** Methods that take objects of any context, and why. */
    private static final Map<String, String> NOT_TESTED = Map.of(
            "AsyncEvent.builder(int, VerbsObject)", "for providers",
            "Context.adopt(VerbsObject)", "for providers",
            "ParentDomainAllocator.allocate(ProtectionDomain, Object, long, long, long)", "called by a provider",
            "ParentDomainAllocator.free(ProtectionDomain, Object, MemorySegment, long)", "called by a provider",
            "QueuePairInitAttributes.Builder.receiveSideScaling(RwqIndirectionTable, RxHashConfiguration)",
            "tested with the API, for providers that have none",
            "FlowSpec.count(Counters)", "tested with the API, for providers that have no flows",
            "Context.createRwqIndirectionTable(int, List)", "tested with the API, for providers that have none");

    /** A call with a local end in RTS and one of another context. */
    @FunctionalInterface
    private interface Attempt {
        void with(End own, End foreign) throws Exception;
    }

    private final Map<String, Attempt> attempts = new TreeMap<>();

    ForeignObjectsConformance(ConformanceFixture fixture) {
        super(fixture);
        refused("CompletionQueueAttributes.Builder.channel(CompletionChannel)",
                (own, foreign) -> own.context.createCompletionQueue(CompletionQueueAttributes.builder()
                        .channel(foreign.context.createCompletionChannel()).build()));
        refused(Feature.PARENT_DOMAIN, "CompletionQueueAttributes.Builder.parentDomain(ProtectionDomain)",
                (own, foreign) -> own.context.createCompletionQueue(
                        CompletionQueueAttributes.builder().parentDomain(parent(foreign)).build()));
        refused(Feature.PARENT_DOMAIN, "ParentDomainAttributes.Builder.protectionDomain(ProtectionDomain)",
                (own, foreign) -> own.context.allocateParentDomain(
                        ParentDomainAttributes.builder().protectionDomain(foreign.pd).build()));
        refused(Feature.THREAD_DOMAIN, "ParentDomainAttributes.Builder.threadDomain(ThreadDomain)",
                (own, foreign) -> own.context.allocateParentDomain(ParentDomainAttributes.builder()
                        .protectionDomain(own.pd).threadDomain(foreign.context.allocateThreadDomain()).build()));
        refused("QueuePairInitAttributes.builder(CompletionQueue, CompletionQueue)", (own, foreign) -> {
            assertErrno(Errno.EINVAL, () -> own.pd.createQueuePair(
                    QueuePairInitAttributes.builder(foreign.sendCq, own.receiveCq).build()), "another context");
            own.pd.createQueuePair(QueuePairInitAttributes.builder(own.sendCq, foreign.receiveCq).build());
        });
        refused("WorkQueueInitAttributes.builder(ProtectionDomain, CompletionQueue)",
                (own, foreign) -> own.context.createWorkQueue(
                        WorkQueueInitAttributes.builder(foreign.pd, own.receiveCq).build()));
        refused("MemoryRegion.reregister(int, ProtectionDomain, MemorySegment, int)",
                (own, foreign) -> own.region.reregister(MemoryRegion.CHANGE_PD, foreign.pd, null, 0));
        refused("ConnectionManager.connect(QueuePair, InetSocketAddress, ConnectionParameters)",
                (own, foreign) -> own.context.connectionManager().connect(foreign.queuePair(),
                        new InetSocketAddress("localhost", 1), ConnectionParameters.defaults()));
        refused("ConnectionRequest.accept(QueuePair, ConnectionParameters)", ForeignObjectsConformance::accept);
        refused(Feature.DATAGRAM_SERVICE, "ConnectionManager.provide(InetSocketAddress, QueuePair, byte[])",
                (own, foreign) -> own.context.connectionManager().provide(new InetSocketAddress(0), foreign.pd
                        .createQueuePair(foreign.initAttributes().toBuilder().type(QueuePairType.UD).build())));
        refused(Feature.SHARED_RECEIVE_QUEUE,
                "QueuePairInitAttributes.Builder.sharedReceiveQueue(SharedReceiveQueue)",
                (own, foreign) -> own.pd.createQueuePair(own.initAttributes().toBuilder()
                        .sharedReceiveQueue(foreign.pd.createSharedReceiveQueue(
                                SharedReceiveQueueAttributes.builder().maxWr(4).maxSge(1).build()))
                        .build()));
        refused(Feature.COUNTERS, "CompletionQueueAttributes.Builder.counters(Counters)", (own, foreign) -> own.context
                .createCompletionQueue(CompletionQueueAttributes.builder()
                        .counters(counters(foreign, SamplePoint.CQ_COMPLETIONS)).build()));
        refused(Feature.COUNTERS, "QueuePairInitAttributes.Builder.counters(Counters)", (own, foreign) -> own.pd
                .createQueuePair(own.initAttributes().toBuilder()
                        .counters(counters(foreign, SamplePoint.QP_TX_SENDS)).build()));
        refused(Feature.COUNTERS, "MemoryRegionAttributes.Builder.counters(Counters)", (own, foreign) -> own.pd
                .register(MemoryRegionAttributes.builder(0).memory(own.region.segment())
                        .counters(counters(foreign, SamplePoint.MR_REMOTE_READS)).build()));
        refused(Feature.COUNTERS, "SharedReceiveQueueAttributes.Builder.counters(Counters)", (own, foreign) -> own.pd
                .createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(4)
                        .counters(counters(foreign, SamplePoint.SRQ_POSTED)).build()));
        refused(Feature.XRC, "SharedReceiveQueueAttributes.Builder.xrcDomain(XrcDomain)", (own, foreign) -> own.pd
                .createSharedReceiveQueue(xrcQueue(foreign).completionQueue(own.receiveCq).build()));
        refused(Feature.XRC, "SharedReceiveQueueAttributes.Builder.completionQueue(CompletionQueue)",
                (own, foreign) -> own.pd.createSharedReceiveQueue(
                        xrcQueue(own).completionQueue(foreign.receiveCq).build()));
        refused(Feature.DEVICE_MEMORY, "ProtectionDomain.registerDeviceMemory(DeviceMemory, long, long, int)",
                (own, foreign) -> own.pd.registerDeviceMemory(foreign.context.allocateDeviceMemory(4096, 0), 0, 4096,
                        AccessFlags.ZERO_BASED | AccessFlags.LOCAL_WRITE));
        attempts.put("QueuePair.bindMemoryWindow(MemoryWindow, long, int, MemoryRegion, long, long, int)",
                ForeignObjectsConformance::bind);
        attempts.put("SendQueue.bindMemoryWindow(long, int, MemoryWindow, int, MemoryRegion, long, long, int)",
                ForeignObjectsConformance::postBind);
        attempts.put("SendQueue.datagram(AddressHandle, int, int)", ForeignObjectsConformance::datagram);
        attempts.put("ScatterGatherElement.in(MemoryRegion, long, long)", ForeignObjectsConformance::advise);

        // keys are numbers: one of another context is unknown here, or belongs to other memory
        fails("SendQueue.sge(MemoryRegion, long, long)", (own, foreign) -> own.qp.sendQueue().start()
                .write(1, SendFlags.SIGNALED, own.region.rkey(), own.region.address()).sge(foreign.region, 0, 8)
                .complete());
        fails("SendQueue.postSend(long, int, MemoryRegion, long, long)",
                (own, foreign) -> own.qp.sendQueue().postSend(1, SendFlags.SIGNALED, foreign.region, 0, 8));
        fails("SendQueue.postWrite(long, int, MemoryRegion, long, long, int, long)",
                (own, foreign) -> own.qp.sendQueue().postWrite(1, SendFlags.SIGNALED, foreign.region, 0, 8,
                        own.region.rkey(), own.region.address()));
        fails("SendQueue.postRead(long, int, MemoryRegion, long, long, int, long)",
                (own, foreign) -> own.qp.sendQueue().postRead(1, SendFlags.SIGNALED, foreign.region, 0, 8,
                        own.region.rkey(), own.region.address()));
        receiveFails("ReceiveQueue.sge(MemoryRegion, long, long)",
                (qp, region) -> qp.receiveQueue().start().receive(5).sge(region, 0, 64).complete());
        receiveFails("ReceiveQueue.post(long, MemoryRegion, long, long)",
                (qp, region) -> qp.receiveQueue().post(5, region, 0, 64));
    }

    private void refused(String signature, Attempt attempt) {
        attempts.put(signature, (own, foreign) -> {
            assertErrno(Errno.EINVAL, () -> attempt.with(own, foreign), "context");
        });
    }

    private void refused(String feature, String signature, Attempt attempt) {
        attempts.put(signature, (own, foreign) -> {
            needs(own.context, feature);
            assertErrno(Errno.EINVAL, () -> attempt.with(own, foreign), "context");
        });
    }

    /** A post that may be accepted, and then fails with {@link ConformanceFixture#wrongLocalKey}. */
    @FunctionalInterface
    private interface Post {
        int with(End own, End foreign);
    }

    private void fails(String signature, Post post) {
        attempts.put(signature, (own, foreign) -> {
            QueuePair peer = own.queuePair();
            connect(own, own.qp, peer);
            assertPosted(own.postReceives(peer, Op.receive(9).on(0, 64)));
            int answer = post.with(own, foreign);
            if (answer == 0) {
                assertThat(own.awaitSend().statusName()).isIn("LOC_PROT_ERR", WcStatus.toString(fixture
                        .wrongLocalKey()));
            } else {
                assertRefused(Errno.EINVAL, answer);
            }
        });
    }

    @FunctionalInterface
    private interface PostReceive {
        int with(QueuePair qp, MemoryRegion region);
    }

    private void receiveFails(String signature, PostReceive post) {
        attempts.put(signature, (own, foreign) -> {
            QueuePair peer = own.queuePair();
            connect(own, own.qp, peer);
            int answer = post.with(peer, foreign.region);
            if (answer == 0) {
                assertPosted(own.post(Op.send(1).on(0, 48)));
                Completion c = own.awaitReceive();
                assertThat(c.statusName()).isEqualTo(WcStatus.toString(fixture.wrongReceive()));
            } else {
                assertRefused(Errno.EINVAL, answer);
            }
        });
    }

    private static void connect(End end, QueuePair a, QueuePair b) throws VerbsException {
        for (QueuePair q : List.of(a, b)) {
            end.toInit(q);
            end.toRtr(q, end.address(q == a ? b : a));
            end.toRts(q);
        }
    }

    private static Counters counters(End end, int point) throws VerbsException {
        Counters c = end.context.createCounters();
        c.attach(CounterAttachAttributes.of(point, 0));
        return c;
    }

    private static ProtectionDomain parent(End end) throws VerbsException {
        return end.context.allocateParentDomain(ParentDomainAttributes.builder().protectionDomain(end.pd).build());
    }

    private static SharedReceiveQueueAttributes.Builder xrcQueue(End end) throws VerbsException {
        return SharedReceiveQueueAttributes.builder().maxWr(4).type(SharedReceiveQueueType.XRC)
                .xrcDomain(end.context.openXrcDomain(XrcEnd.privateDomain()));
    }

    private static void accept(End own, End foreign) throws Exception {
        try (var listener = Listening.on(own, 0)) {
            InetSocketAddress at = own.fixture.listenerAt(listener.localAddress());
            QueuePair client = foreign.queuePair();
            foreign.start(e -> {
                try {
                    return e.context.connectionManager().connect(client, at,
                            ConnectionParameters.defaults());
                } catch (VerbsException x) {
                    return x.errno(); // it is rejected in the end
                }
            });
            ConnectionRequest r = listener.awaitRequest(Await.LIMIT);
            assertThat(r).isNotNull();
            try {
                r.accept(foreign.queuePair(), ConnectionParameters.defaults());
            } finally {
                r.reject();
                foreign.join();
            }
        }
    }

    private static void datagram(End own, End foreign) throws Exception {
        needs(own.context, Feature.UD);
        AddressHandle ah = foreign.pd.createAddressHandle(
                AddressVector.builder(own.context.queryGid(1, 0)).port(1).sourceGidIndex(0).build());
        try (QueuePair qp = own.pd.createQueuePair(own.initAttributes().toBuilder().type(QueuePairType.UD).build())) {
            qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(1).build());
            qp.modify(QueuePairAttributes.to(QueuePairState.RTR).build());
            qp.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).build());
            assertRefused(Errno.EINVAL, qp.sendQueue().start().send(1, SendFlags.SIGNALED).datagram(ah, qp.number(), 1)
                    .sge(own.region, 0, 8).complete());
        }
        ah.close();
    }

    private static MemoryRegion bindable(End end) throws VerbsException {
        return end.pd.allocate(4096, AccessFlags.ALL | AccessFlags.MW_BIND);
    }

    private static void bind(End own, End foreign) throws Exception {
        needs(own.context, Feature.MEMORY_WINDOW_TYPE_1);
        connect(own, own.qp, own.queuePair());
        MemoryRegion ownRegion = bindable(own);
        MemoryRegion foreignRegion = bindable(foreign);
        assertThat(own.qp.bindMemoryWindow(foreign.pd.allocateMemoryWindow(MemoryWindow.TYPE_1), 1,
                SendFlags.SIGNALED, ownRegion, ownRegion.address(), 64, AccessFlags.REMOTE_READ))
                .isIn(Errno.EINVAL, Errno.EPERM);
        assertThat(own.qp.bindMemoryWindow(own.pd.allocateMemoryWindow(MemoryWindow.TYPE_1), 1, SendFlags.SIGNALED,
                foreignRegion, foreignRegion.address(), 64, AccessFlags.REMOTE_READ))
                .isIn(Errno.EINVAL, Errno.EPERM);
    }

    private static void postBind(End own, End foreign) throws Exception {
        needs(own.context, Feature.MEMORY_WINDOW_TYPE_2);
        connect(own, own.qp, own.queuePair());
        MemoryWindow window = foreign.pd.allocateMemoryWindow(MemoryWindow.TYPE_2);
        MemoryRegion region = bindable(own);
        int answer = own.qp.sendQueue().start().bindMemoryWindow(1, SendFlags.SIGNALED, window,
                MemoryWindow.incrementRkey(window.rkey()), region, region.address(), 64, AccessFlags.REMOTE_READ)
                .complete();
        if (answer == 0) {
            assertStatus(WcStatus.MW_BIND_ERR, 1, own.awaitSend());
        } else {
            assertThat(answer).isIn(Errno.EINVAL, Errno.EPERM);
        }
    }

    private static void advise(End own, End foreign) throws Exception {
        needs(own.context, Feature.ADVISE);
        VerbsException e = catchThrowableOfType(VerbsException.class,
                () -> own.pd.advise(MemoryAdvice.PREFETCH, MemoryAdvice.FLUSH,
                        List.of(ScatterGatherElement.in(foreign.region, 0, 8))));
        assertThat(e).isNotNull();
        assertThat(Errno.name(e.errno())).as(e.getMessage()).isIn("EFAULT", "EPERM", "ENOENT");
    }

    @Test
    void everyMethodWithAnObjectParameterIsTested() {
        Set<String> all = ApiMethods.classes().stream().flatMap(c -> ApiMethods.methods(c).stream())
                .filter(ApiMethods::takesObject).map(ApiMethods::signature).collect(Collectors.toSet());
        assertThat(Stream.concat(attempts.keySet().stream(), NOT_TESTED.keySet().stream()))
                .containsExactlyInAnyOrderElementsOf(all);
    }

    @TestFactory
    Stream<DynamicTest> objectOfAnotherContextIsRefused() {
        return attempts.entrySet().stream().map(a -> DynamicTest.dynamicTest(a.getKey(), () -> {
            try (End own = End.open(fixture, EndOptions.defaults());
                    End foreign = End.open(fixture, EndOptions.defaults())) {
                a.getValue().with(own, foreign);
            }
        }));
    }
}
