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
import org.verbena.verbs.WorkCompletion;

/**
 * Every call of the data path. A send needs a receive and creates a completion there, so those benchmarks measure the
 * sequence: post a receive, send, poll the receive; {@link #writeImmediate} of 0 bytes is the least of these.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
    "-XX:+UseSerialGC"})
public class DataPath {
    private static final WorkCompletion[] ONE = WorkCompletion.array(1);

    /** Receive, inline send of 16 bytes from memory that is not registered, poll. */
    @Benchmark
    public long sendInline(Ends e) {
        e.receive();
        Ends.ok(e.sendQueue.start().send(1, e.flags()).inline(e.plain, 0, 16).complete());
        e.reap();
        return e.received();
    }

    /** Receive, send with an immediate value, poll. */
    @Benchmark
    public long sendImmediate(Ends e) {
        e.receive();
        Ends.ok(e.sendQueue.start().sendImmediate(1, e.flags(), 9).sge(e.from, 0, 8).complete());
        e.reap();
        return e.received();
    }

    /** Receive, send of 32 bytes, poll. */
    @Benchmark
    public long send32(Ends e) {
        return send(e, 32);
    }

    /** Receive, send of 64 bytes, poll. */
    @Benchmark
    public long send64(Ends e) {
        return send(e, 64);
    }

    /** Receive, send of 4096 bytes, poll. */
    @Benchmark
    public long send4096(Ends e) {
        return send(e, 4096);
    }

    private static long send(Ends e, int length) {
        e.receive();
        Ends.ok(e.sendQueue.start().send(1, e.flags()).sge(e.from, 0, length).complete());
        e.reap();
        return e.received();
    }

    /** Receive, send of 64 bytes by the short form, poll. */
    @Benchmark
    public long postSend64(Ends e) {
        e.receive();
        Ends.ok(e.sendQueue.postSend(1, e.flags(), e.from, 0, 64));
        e.reap();
        return e.received();
    }

    /** Write of 8 bytes. */
    @Benchmark
    public void write8(Ends e) {
        write(e, 8);
    }

    /** Write of 64 bytes. */
    @Benchmark
    public void write64(Ends e) {
        write(e, 64);
    }

    /** Write of 4096 bytes. */
    @Benchmark
    public void write4096(Ends e) {
        write(e, 4096);
    }

    private static void write(Ends e, int length) {
        Ends.ok(e.sendQueue.start().write(1, e.flags(), e.rkey, e.remote).sge(e.from, 0, length).complete());
        e.reap();
    }

    /** Write of 8 bytes by the short form. */
    @Benchmark
    public void postWrite8(Ends e) {
        Ends.ok(e.sendQueue.postWrite(1, e.flags(), e.from, 0, 8, e.rkey, e.remote));
        e.reap();
    }

    /** Receive, write of 0 bytes with an immediate value, poll. */
    @Benchmark
    public long writeImmediate(Ends e) {
        e.receive();
        Ends.ok(e.sendQueue.start().writeImmediate(1, e.flags(), e.rkey, e.remote, 9).complete());
        e.reap();
        return e.received();
    }

    /** Read of 64 bytes. */
    @Benchmark
    public void read64(Ends e) {
        Ends.ok(e.sendQueue.start().read(1, e.flags(), e.rkey, e.remote).sge(e.from, 0, 64).complete());
        e.reap();
    }

    /** Read of 4096 bytes by the short form. */
    @Benchmark
    public void postRead4096(Ends e) {
        Ends.ok(e.sendQueue.postRead(1, e.flags(), e.from, 0, 4096, e.rkey, e.remote));
        e.reap();
    }

    /** Fetch-and-add. */
    @Benchmark
    public void fetchAndAdd(Ends e) {
        Ends.ok(e.sendQueue.start().fetchAndAdd(1, e.flags(), e.rkey, e.remote, 1).sge(e.from, 0, 8).complete());
        e.reap();
    }

    /** Compare-and-swap. */
    @Benchmark
    public void compareAndSwap(Ends e) {
        Ends.ok(e.sendQueue.start().compareAndSwap(1, e.flags(), e.rkey, e.remote, 0, 0).sge(e.from, 0, 8).complete());
        e.reap();
    }

    /** A batch of four writes of 8 bytes, committed at once. */
    @Benchmark
    public void batchOfFour(Ends e) {
        Ends.ok(e.sendQueue.start().write(1, SendFlags.NONE, e.rkey, e.remote).sge(e.from, 0, 8)
                .write(2, SendFlags.NONE, e.rkey, e.remote + 8).sge(e.from, 8, 8)
                .write(3, SendFlags.NONE, e.rkey, e.remote + 16).sge(e.from, 16, 8)
                .write(4, SendFlags.SIGNALED, e.rkey, e.remote + 24).sge(e.from, 24, 8).complete());
        Ends.take(e.sendCq);
    }

    /** A signalled write of 8 bytes, and its completion by cursor. */
    @Benchmark
    public long pollByCursor(Ends e) {
        signalled(e);
        return Ends.take(e.sendCq);
    }

    /** A signalled write of 8 bytes, and its completion into an array. */
    @Benchmark
    public long pollIntoArray(Ends e) {
        signalled(e);
        if (e.sendCq.poll(ONE) != 1) {
            throw new IllegalStateException("there is no completion");
        }
        return ONE[0].byteLength();
    }

    private static void signalled(Ends e) {
        Ends.ok(e.sendQueue.start().write(1, SendFlags.SIGNALED, e.rkey, e.remote).sge(e.from, 0, 8).complete());
    }

    /** A poll that finds nothing, by cursor. */
    @Benchmark
    public int pollEmptyByCursor(Ends e) {
        return e.receiveCq.startPoll();
    }

    /** A poll that finds nothing, into an array. */
    @Benchmark
    public int pollEmptyIntoArray(Ends e) {
        return e.receiveCq.poll(ONE);
    }

    /** Arming. */
    @Benchmark
    public int requestNotify(Ends e) {
        return e.receiveCq.requestNotify(false);
    }
}
