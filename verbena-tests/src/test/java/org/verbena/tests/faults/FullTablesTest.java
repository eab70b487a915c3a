// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;

/**
 * As many objects as a context can have: one more is ENOMEM with a sentence, after closing one there is room again, and
 * nothing is left behind. The heap of rings and the lane arenas, a gibibyte each, are tested in {@code FullHeapsTest},
 * since filling them takes that much memory.
 */
@Isolated("counts descriptors of this JVM")
class FullTablesTest {
    private Map<String, Integer> descriptors;
    private Node node;
    private DeviceAttributes device;

    /** Resources that the process keeps from its first context on. */
    @BeforeAll
    static void openFirst() throws Exception {
        Node.open().close();
    }

    @BeforeEach
    void open() throws Exception {
        descriptors = Proc.descriptors("self");
        node = Node.open();
        device = node.context.queryDevice();
    }

    @AfterEach
    void close() throws Exception {
        node.close();
        assertNoMore(descriptors);
    }

    /** Another thread, perhaps of the previous test, may still release resources. */
    private static void assertNoMore(Map<String, Integer> before) throws IOException {
        Await.until(Child.LIMIT, () -> Proc.descriptors("self").entrySet().stream().allMatch(e -> e.getValue() <= before
                .getOrDefault(e.getKey(), 0)), () -> "descriptors were " + before);
    }

    @FunctionalInterface
    private interface Maker {
        VerbsObject make() throws VerbsException;
    }

    private void assertLimit(int most, String what, Maker maker) throws Exception {
        List<VerbsObject> all = new ArrayList<>();
        for (int round = 0; round < 2; round++) {
            while (all.size() < most) {
                all.add(maker.make());
            }
            for (int i = 0; i < 3; i++) {
                assertFull(most, what, maker);
                int one = all.size() / 2 + i;
                all.remove(one).close();
                all.add(maker.make());
            }
            assertFull(most, what, maker);
            for (VerbsObject o : all.reversed()) {
                o.close();
            }
            all.clear(); // the second round finds all of them free
        }
    }

    private static void assertFull(int most, String what, Maker maker) {
        VerbsException e = catchThrowableOfType(VerbsException.class, maker::make);
        assertThat(e).as("more than %d %s", most, what).isNotNull();
        assertThat(Errno.name(e.errno())).isEqualTo("ENOMEM");
        assertThat(e).hasMessageContaining("there are " + most + " " + what + " already");
    }

    @Test
    void fullTableOfProtectionDomainsIsReported() throws Exception {
        node.cq.close();
        node.pd.close();
        assertLimit(device.maxPd(), "protection domains", node.context::allocateProtectionDomain);
    }

    @Test
    void fullTableOfCompletionQueuesIsReported() throws Exception {
        node.cq.close();
        assertLimit(device.maxCq(), "completion queues", () -> node.context.createCompletionQueue(1));
    }

    @Test
    void fullTableOfQueuePairsIsReported() throws Exception {
        QueuePairInitAttributes small = QueuePairInitAttributes.builder(node.cq, node.cq).maxSendWr(1).maxReceiveWr(1)
                .build();
        assertLimit(device.maxQp(), "queue pairs", () -> node.pd.createQueuePair(small));
    }

    @Test
    void fullTableOfMemoryRegionsIsReported() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(1 << 16, 64);
            assertLimit(device.maxMr(), "memory regions", () -> node.pd.register(memory, AccessFlags.ALL));
        }
    }

    /** An allocation that gets no key releases its memory, and existing connections continue. */
    @Test
    void failedAllocationWithoutAKeyLeavesNothing() throws Exception {
        try (Arena arena = Arena.ofShared(); Node other = Node.open()) {
            var here = node.queuePair();
            var there = other.queuePair();
            Node.toRtr(here, other.gid(), there.number());
            Node.toRtr(there, node.gid(), here.number());
            Node.toRts(here);
            MemoryRegion from = node.allocate(64);
            MemoryRegion to = other.allocate(64);
            MemorySegment memory = arena.allocate(64, 64);
            List<MemoryRegion> all = new ArrayList<>();
            while (all.size() < device.maxMr() - 1) {
                all.add(node.pd.register(memory, AccessFlags.ALL));
            }
            Map<String, Integer> before = Proc.descriptors("self");
            for (int i = 0; i < 10; i++) {
                assertFull(device.maxMr(), "memory regions", () -> node.allocate(4096));
            }
            assertNoMore(before);
            assertThat(here.sendQueue().start().write(1, SendFlags.SIGNALED, to.rkey(), to.address()).sge(from, 0, 8)
                    .complete()).isZero();
            Await.until(Child.LIMIT, () -> node.cq.startPoll() == 0, () -> Node.describe(here));
            assertThat(node.cq.status()).isZero();
            node.cq.endPoll();
            for (MemoryRegion m : all) {
                m.close();
            }
            node.allocate(4096).close();
        }
    }
}
