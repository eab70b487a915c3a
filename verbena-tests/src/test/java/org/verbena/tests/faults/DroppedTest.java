// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.logging.Level;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.VerbsException;

/** Objects that are dropped without having been closed are reported to the logger; those that were closed are not. */
class DroppedTest {
    private static final int MEMORY = 1 << 20;

    @Test
    void droppedOpenObjectIsReported() throws Exception {
        try (Logged log = new Logged("org.verbena.verbs"); Node node = Node.open()) {
            String dropped = drop(node);
            Await.until(Child.LIMIT, () -> {
                System.gc();
                return log.messages().stream().anyMatch(m -> m.contains(dropped));
            }, () -> "no word of " + dropped + " in " + log.messages());
            assertThat(log.records()).hasSize(1);
            assertThat(log.records().getFirst().getLevel()).isEqualTo(Level.WARNING);
            assertThat(log.messages().getFirst()).isEqualTo(dropped
                    + " was dropped without close(): what it holds stays until its context is closed");
        }
    }

    /** Memory of dropped regions is released with the context: a peer that still writes there changes nothing. */
    @Test
    void closingTheContextReleasesMemoryOfDroppedRegions() throws Exception {
        try (Logged log = new Logged("org.verbena.verbs"); Node node = Node.open()) {
            MemorySegment memory = node.allocate(MEMORY).segment();
            node.pd.register(memory.asSlice(MEMORY / 2), AccessFlags.ALL);
            Await.until(Child.LIMIT, () -> {
                System.gc();
                return log.records().size() == 2;
            }, () -> "both regions are not reported: " + log.messages());
            Traffic.fill(memory, 1, 0);
            node.close();
            assertThat(memory.mismatch(MemorySegment.ofArray(new byte[MEMORY]))).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm0", "roce_lo"})
    void closingTheContextReleasesDroppedObjects(String device) throws Exception {
        try (Child drops = Child.of(DropPeer.class).option("-Xmx64m").start(device)) {
            String pid = String.valueOf(drops.pid());
            drops.tell("2").await("DROPPED");
            Map<String, Integer> descriptors = Proc.descriptors(pid);
            long mappings = Proc.mappings(pid);
            drops.tell("8").await("DROPPED");
            assertThat(Proc.descriptors(pid)).isEqualTo(descriptors);
            assertThat(Proc.mappings(pid)).isLessThan(mappings + 60);
            drops.end();
        }
    }

    /** Drops a region, and another that was closed; returns the name of the first. */
    private static String drop(Node node) throws VerbsException {
        node.pd.allocate(4096, AccessFlags.ALL).close();
        return node.pd.allocate(4096, AccessFlags.ALL).describe();
    }
}
