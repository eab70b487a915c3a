// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.verbs.*;

/** The control path with a complete library. Prints the name of each part that passed. */
final class FullProgram {
    private static final AddressVector SELF = AddressVector.to(Gid.parse("::ffff:127.0.0.1"));

    private interface Part {
        void run(Context context) throws Exception;
    }

    private FullProgram() {}

    public static void main(String[] args) throws Exception {
        part("device", FullProgram::device);
        part("memory", FullProgram::memory);
        part("window", FullProgram::window);
        part("deviceMemory", FullProgram::deviceMemory);
        part("queues", FullProgram::queues);
        part("queuePair", FullProgram::queuePair);
        part("sharedReceiveQueue", FullProgram::sharedReceiveQueue);
        part("xrc", FullProgram::xrc);
        part("domains", FullProgram::domains);
        part("flow", FullProgram::flow);
        part("scaling", FullProgram::scaling);
        part("events", FullProgram::events);
        part("closing", FullProgram::closing);
        System.out.println("done");
    }

    private static void part(String name, Part part) throws Exception {
        int before = Mock.alive();
        try (Context c = Verbs.open("mock0")) {
            part.run(c);
        }
        assertThat(Mock.alive()).as("native objects left by " + name).isEqualTo(before);
        System.out.println(name);
    }

    private static void refused(int errno, org.assertj.core.api.ThrowableAssert.ThrowingCallable call,
            String... words) {
        assertThatThrownBy(call).isInstanceOfSatisfying(VerbsException.class, e -> {
            assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno);
            assertThat(List.of(words)).allSatisfy(word -> assertThat(e.getMessage()).contains(word));
        });
    }

    private static void device(Context c) throws VerbsException {
        assertThat(Verbs.problems()).isEmpty();
        Device d = Verbs.devices().getFirst();
        assertThat(List.of(d.name(), d.provider(), d.transport())).containsExactly("mock0", "rdmacore",
                "InfiniBand or RoCE");
        assertThat(d.guid()).isEqualTo(0x0102030405060708L);
        assertThat(d.nodeType()).isEqualTo(NodeType.CA);
        DeviceAttributes a = c.queryDevice();
        assertThat(a.firmwareVersion()).isEqualTo("mock 1.2.3");
        assertThat(a.nodeGuid()).isEqualTo(0x0102030405060708L);
        assertThat(a.maxMrSize()).as("2^64 - 1").isEqualTo(Long.MAX_VALUE);
        assertThat(List.of(a.vendorId(), a.maxQp(), a.maxQpWr(), a.maxSge(), a.maxCqe(), a.maxSrqWr(), a
                .atomicCapability())).containsExactly(0x2c9, 64, 1024, 4, 1000, 512, AtomicCapability.HCA);
        assertThat(a.coreClockKilohertz()).hasValue(1_000_000);
        assertThat(a.maxCqModerationCount()).hasValue(100);
        assertThat(a.maxCqModerationPeriodMicros()).hasValue(200);
        assertThat(a.maxDeviceMemory()).hasValue(4096);
        assertThat(a.rssCapabilities().maxIndirectionTableSize()).isEqualTo(128);
        assertThat(a.segmentationCapabilities()).isNull();
        assertThat(Mock.argument("query_device_ex", 3)).isEqualTo(400);
        PortAttributes p = c.queryPort(1);
        assertThat(List.of(p.state(), p.maxMtu(), p.activeMtu(), p.gidTableLength(), p.pkeyTableLength()))
                .containsExactly(PortAttributes.STATE_ACTIVE, 4096, 1024, 2, 1);
        assertThat(p.linkLayer()).isEqualTo("Ethernet");
        assertThat(p.capabilityFlags2()).hasValue(0x77);
        assertThat(Mock.argument("query_port", 2)).isEqualTo(56);
        refused(Errno.EINVAL, () -> c.queryPort(2));
        assertThat(c.queryGid(1, 0)).isEqualTo(Gid.parse("::ffff:127.0.0.1"));
        refused(Errno.EINVAL, () -> c.queryGid(1, 2));
        assertThat(c.queryGidTable()).singleElement().satisfies(g -> {
            assertThat(g.type()).isEqualTo(GidType.ROCE_V2);
            assertThat(g.interfaceIndex()).isEqualTo(5);
        });
        assertThat(c.queryPkey(1, 0)).isEqualTo(0x7ffe);
        assertThat(c.pkeyIndex(1, 0x7ffe)).isZero();
        assertThat(c.queryValues(Values.RAW_CLOCK).rawClock()).hasValue(987654321);
        assertThat(c.completionVectors()).isEqualTo(2);
        assertThat(c.supports(Feature.XRC)).isTrue();
        assertThat(c.supports(Feature.SEGMENTATION)).isFalse();
    }

    private static void memory(Context c) throws Exception {
        ProtectionDomain pd = c.allocateProtectionDomain();
        try (Arena arena = Arena.ofShared()) {
            MemorySegment m = arena.allocate(8192, 4096);
            MemoryRegion r = pd.register(m, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
            assertThat(Mock.argument("ibv_reg_mr", 1)).isEqualTo(m.address());
            assertThat(List.of(Mock.argument("ibv_reg_mr", 2), Mock.argument("ibv_reg_mr", 3))).containsExactly(8192L,
                    5L);
            assertThat(r.lkey()).isNotZero().isEqualTo(r.rkey());
            assertThat(r.address()).isEqualTo(m.address());
            r.reregister(MemoryRegion.CHANGE_TRANSLATION, null, m.asSlice(4096), 0);
            assertThat(List.of(Mock.argument("ibv_rereg_mr", 1), Mock.argument("ibv_rereg_mr", 3))).containsExactly(1L,
                    m.address() + 4096);
            assertThat(r.length()).isEqualTo(4096);
            pd.register(m, AccessFlags.LOCAL_WRITE | AccessFlags.RELAXED_ORDERING);
            assertThat(Mock.argument("ibv_reg_mr_iova2", 4)).isEqualTo(AccessFlags.RELAXED_ORDERING | 1);
            MemoryRegion moved = pd.register(MemoryRegionAttributes.builder(1).memory(m).iova(0x10000).build());
            assertThat(Mock.argument("ibv_reg_mr_iova", 3)).isEqualTo(0x10000);
            assertThat(moved.address()).isEqualTo(0x10000);
            pd.register(MemoryRegionAttributes.builder(1).descriptor(77, 4096).descriptorOffset(4096).iova(0x20000)
                    .build());
            assertThat(List.of(Mock.argument("ibv_reg_dmabuf_mr", 1), Mock.argument("ibv_reg_dmabuf_mr", 4)))
                    .containsExactly(4096L, 77L);
            pd.advise(MemoryAdvice.PREFETCH, MemoryAdvice.FLUSH, List.of(ScatterGatherElement.in(r, 0, 10),
                    ScatterGatherElement.in(r, 0, 20)));
            assertThat(List.of(Mock.argument("advise_mr", 3), Mock.argument("advise_mr", 4))).containsExactly(20L, 2L);
            pd.allocateNullRegion().close();
            refused(Errno.EBUSY, pd::close);
            refused(Errno.EINVAL, () -> pd.register(MemorySegment.ofArray(new byte[8]), 1));
            refused(Errno.EOPNOTSUPP, () -> pd.register(m, 1 << 10));
            for (int i = 0; i < 100; i++) {
                pd.allocate(4096, 1).close();
            }
        }
    }

    private static void window(Context c) throws Exception {
        ProtectionDomain pd = c.allocateProtectionDomain();
        MemoryRegion r = pd.allocate(4096, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
        CompletionQueue cq = c.createCompletionQueue(10);
        QueuePair qp = Ends.ready(pd, cq, QueuePairInitAttributes.builder(cq, cq).maxSendWr(2).build());
        MemoryWindow one = pd.allocateMemoryWindow(MemoryWindow.TYPE_1);
        int before = one.rkey();
        assertThat(qp.bindMemoryWindow(one, 4, 0, null, 0, 0, 0)).as("never bound").isEqualTo(Errno.EINVAL);
        assertThat(qp.bindMemoryWindow(one, 5, SendFlags.SIGNALED, r, r.address(), 100, AccessFlags.REMOTE_READ))
                .isZero();
        assertThat(one.rkey()).isEqualTo(before + 1);
        assertThat(List.of(Mock.argument("bind_mw", 2), Mock.argument("bind_mw", 4), Mock.argument("bind_mw", 5)))
                .containsExactly(5L, 100L, (long) AccessFlags.REMOTE_READ);
        refused(Errno.EBUSY, r::close);
        long region = Mock.argument("bind_mw", 3);
        assertThat(qp.bindMemoryWindow(one, 6, SendFlags.SIGNALED, null, 0, 0, 0)).isZero();
        assertThat(Mock.argument("bind_mw", 3)).as("the region, for drivers that need one").isEqualTo(region);
        MemoryRegion s = pd.allocate(4096, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
        assertThat(qp.bindMemoryWindow(one, 7, SendFlags.SIGNALED, s, s.address(), 100, AccessFlags.REMOTE_READ))
                .isZero();
        one.close();
        s.close();
        MemoryWindow two = pd.allocateMemoryWindow(MemoryWindow.TYPE_2);
        int key = MemoryWindow.incrementRkey(two.rkey());
        assertThat(qp.sendQueue().start().bindMemoryWindow(6, SendFlags.SIGNALED, two, key, r, r.address(), 64, 4)
                .complete()).isZero();
        assertThat(two.rkey()).isEqualTo(key);
        assertThat(cq.poll(WorkCompletion.array(8))).isEqualTo(4);
        bindAgain(qp, cq, two, r);
        int operations = SendOperations.SEND | SendOperations.LOCAL_INVALIDATE | SendOperations.BIND_WINDOW;
        bindAgain(Ends.ready(pd, cq, QueuePairInitAttributes.builder(cq, cq).maxSendWr(2).sendOperations(operations)
                .build()), cq, two, r);
        key = two.rkey();
        two.close();
        assertThat(qp.sendQueue().start().bindMemoryWindow(6, 0, two, key, r, r.address(), 64, 4).complete())
                .isEqualTo(Errno.EINVAL);
        r.close();
    }

    /** With a library that identifies the window by the key that the application has written into it. */
    private static void bindAgain(QueuePair qp, CompletionQueue cq, MemoryWindow w, MemoryRegion r) {
        for (int i = 0; i < 2; i++) {
            int key = MemoryWindow.incrementRkey(w.rkey());
            assertThat(qp.sendQueue().start().localInvalidate(7, 0, w.rkey()).bindMemoryWindow(8, SendFlags.SIGNALED, w,
                    key, r, r.address(), 64, AccessFlags.REMOTE_READ).complete()).isZero();
            assertThat(w.rkey()).isEqualTo(key);
            WorkCompletion[] wc = WorkCompletion.array(8);
            assertThat(cq.poll(wc)).isEqualTo(1);
            assertThat(WcStatus.toString(wc[0].status())).isEqualTo("SUCCESS");
        }
    }

    private static void deviceMemory(Context c) throws Exception {
        DeviceMemory dm = c.allocateDeviceMemory(1000, 3);
        assertThat(List.of(Mock.argument("alloc_dm", 0), Mock.argument("alloc_dm", 1))).containsExactly(1000L, 3L);
        dm.copyFrom(MemorySegment.ofArray("device".getBytes(StandardCharsets.UTF_8)), 100);
        byte[] back = new byte[6];
        dm.copyTo(MemorySegment.ofArray(back), 100);
        assertThat(new String(back, StandardCharsets.UTF_8)).isEqualTo("device");
        refused(Errno.EINVAL, () -> dm.copyTo(MemorySegment.ofArray(back), 995));
        ProtectionDomain pd = c.allocateProtectionDomain();
        MemoryRegion r = pd.registerDeviceMemory(dm, 8, 16, AccessFlags.LOCAL_WRITE | AccessFlags.ZERO_BASED);
        assertThat(Mock.argument("reg_dm_mr", 2)).isEqualTo(8);
        assertThat(r.address()).isZero();
        refused(Errno.EBUSY, dm::close);
        refused(Errno.ENOMEM, () -> c.allocateDeviceMemory(5000, 0));
    }

    private static void queues(Context c) throws Exception {
        CompletionQueue cq = c.createCompletionQueue(CompletionQueueAttributes.builder().cqe(10).completionVector(1)
                .build());
        assertThat(List.of(Mock.argument("ibv_create_cq", 1), Mock.argument("ibv_create_cq", 4))).containsExactly(10L,
                1L);
        assertThat(cq.cqe()).isEqualTo(31);
        cq.resize(99);
        assertThat(cq.cqe()).isEqualTo(100);
        refused(Errno.EINVAL, () -> cq.resize(2), "to 2 entries");
        assertThat(cq.cqe()).isEqualTo(100);
        cq.modify(CompletionQueueModification.moderate(7, 8));
        assertThat(List.of(Mock.argument("modify_cq", 1), Mock.argument("modify_cq", 2), Mock.argument("modify_cq", 3)))
                .containsExactly(1L, 7L, 8L);
        refused(Errno.EINVAL, () -> cq.modify(CompletionQueueModification.moderate(101, 0)));
        assertThat(cq.requestNotify(false)).as("no channel").isEqualTo(Errno.EINVAL);
        assertThat(cq.startPoll()).isEqualTo(Errno.ENOENT);
        cq.close();
        assertThat(cq.startPoll()).isEqualTo(Errno.EINVAL);
        c.createCompletionQueue(CompletionQueueAttributes.builder().cqe(5).flags(
                CompletionQueueAttributes.SINGLE_THREADED).fields(CompletionQueueAttributes.WITH_CVLAN).build());
        assertThat(List.of(Mock.argument("create_cq_ex", 1), Mock.argument("create_cq_ex", 2), Mock.argument(
                "create_cq_ex", 3))).containsExactly(256L, 1L, 1L);
        refused(Errno.EOPNOTSUPP, () -> c.createCompletionQueue(CompletionQueueAttributes.builder().fields(1 << 12)
                .build()));
        refused(Errno.EOPNOTSUPP, () -> c.createCompletionQueue(CompletionQueueAttributes.builder().flags(
                CompletionQueueAttributes.IGNORE_OVERRUN).fields(CompletionQueueAttributes.WITH_CVLAN
                        | CompletionQueueAttributes.WITH_BYTE_LEN).build()), "completion fields CVLAN,",
                "flag IGNORE_OVERRUN");
    }

    private static void queuePair(Context c) throws Exception {
        ProtectionDomain pd = c.allocateProtectionDomain();
        CompletionQueue cq = c.createCompletionQueue(10);
        QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(7).maxReceiveWr(8).sqSigAll(
                true).maxSendSge(0).build());
        assertThat(List.of(Mock.argument("ibv_create_qp", 1), Mock.argument("ibv_create_qp", 2), Mock.argument(
                "ibv_create_qp", 3), Mock.argument("ibv_create_qp", 4))).containsExactly(2L, 7L, 8L, 1L);
        assertThat(qp.initAttributes().maxSendSge()).as("the device gives more than requested").isEqualTo(1);
        assertThat(qp.state()).isEqualTo(QueuePairState.RESET);
        assertThat(qp.receiveQueue().start().receive(1).complete()).isEqualTo(Errno.EINVAL);
        Ends.connect(qp, qp.number());
        assertThat(qp.state()).isEqualTo(QueuePairState.RTS);
        assertThat(Mock.argument("ibv_modify_qp", 1)).isEqualTo(Ends.RTS_MASK);
        QueuePairAttributes a = qp.query();
        assertThat(List.of(a.destinationQueuePair(), a.pathMtu(), a.timeout(), a.sqPsn(), a.minRnrTimer(), a
                .accessFlags())).containsExactly(qp.number(), 1024, 14, 0x123, 12, 7);
        assertThat(a.addressVector()).isEqualTo(SELF);
        assertThat(a.has(QueuePairAttributes.QKEY)).isFalse();
        assertThat(a.mask() & QueuePairAttributes.STATE).isNotZero();
        assertThat(a.capabilities()).isNotNull();
        assertThat(a.capabilities().maxSendSge()).isEqualTo(1);
        assertThat(a.capabilities().maxReceiveWr()).isEqualTo(qp.initAttributes().maxReceiveWr());
        assertThat(qp.queryEnhancedConnection().vendorId()).isEqualTo(0x15b3);
        qp.setEnhancedConnection(EnhancedConnection.of(1, 2));
        assertThat(Mock.argument("ibv_set_ece", 2)).isEqualTo(2);
        assertThat(qp.queryDataInOrder(SendOperations.WRITE)).isEqualTo(QueuePair.DATA_IN_ORDER_WHOLE_MESSAGE);
        assertThat(qp.queryDataInOrder(SendOperations.READ)).isZero();
        qp.modifyRateLimit(RateLimit.of(1000, 2000, 300));
        assertThat(List.of(Mock.argument("modify_qp_rate_limit", 1), Mock.argument("modify_qp_rate_limit", 2), Mock
                .argument("modify_qp_rate_limit", 3))).containsExactly(1000L, 2000L, 300L);
        refused(Errno.EINVAL, () -> qp.modify(QueuePairAttributes.to(QueuePairState.INIT).build()));
        qp.modify(QueuePairAttributes.to(QueuePairState.ERR).build());
        assertThat(qp.sendQueue().start().send(1, 0).complete()).as("a failed queue pair accepts posts").isZero();
        QueuePair ud = Ends.datagram(pd, cq);
        AddressHandle ah = pd.createAddressHandle(SELF);
        assertThat(List.of(Mock.argument("ibv_create_ah", 1), Mock.argument("ibv_create_ah", 2), Mock.argument(
                "ibv_create_ah", 4))).containsExactly(1L, 1L, 64L);
        ud.attachMulticast(Gid.parse("ff0e::1"), 3);
        assertThat(List.of(Mock.argument("ibv_attach_mcast", 1), Mock.argument("ibv_attach_mcast", 2)))
                .containsExactly(0xffL, 3L);
        ud.detachMulticast(Gid.parse("ff0e::1"), 3);
        refused(Errno.EINVAL, () -> ud.detachMulticast(Gid.parse("ff0e::1"), 3));
        ah.close();
        assertThat(ud.sendQueue().start().send(1, 0).datagram(ah, 1, 1).complete()).isEqualTo(Errno.EINVAL);
        ud.attachMulticast(Gid.parse("ff0e::1"), 3);
        ud.attachMulticast(Gid.parse("ff0e::2"), 4);
        ud.close(); // which the kernel refuses as long as it is attached
        assertThat(Mock.argument("ibv_detach_mcast", 2)).isEqualTo(4);
    }

    private static void sharedReceiveQueue(Context c) throws Exception {
        ProtectionDomain pd = c.allocateProtectionDomain();
        SharedReceiveQueue srq = pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(10).maxSge(2)
                .build());
        assertThat(List.of(Mock.argument("ibv_create_srq", 1), Mock.argument("ibv_create_srq", 2))).containsExactly(10L,
                2L);
        assertThat(srq.query().maxWr()).as("the device gives more").isEqualTo(16);
        srq.modify(SharedReceiveQueueAttributes.builder().limit(3).build());
        assertThat(List.of(Mock.argument("ibv_modify_srq", 2), Mock.argument("ibv_modify_srq", 3))).containsExactly(3L,
                2L);
        assertThat(srq.query().limit()).isEqualTo(3);
        assertThat(srq.receiveQueue().start().receive(1).receive(2).complete()).isZero();
        assertThat(Mock.count("post_srq_recv")).isEqualTo(1);
        srq.close();
        assertThat(srq.receiveQueue().start().receive(1).complete()).isEqualTo(Errno.EINVAL);
    }

    private static void xrc(Context c) throws Exception {
        XrcDomain d = c.openXrcDomain(XrcDomainAttributes.builder().fd(-1).openFlags(XrcDomainAttributes.CREATE)
                .build());
        assertThat(List.of(Mock.argument("open_xrcd", 0), (long) (int) Mock.argument("open_xrcd", 1), Mock.argument(
                "open_xrcd", 2))).containsExactly(3L, -1L, 0100L);
        ProtectionDomain pd = c.allocateProtectionDomain();
        CompletionQueue cq = c.createCompletionQueue(10);
        SharedReceiveQueue srq = pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().type(
                SharedReceiveQueueType.XRC).xrcDomain(d).completionQueue(cq).build());
        assertThat(List.of(Mock.argument("create_srq_ex", 0), Mock.argument("create_srq_ex", 1))).containsExactly(15L,
                1L);
        assertThat(srq.number()).isNotZero();
        QueuePair target = d.createQueuePair(QueuePairInitAttributes.builderXrcReceive().build());
        assertThat(Mock.argument("create_qp_ex", 0)).as("XRCD alone").isEqualTo(2);
        QueuePair again = d.openQueuePair(QueuePairOpenAttributes.builder().number(target.number()).type(
                QueuePairType.XRC_RECV).build());
        assertThat(Mock.argument("open_qp", 1)).isEqualTo(target.number());
        assertThat(again.sendQueue().start().send(1, 0).complete()).isEqualTo(Errno.EINVAL);
        assertThat(again.receiveQueue().start().receive(1).complete()).isEqualTo(Errno.EINVAL);
        refused(Errno.EBUSY, d::close);
    }

    private static void domains(Context c) throws Exception {
        ProtectionDomain pd = c.allocateProtectionDomain();
        ThreadDomain td = c.allocateThreadDomain();
        ProtectionDomain parent = c.allocateParentDomain(ParentDomainAttributes.builder().protectionDomain(pd)
                .threadDomain(td).build());
        assertThat(Mock.argument("alloc_parent_domain", 2)).isNotZero();
        assertThat(parent.underlying()).isSameAs(pd);
        refused(Errno.EBUSY, td::close);
    }

    private static void flow(Context c) throws Exception {
        ProtectionDomain pd = c.allocateProtectionDomain();
        CompletionQueue cq = c.createCompletionQueue(10);
        QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.RAW_PACKET)
                .build());
        Counters counters = c.createCounters();
        counters.attach(CounterAttachAttributes.of(SamplePoint.PACKETS, 1));
        counters.attach(CounterAttachAttributes.of(SamplePoint.BYTES, 3));
        assertThat(List.of(Mock.argument("attach_counters_point_flow", 1), Mock.argument("attach_counters_point_flow",
                2), Mock.argument("attach_counters_point_flow", 3))).containsExactly(1L, 3L, 0L);
        Flow f = qp.createFlow(FlowAttributes.builder().priority(5).spec(FlowSpec.ethernet().match(FlowField.ETH_TYPE,
                0x800)).spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, 4791)).spec(FlowSpec.count(counters))
                .build());
        assertThat(List.of(Mock.argument("create_flow", 2), Mock.argument("create_flow", 3), Mock.argument(
                "create_flow", 4))).as("20 + 40 + 16 + 16 bytes, 3 specifications, port 1").containsExactly(92L, 3L,
                        1L);
        long[] values = new long[4];
        counters.read(values, ReadCountersFlags.PREFER_CACHED);
        assertThat(values).containsExactly(0, 2, 0, 128);
        assertThat(Mock.argument("read_counters", 3)).isEqualTo(1);
        refused(Errno.EBUSY, () -> counters.attach(CounterAttachAttributes.of(SamplePoint.BYTES, 4)));
        Flow other = qp.createFlow(FlowAttributes.builder().spec(FlowSpec.tcp().match(FlowField.SOURCE_PORT, 0x1234))
                .build());
        assertThat(Mock.argument("flow_spec", 2) & 0xffff).as("the port in network order, after the destination's")
                .isEqualTo(0x3412);
        refused(Errno.EOPNOTSUPP, () -> counters.attach(CounterAttachAttributes.of(SamplePoint.BYTES, 4), other));
        refused(Errno.EOPNOTSUPP, () -> counters.attach(CounterAttachAttributes.of(SamplePoint.QP_TX_SENDS, 4)));
        refused(Errno.EBUSY, qp::close);
        f.close();
        counters.attach(CounterAttachAttributes.of(SamplePoint.BYTES, 4));
    }

    private static void scaling(Context c) throws Exception {
        ProtectionDomain pd = c.allocateProtectionDomain();
        CompletionQueue cq = c.createCompletionQueue(10);
        WorkQueue one = c.createWorkQueue(WorkQueueInitAttributes.builder(pd, cq).maxWr(8).build());
        WorkQueue two = c.createWorkQueue(WorkQueueInitAttributes.builder(pd, cq).build());
        assertThat(one.receiveQueue().start().receive(1).complete()).isEqualTo(Errno.EINVAL);
        one.modify(WorkQueueAttributes.to(WorkQueueState.RDY));
        assertThat(List.of(Mock.argument("modify_wq", 1), Mock.argument("modify_wq", 2))).containsExactly(1L, 1L);
        assertThat(one.receiveQueue().start().receive(1).complete()).isZero();
        RwqIndirectionTable t = c.createRwqIndirectionTable(1, List.of(one, two));
        assertThat(Mock.argument("create_rwq_ind_table", 0)).isEqualTo(1);
        assertThat(Mock.argument("create_rwq_ind_table", 1)).isNotEqualTo(Mock.argument("create_rwq_ind_table", 2));
        QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.RAW_PACKET)
                .receiveSideScaling(t, RxHashConfiguration.of(RxHashConfiguration.TOEPLITZ, new byte[40],
                        RxHashFields.SRC_IPV4)).build());
        assertThat(Mock.argument("create_qp_ex", 0)).as("PD, IND_TABLE, RX_HASH").isEqualTo(1 | 16 | 32);
        refused(Errno.EBUSY, t::close);
        qp.close();
        t.close();
        two.close();
        assertThat(Mock.argument("destroy_wq", 1)).as("its mutex was initialised").isZero();
    }

    private static void events(Context c) throws Exception {
        ProtectionDomain pd = c.allocateProtectionDomain();
        CompletionQueue cq = c.createCompletionQueue(10);
        QueuePair qp = Ends.ready(pd, cq, QueuePairInitAttributes.builder(cq, cq).build());
        long address = Mock.argument("ibv_modify_qp", 0);
        Mock.raise(AsyncEventType.COMM_EST, address);
        AsyncEvent e = c.awaitAsyncEvent(Duration.ofSeconds(20));
        assertThat(e.type()).isEqualTo(AsyncEventType.COMM_EST);
        assertThat(e.element()).isSameAs(qp);
        qp.close();
        Mock.raise(AsyncEventType.COMM_EST, address); // it was in flight when the queue pair was closed
        while (Mock.count("ibv_ack_async_event") < 2) {
            Thread.sleep(1);
        }
        Mock.raise(AsyncEventType.PORT_ERR, 1);
        e = c.awaitAsyncEvent(Duration.ofSeconds(20));
        assertThat(e.element()).isSameAs(c);
        assertThat(e.detail()).isEqualTo("port 1");
        assertThat(c.awaitAsyncEvent(Duration.ZERO)).isNull();
        assertThat(Mock.count("ibv_ack_async_event")).isEqualTo(3);
        CompletionChannel channel = c.createCompletionChannel();
        Mock.call("mock_gone");
        assertThat(channel.await(Duration.ofMillis(10))).as("an event that disappeared before it was read").isNull();
        Mock.raise(Mock.GONE, 0); // the same, and closing the context waits for the thread that reads
        while (Mock.count("ibv_get_async_event") < 3) {
            Thread.onSpinWait();
        }
    }

    private static void closing(Context c) throws Exception {
        ProtectionDomain pd = c.allocateProtectionDomain();
        CompletionQueue cq = c.createCompletionQueue(10);
        QueuePair qp = Ends.ready(pd, cq, QueuePairInitAttributes.builder(cq, cq).build());
        refused(Errno.EBUSY, cq::close);
        qp.close();
        qp.close();
        assertThat(qp.sendQueue().start().send(1, 0).complete()).isEqualTo(Errno.EINVAL);
        assertThat(qp.receiveQueue().start().receive(1).complete()).isEqualTo(Errno.EINVAL);
        assertThat(qp.state()).isEqualTo(QueuePairState.RTS);
        refused(Errno.EINVAL, qp::query);
        c.close();
        refused(Errno.EINVAL, () -> c.queryPort(1));
        refused(Errno.EINVAL, c::allocateProtectionDomain);
    }
}
