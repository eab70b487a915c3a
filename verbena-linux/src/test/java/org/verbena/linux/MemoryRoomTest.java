// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

class MemoryRoomTest {
    private int looks;
    private long memory = 1 << 20;
    private long now = Long.MAX_VALUE - 5; // nanoTime may wrap
    private final MemoryRoom room = new MemoryRoom(() -> {
        looks++;
        return memory;
    }, () -> now);

    private void asks(long needed, int expectedLooks) {
        looks = 0;
        assertThat(room.availableFor(needed)).isEqualTo(memory);
        assertThat(looks).isEqualTo(expectedLooks);
    }

    @Test
    void smallRequestsShareALook() {
        asks(1000, 1);
        asks(20, 0);
        asks(4, 0);
        asks(1, 1); // 1024 are shared
        asks(1023, 0);
        asks(0, 0);
    }

    @Test
    void aLargeRequestLooksAndTheNextOneToo() {
        asks(1025, 1);
        asks(1, 1);
        asks(1, 0);
        asks(memory - 1, 1);
        memory = 10; // it was taken
        asks(5, 1);
        asks(0, 1);
        asks(0, 0);
    }

    @Test
    void aLookIsOldAfterATenthOfASecond() {
        asks(1, 1);
        now += TimeUnit.MILLISECONDS.toNanos(99);
        asks(1, 0);
        now += TimeUnit.MILLISECONDS.toNanos(1);
        asks(1, 1);
    }
}
