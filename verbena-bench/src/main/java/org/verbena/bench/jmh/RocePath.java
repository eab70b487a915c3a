// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.jmh;

import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;

import org.verbena.verbs.SendFlags;

/**
 * The data path of {@code roce_lo}: each operation goes over the kernel's loopback from one context to another, both of
 * which this one thread polls, or their own threads serve. It measures allocated bytes; the time means little, see
 * {@code verbena perf --device roce_lo}.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
    "-XX:+UseSerialGC"})
public class RocePath {
    /** Receive, send of 64 bytes, poll. */
    @Benchmark
    public long roceSend64(RoceEnds e) {
        e.receive();
        Ends.ok(e.sendQueue.postSend(1, e.flags(), e.from, 0, 64));
        long bytes = e.received();
        e.reap();
        return bytes;
    }

    /** Receive, inline send of 16 bytes, poll. */
    @Benchmark
    public long roceSendInline(RoceEnds e) {
        e.receive();
        Ends.ok(e.sendQueue.start().send(1, e.flags()).inline(e.plain, 0, 16).complete());
        long bytes = e.received();
        e.reap();
        return bytes;
    }

    /** Write of 64 KiB, 16 packets, until its completion. */
    @Benchmark
    public long roceWrite64k(RoceEnds e) {
        Ends.ok(e.sendQueue.postWrite(1, SendFlags.SIGNALED, e.from, 0, 65536, e.rkey, e.remote));
        return e.take();
    }

    /** Read of 8192 bytes until its completion. */
    @Benchmark
    public long roceRead8192(RoceEnds e) {
        Ends.ok(e.sendQueue.postRead(1, SendFlags.SIGNALED, e.from, 0, 8192, e.rkey, e.remote));
        return e.take();
    }

    /** Fetch-and-add until its completion. */
    @Benchmark
    public long roceFetchAndAdd(RoceEnds e) {
        Ends.ok(e.sendQueue.start().fetchAndAdd(1, SendFlags.SIGNALED, e.rkey, e.remote, 1).sge(e.from, 0, 8)
                .complete());
        return e.take();
    }

    /** Receive, datagram of 64 bytes, poll both. */
    @Benchmark
    public long roceDatagram64(RoceDatagramEnds e) {
        return e.round(64);
    }

    /** A poll that finds nothing asks the kernel for packets. */
    @Benchmark
    public int rocePollEmpty(RoceEnds e) {
        return e.receiveCq.startPoll();
    }
}
