// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Await;
import org.verbena.tests.BesideOthers;

@BesideOthers
class BusyThreadsTest {
    @Test
    void theyComputeUntilTheyAreClosed() throws Exception {
        ProcessHandle process;
        try (BusyThreads busy = BusyThreads.start(1)) {
            process = ProcessHandle.of(busy.pid()).orElseThrow();
            double before = ProcessorTime.of(busy.pid());
            Await.until("they compute", () -> ProcessorTime.of(busy.pid()) - before > 0.05);
        }
        assertThat(process.isAlive()).isFalse();
    }
}
