// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.jmh;

import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.VerbsException;

/** The cost of a poll on a completion queue that many queue pairs share. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC"})
public class ManyQueuePairs {
    /** Queue pairs that complete on the queue. */
    @Param({"1", "7", "8", "100", "1000"}) public int queuePairs;

    private final Ends ends = new Ends();

    /** Connects them all. */
    @Setup(Level.Trial)
    public void add() throws VerbsException {
        ends.more(queuePairs - 1);
    }

    /** Nothing is there. */
    @Benchmark
    public int pollEmpty() {
        CompletionQueue cq = ends.receiveCq;
        return cq.startPoll();
    }

    /** Receive, send of 64 bytes on one of them, poll. */
    @Benchmark
    public long postSend64() {
        ends.receive();
        Ends.ok(ends.sendQueue.postSend(1, ends.flags(), ends.from, 0, 64));
        ends.reap();
        return ends.received();
    }
}
