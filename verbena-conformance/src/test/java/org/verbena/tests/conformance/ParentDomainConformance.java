// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.GlobalRoutingHeader;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.ParentDomainAllocator;
import org.verbena.verbs.ParentDomainAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.ThreadDomain;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;
import org.verbena.verbs.WcOpcode;

/** Parent domains and thread domains. */
abstract class ParentDomainConformance extends Conformance {
    ParentDomainConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @BeforeEach
    void needsParentDomains() throws Exception {
        try (Context c = fixture.open()) {
            needs(c, Feature.PARENT_DOMAIN);
            needs(c, Feature.THREAD_DOMAIN);
        }
    }

    private static ParentDomainAttributes.Builder of(ProtectionDomain pd) {
        return ParentDomainAttributes.builder().protectionDomain(pd);
    }

    private static void exchange(Pair p) throws Exception {
        p.near.fill(0, 4096, 5);
        for (int i = 0; i < 10; i++) {
            assertPosted(p.far.postReceives(Op.receive(i).on(8192, 4096)));
            assertPosted(p.near.post(Op.send(i).on(0, 400L * i)));
            assertDone(WcOpcode.SEND, i, p.near.awaitSend());
            assertReceived(i, 400L * i, p.far.awaitReceive());
            assertThat(p.far.mismatch(8192, 400L * i, 5)).isEqualTo(-1);
        }
        assertPosted(p.near.post(Op.write(20, p.farAddress, 16384).on(0, 4096),
                Op.read(21, p.farAddress, 16384).on(20480, 4096), Op.fetchAndAdd(22, p.farAddress, 0, 3).on(24576, 8)));
        assertThat(p.near.awaitSends(3)).allMatch(c -> c.statusName().equals("SUCCESS"));
        assertThat(Pattern.mismatch(p.near.at(20480, 4096), 5)).isEqualTo(-1);
    }

    @Test
    void parentDomainsExchangeTraffic() throws Exception {
        exchange(connected(EndOptions.defaults().parentDomain(), EndOptions.defaults().parentDomain()));
    }

    @Test
    void parentDomainAndPlainDomainExchangeTraffic() throws Exception {
        exchange(connected(EndOptions.defaults().parentDomain(), EndOptions.defaults()));
    }

    @Test
    void registeredMemoryAndExtendedQueuesWork() throws Exception {
        EndOptions o = EndOptions.defaults().parentDomain().cqFlags(CompletionQueueAttributes.SINGLE_THREADED)
                .fields(CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP).memory(EndOptions.Memory.REGISTERED);
        Pair p = connected(o, EndOptions.defaults());
        exchange(p);
    }

    /** A region of one domain is accessible to a queue pair of the other, and vice versa. */
    @Test
    void parentDomainEqualsItsProtectionDomain() throws Exception {
        Pair p = connected(EndOptions.defaults().parentDomain(), EndOptions.defaults());
        ProtectionDomain plain = p.near.pd.underlying();
        try (MemoryRegion r = plain.allocate(4096, AccessFlags.ALL)) {
            assertPosted(p.near.post(Op.write(1, p.farAddress, 0).onKey(r.lkey(), r.address(), 64)));
            assertDone(WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
        }
    }

    /** Handles created on one domain serve queue pairs of the other. */
    @Test
    void addressHandlesCanBeCreatedOnAParentDomain() throws Exception {
        needs(open(), Feature.UD);
        Pair p = connected(EndOptions.datagrams().parentDomain(), EndOptions.datagrams());
        ProtectionDomain parent = p.near.pd;
        QueuePair plain = p.near.keep(parent.underlying().createQueuePair(p.near.initAttributes()));
        p.near.toReady(plain);
        assertPosted(p.far.postReceives(Op.receives(4, 100, 100)));
        int n = 0;
        for (ProtectionDomain of : List.of(parent, parent.underlying())) {
            AddressHandle h = p.near.keep(of.createAddressHandle(p.farAddress.vector()));
            assertThat(h.protectionDomain()).isSameAs(of);
            for (QueuePair q : List.of(p.near.qp, plain)) {
                p.near.setLong(0, 70 + n);
                assertPosted(p.near.postTo(q, h, p.farAddress.queuePairNumber(), EndOptions.datagrams().qkey,
                        Op.send(n).on(0, 8)));
                assertDone(WcOpcode.SEND, n, p.near.awaitSend());
                assertReceived(n, GlobalRoutingHeader.BYTES + 8, p.far.awaitReceive());
                assertThat(p.far.getLong(100L * n + GlobalRoutingHeader.BYTES)).isEqualTo(70 + n);
                n++;
            }
        }
    }

    /** A window created on one domain is bound, by queue pairs of either, to regions of either. */
    @ParameterizedTest
    @ValueSource(ints = {MemoryWindow.TYPE_1, MemoryWindow.TYPE_2})
    void memoryWindowsCanBeAllocatedOnAParentDomain(int type) throws Exception {
        needs(open(), type == MemoryWindow.TYPE_1 ? Feature.MEMORY_WINDOW_TYPE_1 : Feature.MEMORY_WINDOW_TYPE_2);
        Pair p = connected(EndOptions.defaults(), EndOptions.defaults().parentDomain()
                .access(AccessFlags.ALL | AccessFlags.MW_BIND));
        for (boolean windowOfParent : List.of(true, false)) {
            for (boolean regionOfParent : List.of(true, false)) {
                long[] keyAndAddress = p.far.run(end -> bind(end, type, windowOfParent, regionOfParent));
                p.near.setLong(0, 4711);
                assertPosted(p.near.post(Op.write(1, p.farAddress, 0).at((int) keyAndAddress[0], keyAndAddress[1])
                        .on(0, 8)));
                assertDone(WcOpcode.RDMA_WRITE, 1, p.near.awaitSend());
                long written = p.far.run(end -> ((MemoryRegion) Objects.requireNonNull(end.later)).segment()
                        .get(ValueLayout.JAVA_LONG, 64));
                assertThat(written).isEqualTo(4711);
            }
        }
    }

    private static long[] bind(End end, int type, boolean windowOfParent, boolean regionOfParent)
            throws VerbsException {
        ProtectionDomain plain = end.pd.underlying();
        MemoryRegion r = end.keep((regionOfParent ? end.pd : plain).allocate(4096, AccessFlags.ALL
                | AccessFlags.MW_BIND));
        MemoryWindow w = end.keep((windowOfParent ? end.pd : plain).allocateMemoryWindow(type));
        assertThat(w.protectionDomain()).isSameAs(windowOfParent ? end.pd : plain);
        long at = r.address() + 64;
        assertPosted(type == MemoryWindow.TYPE_1
                ? end.qp.bindMemoryWindow(w, 9, SendFlags.SIGNALED, r, at, 8, AccessFlags.REMOTE_WRITE)
                : end.qp.sendQueue().start().bindMemoryWindow(9, SendFlags.SIGNALED, w,
                        MemoryWindow.incrementRkey(w.rkey()), r, at, 8, AccessFlags.REMOTE_WRITE).complete());
        assertDone(WcOpcode.BIND_MW, 9, end.awaitSend());
        end.later = r;
        return new long[] {w.rkey(), at};
    }

    /** Handles and windows keep their parent domain in use as regions do, and those of another domain are refused. */
    @Test
    void parentDomainWithObjectsIsBusy() throws Exception {
        Context c = open();
        ProtectionDomain pd = c.allocateProtectionDomain();
        ProtectionDomain parent = c.allocateParentDomain(of(pd).build());
        List<VerbsObject> made = new ArrayList<>();
        if (c.supports(Feature.UD)) {
            made.add(parent.createAddressHandle(AddressVector.to(c.queryGid(1, 0))));
        }
        for (String type : List.of(Feature.MEMORY_WINDOW_TYPE_1, Feature.MEMORY_WINDOW_TYPE_2)) {
            if (c.supports(type)) {
                made.add(parent.allocateMemoryWindow(type.equals(Feature.MEMORY_WINDOW_TYPE_1)
                        ? MemoryWindow.TYPE_1
                        : MemoryWindow.TYPE_2));
            }
        }
        if (c.supports(Feature.SHARED_RECEIVE_QUEUE)) {
            made.add(parent.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(4).maxSge(1)
                    .build()));
        }
        for (VerbsObject o : made) {
            assertErrno(Errno.EBUSY, parent::close);
            assertErrno(Errno.EBUSY, pd::close);
            o.close();
        }
        parent.close();
        for (int type : new int[] {MemoryWindow.TYPE_1, MemoryWindow.TYPE_2}) {
            assertErrno(Errno.EINVAL, () -> parent.allocateMemoryWindow(type), "closed");
        }
        assertErrno(Errno.EINVAL, () -> parent.createAddressHandle(AddressVector.to(c.queryGid(1, 0))), "closed");
        pd.close();
    }

    @Test
    void parentDomainReturnsItsParts() throws Exception {
        Context c = open();
        ProtectionDomain pd = c.allocateProtectionDomain();
        ThreadDomain td = c.allocateThreadDomain();
        Object mine = new Object();
        ProtectionDomain parent = c.allocateParentDomain(of(pd).threadDomain(td).pdContext(mine).build());
        assertThat(parent.isParentDomain()).isTrue();
        assertThat(parent.underlying()).isSameAs(pd);
        assertThat(parent.context()).isSameAs(c);
        assertThat(td.context()).isSameAs(c);
        ParentDomainAttributes a = Objects.requireNonNull(parent.parentDomainAttributes());
        assertThat(a.threadDomain()).isSameAs(td);
        assertThat(a.pdContext()).isSameAs(mine);
        assertThat(a.compMask()).isEqualTo(ParentDomainAttributes.PD_CONTEXT);
        assertThat(pd.isParentDomain()).isFalse();
        assertThat(pd.underlying()).isSameAs(pd);
        assertThat(pd.parentDomainAttributes()).isNull();
    }

    @Test
    void domainsOfAParentDomainAreBusy() throws Exception {
        Context c = open();
        ProtectionDomain pd = c.allocateProtectionDomain();
        ThreadDomain td = c.allocateThreadDomain();
        ProtectionDomain parent = c.allocateParentDomain(of(pd).threadDomain(td).build());
        assertErrno(Errno.EBUSY, pd::close);
        assertErrno(Errno.EBUSY, td::close);
        CompletionQueue cq = c.createCompletionQueue(CompletionQueueAttributes.builder().parentDomain(parent).build());
        assertErrno(Errno.EBUSY, parent::close);
        QueuePair qp = parent.createQueuePair(QueuePairInitAttributes.builder(cq, cq).build());
        MemoryRegion r = parent.allocate(4096, AccessFlags.ALL);
        cqAndMore(cq, qp, r, parent);
        parent.close();
        td.close();
        pd.allocate(4096, AccessFlags.ALL).close(); // it has survived its parent domain
        pd.close();
    }

    private static void cqAndMore(CompletionQueue cq, QueuePair qp, MemoryRegion r, ProtectionDomain parent)
            throws VerbsException {
        assertErrno(Errno.EBUSY, cq::close);
        qp.close();
        cq.close();
        assertErrno(Errno.EBUSY, parent::close);
        r.close();
    }

    @Test
    void protectionDomainMayHaveSeveralParentDomains() throws Exception {
        Context c = open();
        ProtectionDomain pd = c.allocateProtectionDomain();
        ProtectionDomain a = c.allocateParentDomain(of(pd).build());
        ProtectionDomain b = c.allocateParentDomain(of(pd).build());
        a.close();
        assertErrno(Errno.EBUSY, pd::close);
        b.close();
        pd.close();
    }

    @Test
    void wrongObjectsAreRefused() throws Exception {
        Context c = open();
        Context other = open();
        ProtectionDomain pd = c.allocateProtectionDomain();
        ProtectionDomain foreign = other.allocateProtectionDomain();
        ThreadDomain foreignTd = other.allocateThreadDomain();
        assertErrno(Errno.EINVAL, () -> c.allocateParentDomain(ParentDomainAttributes.builder().build()));
        assertErrno(Errno.EINVAL, () -> c.allocateParentDomain(of(foreign).build()), "another context");
        assertErrno(Errno.EINVAL, () -> c.allocateParentDomain(of(pd).threadDomain(foreignTd).build()),
                "another context");
        ProtectionDomain parent = c.allocateParentDomain(of(pd).build());
        assertErrno(Errno.EINVAL, () -> c.allocateParentDomain(of(parent).build()), "parent domain");
        parent.close();
        ThreadDomain td = c.allocateThreadDomain();
        td.close();
        assertErrno(Errno.EINVAL, () -> c.allocateParentDomain(of(pd).threadDomain(td).build()), "closed");
        pd.close();
        assertErrno(Errno.EINVAL, () -> c.allocateParentDomain(of(pd).build()), "closed");
    }

    /** A provider either calls the allocator, which may delegate to the provider, or reports that it does not. */
    @Test
    void customAllocatorIsUsedOrNotSupported() throws Exception {
        Context c = open();
        ProtectionDomain pd = c.allocateProtectionDomain();
        ParentDomainAllocator leaveIt = new ParentDomainAllocator() {
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
        };
        ParentDomainAttributes a = of(pd).allocator(leaveIt).pdContext("mine").build();
        try (ProtectionDomain parent = c.allocateParentDomain(a);
                CompletionQueue cq = c.createCompletionQueue(1)) {
            parent.createQueuePair(QueuePairInitAttributes.builder(cq, cq).build()).close();
        } catch (VerbsException e) {
            assertThat(Errno.name(e.errno())).isEqualTo("EOPNOTSUPP");
            assertThat(e).hasMessageContaining("ALLOCATORS");
        }
    }
}
