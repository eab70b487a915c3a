// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.Memfd;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.CompletionQueueModification;
import org.verbena.verbs.DeviceMemory;
import org.verbena.verbs.Feature;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.FlushType;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryAdvice;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryRegionAttributes;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.ParentDomainAllocator;
import org.verbena.verbs.ParentDomainAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairCreateFlags;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.RateLimit;
import org.verbena.verbs.ScatterGatherElement;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendOperations;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.Values;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WorkQueue;
import org.verbena.verbs.WorkQueueInitAttributes;
import org.verbena.verbs.XrcDomain;

/** An optional feature works if, and only if, {@code supports} reports it, and refused calls leave no trace. */
abstract class FeatureConformance extends Conformance {
    private static final int PAGE = 4096;
    private static final Map<String, Use> USES = uses();

    FeatureConformance(ConformanceFixture fixture) {
        super(fixture);
    }

    /** The simplest use of a feature; a post that is refused throws like a verb. */
    @FunctionalInterface
    private interface Use {
        void of(Pair p, End e) throws Exception;
    }

    private static Map<String, Use> uses() {
        Map<String, Use> m = new HashMap<>();
        queuePairs(m);
        operations(m);
        memory(m);
        completions(m);
        domains(m);
        packets(m);
        return m;
    }

    private static void queuePairs(Map<String, Use> m) {
        m.put(Feature.RC, (p, e) -> create(e, QueuePairType.RC, 0).close());
        m.put(Feature.UC, (p, e) -> create(e, QueuePairType.UC, 0).close());
        m.put(Feature.UD, (p, e) -> {
            create(e, QueuePairType.UD, 0).close();
            e.pd.createAddressHandle(AddressVector.to(e.context.queryGid(1, 0))).close();
        });
        m.put(Feature.MULTICAST, (p, e) -> {
            Gid group = Gid.parse(MulticastConformance.newGroup(e.fixture));
            try (QueuePair qp = create(e, QueuePairType.UD, 0)) {
                qp.attachMulticast(group, 0);
                qp.detachMulticast(group, 0);
            }
        });
        m.put(Feature.BLOCK_SELF_MULTICAST,
                (p, e) -> create(e, QueuePairType.UD, QueuePairCreateFlags.BLOCK_SELF_MCAST_LB).close());
        m.put(Feature.SOURCE_QPN, (p, e) -> create(e, QueuePairType.UD, QueuePairCreateFlags.SOURCE_QPN).close());
        m.put(Feature.ALTERNATE_PATH, (p, e) -> e.qp.modify(QueuePairAttributes.builder()
                .alternatePath(p.farAddress.vector(), 0, 14).build()));
        m.put(Feature.RATE_LIMIT, (p, e) -> e.qp.modifyRateLimit(RateLimit.of(1000, 0, 0)));
        m.put(Feature.ENHANCED_CONNECTION, (p, e) -> {
            try (QueuePair qp = create(e, QueuePairType.RC, 0)) {
                qp.setEnhancedConnection(e.qp.queryEnhancedConnection());
            }
        });
        m.put(Feature.DATA_IN_ORDER, (p, e) -> answered(IntStream.of(SendOperations.SEND, SendOperations.WRITE,
                SendOperations.READ).anyMatch(op -> e.qp.queryDataInOrder(op) != 0) ? 0 : Errno.EOPNOTSUPP));
        m.put(Feature.CONNECTION_MANAGER, (p, e) -> e.context.connectionManager());
        m.put(Feature.DATAGRAM_SERVICE, (p, e) -> {
            try (QueuePair qp = create(e, QueuePairType.UD, 0)) {
                e.context.connectionManager().provide(new InetSocketAddress(0), qp).close();
            }
        });
        m.put(Feature.SHARED_RECEIVE_QUEUE, (p, e) -> receiveQueue(e).close());
        m.put(Feature.SHARED_RECEIVE_QUEUE_RESIZE, (p, e) -> {
            try (SharedReceiveQueue q = receiveQueue(e)) {
                q.modify(SharedReceiveQueueAttributes.builder().maxWr(16).build());
            }
        });
    }

    private static QueuePair create(End e, int type, int flags) throws VerbsException {
        QueuePairInitAttributes.Builder b = QueuePairInitAttributes.builder(e.sendCq, e.receiveCq).type(type);
        return e.pd.createQueuePair((flags == 0 ? b : b.createFlags(flags)).build());
    }

    private static SharedReceiveQueue receiveQueue(End e) throws VerbsException {
        return e.pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(8).maxSge(1).build());
    }

    private static void operations(Map<String, Use> m) {
        m.put(Feature.ATOMICS, (p, e) -> {
            answered(e.post(Op.fetchAndAdd(1, p.farAddress, 0, 1).on(0, 8)));
            succeeds(e);
        });
        m.put(Feature.ATOMIC_WRITE, (p, e) -> {
            answered(e.qp.sendQueue().start()
                    .atomicWrite(1, SendFlags.SIGNALED, p.farAddress.rkey(), p.farAddress.address(), 1).complete());
            succeeds(e);
        });
        m.put(Feature.FLUSH, (p, e) -> {
            answered(e.qp.sendQueue().start().flush(1, SendFlags.SIGNALED, p.farAddress.rkey(), p.farAddress.address(),
                    8, FlushType.GLOBAL, FlushType.RANGE).complete());
            succeeds(e);
        });
        m.put(Feature.FLUSH_PERSISTENT,
                (p, e) -> e.pd.allocate(PAGE, AccessFlags.ALL | AccessFlags.FLUSH_PERSISTENT).close());
        m.put(Feature.MEMORY_WINDOW_TYPE_1, (p, e) -> {
            try (MemoryWindow w = e.pd.allocateMemoryWindow(MemoryWindow.TYPE_1)) {
                answered(e.qp.bindMemoryWindow(w, 1, SendFlags.SIGNALED, e.region, e.region.address(), 64,
                        AccessFlags.REMOTE_READ));
                succeeds(e);
            }
        });
        m.put(Feature.MEMORY_WINDOW_TYPE_2, (p, e) -> bound(e));
        m.put(Feature.SEND_INVALIDATE, (p, e) -> {
            int key = p.far.run(FeatureConformance::bound);
            answered(p.far.postReceives(Op.receive(1).on(0, 64)));
            answered(e.qp.sendQueue().start().sendInvalidate(1, SendFlags.SIGNALED, key).complete());
            succeeds(e);
        });
        m.put(Feature.DUMMY_SEND, (p, e) -> {
            answered(e.post(Op.write(1, p.farAddress, 0).on(0, 8).and(SendFlags.DUMMY)));
            succeeds(e);
        });
    }

    /** Binds a new window of type 2; returns its key. */
    private static int bound(End e) throws VerbsException {
        MemoryWindow w = e.keep(e.pd.allocateMemoryWindow(MemoryWindow.TYPE_2));
        answered(e.qp.sendQueue().start().bindMemoryWindow(1, SendFlags.SIGNALED, w,
                MemoryWindow.incrementRkey(w.rkey()), e.region, e.region.address(), 64, AccessFlags.REMOTE_READ)
                .complete());
        succeeds(e);
        return w.rkey();
    }

    private static void memory(Map<String, Use> m) {
        m.put(Feature.ALLOCATE, (p, e) -> e.pd.allocate(PAGE, AccessFlags.ALL).close());
        m.put(Feature.IOVA, (p, e) -> registers(e, AccessFlags.ALL, 1L << 40));
        m.put(Feature.ZERO_BASED, (p, e) -> registers(e, AccessFlags.ALL | AccessFlags.ZERO_BASED, -1));
        m.put(Feature.ON_DEMAND, (p, e) -> registers(e, AccessFlags.ALL | AccessFlags.ON_DEMAND, -1));
        m.put(Feature.ON_DEMAND_IMPLICIT, (p, e) -> e.pd.register(MemorySegment.NULL.reinterpret(Long.MAX_VALUE),
                AccessFlags.LOCAL_WRITE | AccessFlags.ON_DEMAND).close());
        m.put(Feature.ADVISE, (p, e) -> {
            try (MemoryRegion r = e.pd.allocate(PAGE, AccessFlags.LOCAL_WRITE | AccessFlags.ON_DEMAND)) {
                e.pd.advise(MemoryAdvice.PREFETCH, MemoryAdvice.FLUSH, List.of(ScatterGatherElement.in(r, 0, PAGE)));
            }
        });
        m.put(Feature.DMABUF, (p, e) -> {
            // not a dma-buf, and a provider that knows them reports that
            try (Fd plain = Memfd.create("no-dmabuf", PAGE)) {
                e.pd.register(MemoryRegionAttributes.builder(AccessFlags.ALL).descriptor(plain.value(), PAGE).build())
                        .close();
            } catch (VerbsException x) {
                answered(x.errno() == Errno.EINVAL ? 0 : x.errno());
            }
        });
        m.put(Feature.REREGISTER, (p, e) -> {
            try (Arena arena = Arena.ofShared(); MemoryRegion r = e.pd.register(arena.allocate(PAGE, PAGE), 0)) {
                r.reregister(MemoryRegion.CHANGE_ACCESS, null, null, AccessFlags.ALL);
            }
        });
        m.put(Feature.NULL_REGION, (p, e) -> e.pd.allocateNullRegion().close());
        m.put(Feature.DEVICE_MEMORY, (p, e) -> {
            try (DeviceMemory d = e.context.allocateDeviceMemory(64, 0)) {
                e.pd.registerDeviceMemory(d, 0, 64, AccessFlags.LOCAL_WRITE | AccessFlags.ZERO_BASED).close();
            }
        });
    }

    private static void registers(End e, int access, long iova) throws VerbsException {
        try (Arena arena = Arena.ofShared()) {
            MemoryRegionAttributes.Builder b = MemoryRegionAttributes.builder(access)
                    .memory(arena.allocate(PAGE, PAGE));
            e.pd.register((iova < 0 ? b : b.iova(iova)).build()).close();
        }
    }

    private static void completions(Map<String, Use> m) {
        m.put(Feature.COMPLETION_TIMESTAMP, completing(CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP));
        m.put(Feature.COMPLETION_TIMESTAMP_WALLCLOCK,
                completing(CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP_WALLCLOCK));
        m.put(Feature.CVLAN_STRIPPING, completing(CompletionQueueAttributes.WITH_CVLAN));
        m.put(Feature.FLOW_TAG, completing(CompletionQueueAttributes.WITH_FLOW_TAG));
        m.put(Feature.TAG_MATCHING, completing(CompletionQueueAttributes.WITH_TM_INFO));
        m.put(Feature.COUNTERS, (p, e) -> e.context.createCounters().close());
        m.put(Feature.CQ_RESIZE, (p, e) -> e.sendCq.resize(e.sendCq.cqe() + 1));
        m.put(Feature.CQ_MODERATION, (p, e) -> {
            e.sendCq.modify(CompletionQueueModification.moderate(2, 2));
            e.sendCq.modify(CompletionQueueModification.moderate(0, 0));
        });
        m.put(Feature.QUERY_VALUES,
                (p, e) -> assertThat(e.context.queryValues(Values.RAW_CLOCK).rawClock()).isPresent());
    }

    private static Use completing(int field) {
        return (p, e) -> e.context.createCompletionQueue(CompletionQueueAttributes.builder().cqe(8)
                .fields(CompletionQueueAttributes.STANDARD_FIELDS | field).build()).close();
    }

    private static void domains(Map<String, Use> m) {
        m.put(Feature.THREAD_DOMAIN, (p, e) -> e.context.allocateThreadDomain().close());
        m.put(Feature.PARENT_DOMAIN, (p, e) -> e.context
                .allocateParentDomain(ParentDomainAttributes.builder().protectionDomain(e.pd).build()).close());
        m.put(Feature.PARENT_DOMAIN_ALLOCATOR, (p, e) -> e.context.allocateParentDomain(ParentDomainAttributes.builder()
                .protectionDomain(e.pd).allocator(new DefaultMemory()).build()).close());
        m.put(Feature.XRC, (p, e) -> {
            try (XrcDomain d = e.context.openXrcDomain(XrcEnd.privateDomain());
                    SharedReceiveQueue q = e.pd.createSharedReceiveQueue(XrcEnd.queue(d, e.receiveCq).build());
                    QueuePair target = XrcEnd.newTarget(d);
                    QueuePair opened = d.openQueuePair(XrcEnd.numbered(target.number()));
                    QueuePair sender = create(e, QueuePairType.XRC_SEND, 0)) {
                assertThat(q.number()).isBetween(0, 0xffffff);
                assertThat(opened.number()).isEqualTo(target.number());
                assertThat(sender.state()).isEqualTo(QueuePairState.RESET);
            }
        });
    }

    /** Leaves all memory to the provider. */
    private static final class DefaultMemory implements ParentDomainAllocator {
        @Override
        public MemorySegment allocate(ProtectionDomain parentDomain, @Nullable Object pdContext, long bytes,
                long alignment, long resourceType) {
            return USE_DEFAULT;
        }

        @Override
        public void free(ProtectionDomain parentDomain, @Nullable Object pdContext, MemorySegment memory,
                long resourceType) {
            throw new AssertionError("nothing was allocated");
        }
    }

    private static void packets(Map<String, Use> m) {
        m.put(Feature.RAW_PACKET, (p, e) -> create(e, QueuePairType.RAW_PACKET, 0).close());
        m.put(Feature.FLOW, (p, e) -> {
            try (QueuePair qp = create(e, QueuePairType.UD, 0)) {
                qp.createFlow(FlowAttributes.builder().spec(FlowSpec.udp()).build()).close();
            }
        });
        m.put(Feature.WORK_QUEUE, (p, e) -> workQueue(e).close());
        m.put(Feature.RSS, (p, e) -> {
            try (WorkQueue wq = workQueue(e)) {
                e.context.createRwqIndirectionTable(0, List.of(wq)).close();
            }
        });
        m.put(Feature.IP_CHECKSUM, (p, e) -> {
            answered(e.post(Op.send(1).on(0, 8).and(SendFlags.IP_CSUM)));
            succeeds(e);
        });
        m.put(Feature.SEGMENTATION, (p, e) -> {
            answered(e.qp.sendQueue().start().sendSegmented(1, SendFlags.SIGNALED, e.region.segment(), 0, 14, 1000)
                    .sge(e.region, 0, 4096).complete());
            succeeds(e);
        });
    }

    private static WorkQueue workQueue(End e) throws VerbsException {
        return e.context.createWorkQueue(WorkQueueInitAttributes.builder(e.pd, e.receiveCq).build());
    }

    private static void answered(int errno) throws VerbsException {
        if (errno != 0) {
            throw new VerbsException("post", errno, "answered by an errno");
        }
    }

    private static void succeeds(End e) throws VerbsException {
        assertThat(e.awaitSend().statusName()).isEqualTo("SUCCESS");
    }

    static Stream<String> features() {
        return USES.keySet().stream().sorted();
    }

    @ParameterizedTest
    @MethodSource("features")
    void featureWorksIfAndOnlyIfReported(String feature) throws Exception {
        EndOptions o = EndOptions.defaults()
                .access(AccessFlags.ALL | AccessFlags.MW_BIND | AccessFlags.FLUSH_GLOBAL)
                .queuePairAccess(AccessFlags.ALL | AccessFlags.FLUSH_GLOBAL);
        Pair p = connected(o, o);
        VerbsException refused = null;
        try {
            USES.get(feature).of(p, p.near);
        } catch (VerbsException e) {
            refused = e;
        }
        if (p.near.context.supports(feature)) {
            assertThat(refused).as(feature).isNull();
        } else {
            assertThat(refused).as("%s works and is said not to", feature).isNotNull();
            assertThat(Errno.name(refused.errno())).as(refused.getMessage()).isEqualTo("EOPNOTSUPP");
        }
        sent(p, Op.write(2, p.farAddress, 0).on(0, 8)); // as if nothing had happened
        assertThat(p.far.state()).isEqualTo(p.near.state());
    }

    /** Prevents that an identifier is added that the suite does not know. */
    @Test
    void everyFeatureIdentifierIsTested() throws Exception {
        Set<String> all = new HashSet<>();
        for (Field f : Feature.class.getFields()) {
            if (Modifier.isStatic(f.getModifiers()) && f.getType() == String.class) {
                all.add((String) f.get(null));
            }
        }
        assertThat(USES.keySet()).containsExactlyInAnyOrderElementsOf(all);
    }
}
