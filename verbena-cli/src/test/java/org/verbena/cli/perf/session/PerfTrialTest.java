// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.function.LongUnaryOperator;

import org.junit.jupiter.api.Test;

/** How long runs at a rate are, with transports whose time passes in the test only. */
class PerfTrialTest {
    private static final long SECOND = 1_000_000_000;

    /** A transport that takes a number of nanoseconds for the n-th batch. */
    private static final class Fake implements PerfTrial.Batch {
        final double interval;
        final LongUnaryOperator each;
        int batches;
        long spent;
        long first;
        boolean kept;

        Fake(double interval, LongUnaryOperator each) {
            this.interval = interval;
            this.each = each;
        }

        @Override
        public long run(long n) {
            double one = each.applyAsLong(batches++);
            kept = one <= interval;
            long nanos = (long) (n * Math.max(interval, one));
            spent += nanos;
            first = first == 0 ? n : first;
            return nanos;
        }

        @Override
        public boolean isKept() {
            return kept;
        }
    }

    private static long messages(double interval, long nanos, Fake f) throws IOException {
        return PerfTrial.messages(interval, nanos, f);
    }

    /** Twenty million a second are asked for, and one message takes 100 us: in a second there are ten thousand. */
    @Test
    void unreachableRateEndsInTime() throws IOException {
        Fake slow = new Fake(50, _ -> 100_000);
        assertThat(messages(50, SECOND, slow)).isEqualTo(10_000);
        assertThat(slow.spent).isLessThan(SECOND / 2);
        assertThat(slow.first).isEqualTo(16);
    }

    /** What a first batch promises, a thousand times as fast as what follows, decides nothing. */
    @Test
    void fastBatchDecidesNothing() throws IOException {
        Fake slow = new Fake(50, batch -> batch == 0 ? 100 : 100_000);
        assertThat(messages(50, SECOND, slow)).isEqualTo(10_000);
        assertThat(slow.spent).isLessThan(SECOND / 2);
    }

    @Test
    void reachedRateHasAllItsMessages() throws IOException {
        Fake fast = new Fake(10_000, _ -> 1000);
        assertThat(messages(10_000, SECOND, fast)).isEqualTo(100_000);
        assertThat(fast.spent).isLessThan(SECOND / 4);
    }

    @Test
    void interruptedBatchIsTriedAgain() throws IOException {
        Fake interrupted = new Fake(10_000, batch -> batch == 1 ? 500_000 : 1000);
        assertThat(messages(10_000, SECOND, interrupted)).isEqualTo(100_000);
    }

    @Test
    void fewMessagesNeedNoTrial() throws IOException {
        Fake f = new Fake(20_000_000, _ -> 1);
        assertThat(messages(20_000_000, SECOND, f)).isEqualTo(50);
        assertThat(messages(1e9, 1, f)).as("two answers tell a rate").isEqualTo(2);
        assertThat(f.batches).isZero();
    }
}
