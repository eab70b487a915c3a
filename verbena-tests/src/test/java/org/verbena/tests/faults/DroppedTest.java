package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.logging.Level;

import org.junit.jupiter.api.Test;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.VerbsException;

/** Objects that are dropped without having been closed are reported to the logger; those that were closed are not. */
class DroppedTest {
    @Test
    void whatIsDroppedUnclosedIsReported() throws Exception {
        try (Logged log = new Logged("org.verbena.verbs"); Node node = Node.open()) {
            String dropped = drop(node);
            Wait.until(Child.LIMIT, () -> {
                System.gc();
                return log.messages().stream().anyMatch(m -> m.contains(dropped));
            }, () -> "no word of " + dropped + " in " + log.messages());
            assertThat(log.records()).hasSize(1);
            assertThat(log.records().getFirst().getLevel()).isEqualTo(Level.WARNING);
            assertThat(log.messages().getFirst()).isEqualTo(dropped
                    + " was dropped without close(): what it holds stays until its context is closed");
        }
    }

    /** Drops a region, and another that was closed; answers the first one's name. */
    private static String drop(Node node) throws VerbsException {
        node.pd.allocate(4096, AccessFlags.ALL).close();
        return node.pd.allocate(4096, AccessFlags.ALL).describe();
    }
}
