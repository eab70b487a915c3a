// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

import org.verbena.sockets.stream.PollCounters;
import org.verbena.sockets.stream.ScriptedStream;

/** The sums of polls in this process have all polls of what is closed. */
@Isolated
class PollCountersTest {
    private static final int AT_ONCE = 64;
    private static final int LEFT = 10;

    private final long foundBefore = PollCounters.found();
    private final long inVainBefore = PollCounters.inVain();
    private final long nanosBefore = PollCounters.nanos();

    @Test
    void firstPollsAndPollsInVainAreAddedAtOnceAndOthersByTheClose() {
        SpinBudget budget = new SpinBudget();
        for (int i = 0; i < AT_ONCE; i++) {
            budget.polled(true, 100);
        }
        assertSums(AT_ONCE, 0, 100 * AT_ONCE);
        for (int i = 0; i < LEFT; i++) {
            budget.polled(true, 100);
        }
        assertSums(AT_ONCE, 0, 100 * AT_ONCE);
        budget.close();
        assertSums(AT_ONCE + LEFT, 0, 100 * (AT_ONCE + LEFT));
        budget.polled(true, 100);
        budget.polled(false, 1000);
        assertSums(AT_ONCE + LEFT + 1, 1, 100 * (AT_ONCE + LEFT + 1) + 1000);
        budget.close();
        assertSums(AT_ONCE + LEFT + 1, 1, 100 * (AT_ONCE + LEFT + 1) + 1000);
    }

    @Test
    void closedChannelAddsThePollsOfBothDirections() throws Exception {
        ScriptedStream ready = new ScriptedStream(null, OP_READ | OP_WRITE);
        ready.ready(OP_READ | OP_WRITE);
        try (Carrier.Pair pair = Carrier.TCP.connected()) {
            StreamSocketChannel channel = (StreamSocketChannel) pair.tested();
            poll(channel.input().spin(), ready, OP_READ, channel);
            poll(channel.output().spin(), ready, OP_WRITE, channel);
            assertThat(PollCounters.found() - foundBefore).isEqualTo(2 * AT_ONCE);
            channel.close();
            assertThat(PollCounters.found() - foundBefore).isEqualTo(2 * (AT_ONCE + LEFT));
            channel.close();
            assertThat(PollCounters.found() - foundBefore).isEqualTo(2 * (AT_ONCE + LEFT));
        }
    }

    private static void poll(Spin spin, ScriptedStream stream, int op, StreamSocketChannel channel) {
        spin.limit(1_000_000);
        spin.waited(0);
        for (int i = 0; i < AT_ONCE + LEFT; i++) {
            assertThat(spin.poll(stream, op, channel)).isTrue();
        }
    }

    private void assertSums(long found, long inVain, long nanos) {
        assertThat(PollCounters.found() - foundBefore).as("found").isEqualTo(found);
        assertThat(PollCounters.inVain() - inVainBefore).as("in vain").isEqualTo(inVain);
        assertThat(PollCounters.nanos() - nanosBefore).as("ns").isEqualTo(nanos);
    }
}
