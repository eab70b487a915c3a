// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.jmh;

import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;

import org.verbena.verbs.SendFlags;

/**
 * The data path of the provider {@code rdmacore}, beside the same calls in a loop in C: those whose name begins with
 * {@code c}. The difference is the overhead of Java.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
    "-XX:+UseSerialGC"})
public class RdmaPath {
    /** {@code ibv_post_send} of a write of 8 bytes. */
    @Benchmark
    @OperationsPerInvocation(RdmaEnds.CALLS)
    public long cPostWrite(RdmaEnds e) {
        return e.timePost();
    }

    /** Write of 8 bytes by the short form. */
    @Benchmark
    public void postWrite(RdmaEnds e) {
        Ends.ok(e.qp.sendQueue().postWrite(1, SendFlags.NONE, e.region, 0, 8, e.rkey, e.remote));
    }

    /** A batch of four writes of 8 bytes, one call of {@code ibv_post_send}. */
    @Benchmark
    @OperationsPerInvocation(4)
    public void batchOfFour(RdmaEnds e) {
        Ends.ok(e.qp.sendQueue().start().write(1, 0, e.rkey, e.remote).sge(e.region, 0, 8).write(2, 0, e.rkey, e.remote)
                .sge(e.region, 8, 8).write(3, 0, e.rkey, e.remote).sge(e.region, 16, 8).write(4, 0, e.rkey, e.remote)
                .sge(e.region, 24, 8).complete());
    }

    /** {@code ibv_wr_start} and so on, for a write of 8 bytes: four calls. */
    @Benchmark
    @OperationsPerInvocation(RdmaEnds.CALLS)
    public long cExtendedPostWrite(RdmaEnds e) {
        return e.timeExtendedPost();
    }

    /** Write of 8 bytes by {@code ibv_wr_start} and so on: four calls. */
    @Benchmark
    public void extendedPostWrite(RdmaEnds e) {
        Ends.ok(e.extendedQp.sendQueue().postWrite(1, SendFlags.NONE, e.region, 0, 8, e.rkey, e.remote));
    }

    /** {@code ibv_post_recv}. */
    @Benchmark
    @OperationsPerInvocation(RdmaEnds.CALLS)
    public long cPostReceive(RdmaEnds e) {
        return e.timeReceive();
    }

    /** Receive of one element. */
    @Benchmark
    public void postReceive(RdmaEnds e) {
        Ends.ok(e.qp.receiveQueue().post(1, e.region, 0, 8));
    }

    /** {@code ibv_poll_cq} that finds nothing. */
    @Benchmark
    @OperationsPerInvocation(RdmaEnds.CALLS)
    public long cPollEmpty(RdmaEnds e) {
        return e.timePoll();
    }

    /** A poll that finds nothing. */
    @Benchmark
    public int pollEmpty(RdmaEnds e) {
        return e.cq.startPoll();
    }

    /** {@code ibv_start_poll} that finds nothing. */
    @Benchmark
    @OperationsPerInvocation(RdmaEnds.CALLS)
    public long cExtendedPollEmpty(RdmaEnds e) {
        return e.timeExtendedPoll();
    }

    /** A poll by {@code ibv_start_poll} that finds nothing. */
    @Benchmark
    public int extendedPollEmpty(RdmaEnds e) {
        return e.extendedCq.startPoll();
    }

    /** {@code ibv_post_send} of a signalled write of 8 bytes, and its completion. */
    @Benchmark
    @OperationsPerInvocation(RdmaEnds.CALLS)
    public long cPostAndPoll(RdmaEnds e) {
        return e.timePostAndPoll();
    }

    /** A signalled write of 8 bytes, and its completion. */
    @Benchmark
    public long postAndPoll(RdmaEnds e) {
        Ends.ok(e.qp.sendQueue().postWrite(1, SendFlags.SIGNALED, e.region, 0, 8, e.rkey, e.remote));
        return Ends.take(e.cq);
    }

    /** The same by the extended interfaces, with a time stamp: eight calls. */
    @Benchmark
    @OperationsPerInvocation(RdmaEnds.CALLS)
    public long cExtendedPostAndPoll(RdmaEnds e) {
        return e.timeExtendedPostAndPoll();
    }

    /** The same by the extended interfaces, with a time stamp: eight calls. */
    @Benchmark
    public long extendedPostAndPoll(RdmaEnds e) {
        Ends.ok(e.extendedQp.sendQueue().postWrite(1, SendFlags.SIGNALED, e.region, 0, 8, e.rkey, e.remote));
        if (e.extendedCq.startPoll() != 0) {
            throw new IllegalStateException("there is no completion");
        }
        long sum = e.extendedCq.status() + e.extendedCq.timestamp() + e.extendedCq.byteLength();
        e.extendedCq.endPoll();
        return sum;
    }
}
