// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Seeds;

class GarbagePacketsTest {
    private static final int PACKETS = 400;

    @Test
    void nothingChangesButWhatWasGranted() {
        GarbagePackets garbage = new GarbagePackets();
        Seeds.each(100, random -> {
            int[] left = {PACKETS};
            garbage.run(random, () -> left[0]-- == 0);
        });
        // the garbage is close enough to the real thing to get somewhere
        assertThat(garbage.errors).isGreaterThan(100);
        assertThat(garbage.receives).isGreaterThan(100);
        assertThat(garbage.strangers).isGreaterThan(500);
    }
}
