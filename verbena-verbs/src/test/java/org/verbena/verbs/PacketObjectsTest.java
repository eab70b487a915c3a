// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.Collections;
import java.util.List;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;

/** Flows, work queues and indirection tables: what the API refuses before a provider is asked, and what holds what. */
class PacketObjectsTest {
    private static void assertInvalid(ThrowingCallable verb, String words) {
        assertErrno(Errno.EINVAL, verb, words);
    }

    private static void assertErrno(int errno, ThrowingCallable verb, String words) {
        VerbsException e = catchThrowableOfType(VerbsException.class, verb);
        assertThat(e).as("expected %s", words).isNotNull().hasMessageContaining(words);
        assertThat(Errno.name(e.errno())).isEqualTo(Errno.name(errno));
    }

    private static WorkQueueInitAttributes.Builder attributes(Context c) throws VerbsException {
        return WorkQueueInitAttributes.builder(c.allocateProtectionDomain(), c.createCompletionQueue(1));
    }

    @Test
    void workQueueWithInvalidAttributesIsRefused() throws Exception {
        FakeContext c = new FakeContext();
        FakeContext other = new FakeContext();
        assertInvalid(() -> c.createWorkQueue(attributes(other).build()), "another context");
        assertInvalid(() -> c.createWorkQueue(WorkQueueInitAttributes
                .builder(c.allocateProtectionDomain(), other.createCompletionQueue(1)).build()), "another context");
        assertInvalid(() -> c.createWorkQueue(attributes(c).type(1).build()), "type 1");
        for (int wrong : new int[] {0, -1, 65, Integer.MAX_VALUE}) {
            assertInvalid(() -> c.createWorkQueue(attributes(c).maxWr(wrong).build()), "maxWr is " + wrong);
        }
        for (int wrong : new int[] {0, -1, 5, Integer.MAX_VALUE}) {
            assertInvalid(() -> c.createWorkQueue(attributes(c).maxSge(wrong).build()), "maxSge is " + wrong);
        }
        assertInvalid(() -> c.createWorkQueue(attributes(c).flags(16).build()), "0x10");
        WorkQueueInitAttributes.Builder b = attributes(c);
        b.build().protectionDomain().close();
        assertInvalid(() -> c.createWorkQueue(b.build()), "closed");
    }

    @Test
    void workQueueHoldsItsParents() throws Exception {
        FakeContext c = new FakeContext();
        Object mine = new Object();
        WorkQueueInitAttributes a = attributes(c).maxWr(64).maxSge(4).flags(WorkQueueFlags.KNOWN).userContext(mine)
                .build();
        WorkQueue wq = c.createWorkQueue(a);
        assertThat(wq.context()).isSameAs(c);
        assertThat(wq.userContext()).isSameAs(mine);
        assertThat(wq.initAttributes()).isSameAs(a);
        assertErrno(Errno.EBUSY, a.protectionDomain()::close, "still uses");
        assertErrno(Errno.EBUSY, a.completionQueue()::close, "still uses");
        wq.close();
        a.protectionDomain().close();
        a.completionQueue().close();
    }

    /** The whole table of transitions. */
    @Test
    void workQueueTransitionsFollowTheTable() throws Exception {
        boolean[][] allowed = {{true, true, false}, {true, true, true}, {true, false, true}};
        for (int from = 0; from < 3; from++) {
            for (int to = -1; to <= 4; to++) {
                FakeContext c = new FakeContext();
                WorkQueue wq = c.createWorkQueue(attributes(c).build());
                for (int s = 1; s <= from; s++) {
                    wq.modify(WorkQueueAttributes.to(s));
                }
                WorkQueueAttributes move = WorkQueueAttributes.to(to);
                if (to >= 0 && to < 3 && allowed[from][to]) {
                    wq.modify(move);
                    assertThat(wq.state()).isEqualTo(to);
                } else {
                    assertInvalid(() -> wq.modify(move), "no transition");
                    assertThat(wq.state()).isEqualTo(from);
                }
            }
        }
    }

    @Test
    void invalidModificationOfAWorkQueueIsRefused() throws Exception {
        FakeContext c = new FakeContext();
        WorkQueue wq = c.createWorkQueue(attributes(c).build());
        assertInvalid(() -> wq.modify(WorkQueueAttributes.builder().build()), "nothing");
        assertInvalid(() -> wq.modify(WorkQueueAttributes.builder().currentState(WorkQueueState.RDY).build()),
                "CURR_STATE is RDY");
        assertInvalid(() -> wq.modify(WorkQueueAttributes.builder().flags(16, 16).build()), "0x10");
        assertInvalid(() -> wq.modify(WorkQueueAttributes.builder().flags(0, 32).build()), "0x20");
        wq.modify(WorkQueueAttributes.builder().flags(WorkQueueFlags.DELAY_DROP, WorkQueueFlags.KNOWN).build());
        wq.modify(WorkQueueAttributes.builder().state(WorkQueueState.RDY).currentState(WorkQueueState.RESET).build());
        wq.close();
        assertInvalid(() -> wq.modify(WorkQueueAttributes.to(WorkQueueState.RESET)), "closed");
    }

    @Test
    void indirectionTableTakesAPowerOfTwoOfWorkQueuesOfItsContext() throws Exception {
        FakeContext c = new FakeContext();
        WorkQueue a = c.createWorkQueue(attributes(c).build());
        WorkQueue b = c.createWorkQueue(attributes(c).build());
        RwqIndirectionTable t = c.createRwqIndirectionTable(2, List.of(a, b, a, a));
        assertThat(t.entries()).containsExactly(a, b, a, a);
        assertErrno(Errno.EBUSY, b::close, "still uses");
        for (int wrong : new int[] {0, 1, 3, -1, 31, 32, 34}) {
            assertInvalid(() -> c.createRwqIndirectionTable(wrong, List.of(a, b, a, a)), "4 work queues");
        }
        assertInvalid(() -> c.createRwqIndirectionTable(0, List.of()), "0 work queues");
        t.close();
        b.close();
        assertInvalid(() -> c.createRwqIndirectionTable(1, List.of(a, b)), "closed");
        FakeContext other = new FakeContext();
        assertInvalid(() -> other.createRwqIndirectionTable(1, Collections.nCopies(2, a)), "another context");
        c.createRwqIndirectionTable(5, Collections.nCopies(32, a)).close();
    }

    @Test
    void flowHoldsItsQueuePair() throws Exception {
        FakeContext c = new FakeContext();
        CompletionQueue cq = c.createCompletionQueue(1);
        QueuePair qp = c.allocateProtectionDomain()
                .createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.RAW_PACKET).build());
        FlowAttributes a = FlowAttributes.builder().port(2).priority(3).spec(FlowSpec.udp()).build();
        Flow flow = qp.createFlow(a);
        assertThat(flow.attributes()).isSameAs(a);
        assertThat(flow.queuePair()).isSameAs(qp);
        assertErrno(Errno.EBUSY, qp::close, "still uses");
        assertInvalid(() -> qp.createFlow(FlowAttributes.builder().port(3).build()), "port is 3");
        assertInvalid(() -> qp.createFlow(FlowAttributes.builder().spec(FlowSpec.udp()).spec(FlowSpec.tcp()).build()),
                "same layer");
        flow.close();
        qp.close();
        assertInvalid(() -> qp.createFlow(a), "closed");
    }

    @Test
    void rssRequiresARawQueuePairAndOwnTable() throws Exception {
        FakeContext c = new FakeContext();
        FakeContext other = new FakeContext();
        ProtectionDomain pd = c.allocateProtectionDomain();
        CompletionQueue cq = c.createCompletionQueue(1);
        RwqIndirectionTable t = c.createRwqIndirectionTable(0, List.of(c.createWorkQueue(attributes(c).build())));
        RwqIndirectionTable foreign = other.createRwqIndirectionTable(0,
                List.of(other.createWorkQueue(attributes(other).build())));
        byte[] key = new byte[RxHashConfiguration.TOEPLITZ_KEY_BYTES];
        RxHashConfiguration good = RxHashConfiguration.of(RxHashConfiguration.TOEPLITZ, key,
                RxHashFields.SRC_IPV4 | RxHashFields.DST_IPV4);
        RxHashConfiguration bad = RxHashConfiguration.of(RxHashConfiguration.TOEPLITZ, key,
                RxHashFields.SRC_IPV4 | RxHashFields.DST_IPV6);
        QueuePairInitAttributes.Builder raw = QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.RAW_PACKET);
        assertInvalid(() -> pd.createQueuePair(raw.receiveSideScaling(foreign, good).build()), "another context");
        assertInvalid(() -> pd.createQueuePair(raw.receiveSideScaling(t, bad).build()), "not both");
        assertInvalid(() -> pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).receiveSideScaling(t, good)
                .build()), "RAW_PACKET");
        QueuePair qp = pd.createQueuePair(raw.receiveSideScaling(t, good).build());
        assertThat(qp.initAttributes().toBuilder().build().rxHash()).isSameAs(good);
        assertThat(qp.initAttributes().toBuilder().build().rwqIndirectionTable()).isSameAs(t);
        assertErrno(Errno.EBUSY, t::close, "still uses");
        qp.close();
        t.close();
        t.entries().getFirst().close();
    }
}
