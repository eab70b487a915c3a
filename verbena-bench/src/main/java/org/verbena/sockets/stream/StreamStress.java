// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

import org.verbena.sockets.stream.StreamPairs.Pair;
import org.verbena.sockets.stream.memory.Bell;
import org.verbena.sockets.stream.memory.BlockLayout;

/** The ring between two threads: bytes are whole and in order, and no thread sleeps while bytes are there. */
public class StreamStress {
    private static final int PAIRS = 150;
    private static final int SOME = 100;

    private StreamStress() {}

    /** A reader looks twice while a writer writes twice. */
    @JCStressTest
    @Outcome(id = {"0, 200", "100, 100", "200, 0"}, expect = Expect.ACCEPTABLE, desc = "whole writes, in order")
    @Outcome(expect = Expect.FORBIDDEN, desc = "torn, lost or out of order")
    @State
    public static class Bytes {
        private static final StreamPairs POOL = new StreamPairs(PAIRS);
        private final Pair pair = POOL.take();
        private int first;
        private int second;

        /** For jcstress. */
        public Bytes() {}

        /** Writes. */
        @Actor
        public void writer() {
            Pair.write(pair.a, 0, SOME);
            Pair.write(pair.a, SOME, SOME);
        }

        /** Looks. */
        @Actor
        public void reader() {
            first = Pair.read(pair.b, 0, 4 * SOME);
            second = first < 0 ? first : Pair.read(pair.b, first, 4 * SOME);
        }

        /** What both looks found, and the rest that came later. */
        @Arbiter
        public void end(II_Result r) {
            int early = first + second;
            int rest = early < 0 ? early : Pair.read(pair.b, early, 4 * SOME);
            r.r1 = early;
            r.r2 = Math.max(rest, 0);
            POOL.give(pair);
        }
    }

    /** A reader that finds nothing goes to sleep while a writer writes. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "read at once")
    @Outcome(id = "2, 0", expect = Expect.ACCEPTABLE, desc = "seen before going to sleep")
    @Outcome(id = "3, 1", expect = Expect.ACCEPTABLE, desc = "asleep, and woken")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost wake-up")
    @State
    public static class Data {
        private static final StreamPairs POOL = new StreamPairs(PAIRS);
        private final Pair pair = POOL.take();
        private int how;

        /** For jcstress. */
        public Data() {}

        /** Writes. */
        @Actor
        public void writer() {
            Pair.write(pair.a, 0, SOME);
        }

        /** Reads, or sleeps. */
        @Actor
        public void reader() {
            how = Pair.read(pair.b, 0, SOME) == SOME ? 1 : pair.b.arm(OP_READ, null) != 0 ? 2 : 3;
        }

        /** How the reader came to the data. */
        @Arbiter
        public void end(II_Result r) {
            r.r1 = how;
            r.r2 = how == 3 && Pair.hearsBell(pair.b, pair.tcpB, OP_READ) ? 1 : 0;
            POOL.give(pair);
        }
    }

    /** As {@link Data}, with a reader that sleeps at its bell. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "read at once")
    @Outcome(id = "2, 0", expect = Expect.ACCEPTABLE, desc = "seen before going to sleep")
    @Outcome(id = "3, 1", expect = Expect.ACCEPTABLE, desc = "asleep, and the bell rung")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost wake-up")
    @State
    public static class DataAtBell {
        private static final StreamPairs POOL = new StreamPairs(PAIRS);
        private final Pair pair = POOL.take();
        private final Bell bell = Pair.bell(pair.b);
        private int before;
        private int how;

        /** For jcstress. */
        public DataAtBell() {}

        /** Writes. */
        @Actor
        public void writer() {
            Pair.write(pair.a, 0, SOME);
        }

        /** Reads, or sleeps. */
        @Actor
        public void reader() {
            before = bell.prepare();
            how = Pair.read(pair.b, 0, SOME) == SOME ? 1 : pair.b.armBell(OP_READ) != 0 ? 2 : 3;
        }

        /** How the reader came to the data. */
        @Arbiter
        public void end(II_Result r) {
            r.r1 = how;
            r.r2 = how == 3 && BlockLayout.bell(((RingStream) pair.b).link().block, BlockLayout.BELL) != before
                    && pair.b.readyOps(OP_READ) == OP_READ ? 1 : 0;
            POOL.give(pair);
        }
    }

    /** As {@link Data}, with a selector that sleeps at its bell, which all connections share. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "ready at once")
    @Outcome(id = "2, 1", expect = Expect.ACCEPTABLE, desc = "asleep or about to be, and woken")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost wake-up")
    @State
    public static class DataForSelector {
        private static final StreamPairs POOL = new StreamPairs(PAIRS);
        private static final ReadyQueue QUEUE = new ReadyQueue();
        private static final long LONG_NANOS = 20_000_000_000L;
        private final Pair pair = POOL.take();
        private int how;
        private int woken;

        /** For jcstress. */
        public DataForSelector() {}

        /** Writes. */
        @Actor
        public void writer() {
            Pair.write(pair.a, 0, SOME);
        }

        /** Finds the connection ready, or sleeps until it is. */
        @Actor
        public void selector() {
            how = pair.b.arm(OP_READ, QUEUE) != 0 ? 1 : 2;
            long start = System.nanoTime();
            while (how == 2 && woken == 0 && System.nanoTime() - start < LONG_NANOS) {
                if (QUEUE.sleep(true)) {
                    QUEUE.await(LONG_NANOS);
                    QUEUE.awake();
                }
                QUEUE.poll(); // which others of the pairs may have filled
                woken = pair.b.readyOps(OP_READ) != 0 ? 1 : 0;
            }
        }

        /** How the selector came to the data. */
        @Arbiter
        public void end(II_Result r) {
            r.r1 = how;
            r.r2 = woken;
            POOL.give(pair);
        }
    }

    /** A thread goes to sleep at the bell while another, of this process, changes what it waits for. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "seen before going to sleep")
    @Outcome(id = "2, 1", expect = Expect.ACCEPTABLE, desc = "the sleep has ended")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost wake-up")
    @State
    public static class ChangeAtBell {
        private static final StreamPairs POOL = new StreamPairs(1);
        private static final Pair PAIR = POOL.take();
        private static final long LONG_NANOS = 20_000_000_000L;
        private final Bell bell = Pair.bell(PAIR.b);
        private volatile boolean there;
        private int how;
        private int woken;

        /** For jcstress. */
        public ChangeAtBell() {}

        /** Changes it. */
        @Actor
        public void changer() {
            there = true;
            bell.changed();
        }

        /** Sleeps, unless it sees that. */
        @Actor
        public void sleeper() {
            how = there ? 1 : 2;
            long start = System.nanoTime();
            while (how == 2 && woken == 0 && System.nanoTime() - start < LONG_NANOS) {
                int before = bell.prepare(); // which changes for the sake of others, too
                if (there) {
                    woken = 1;
                } else {
                    bell.await(before, LONG_NANOS);
                }
            }
        }

        /** How the sleeper came to it. */
        @Arbiter
        public void end(II_Result r) {
            r.r1 = how;
            r.r2 = woken;
        }
    }

    /** A writer that finds the ring full goes to sleep while a reader reads. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "room at once")
    @Outcome(id = "2, 0", expect = Expect.ACCEPTABLE, desc = "seen before going to sleep")
    @Outcome(id = "3, 1", expect = Expect.ACCEPTABLE, desc = "asleep, and woken")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost wake-up")
    @State
    public static class Space {
        private static final StreamPairs POOL = new StreamPairs(PAIRS);
        private final Pair pair = POOL.take();
        private int how;

        /** The ring is full. */
        public Space() {
            while (Pair.write(pair.a, 0, SOME) > 0) { // what fits
            }
        }

        /** Writes, or sleeps. */
        @Actor
        public void writer() {
            how = Pair.write(pair.a, 0, SOME) > 0 ? 1 : pair.a.arm(OP_WRITE, null) != 0 ? 2 : 3;
        }

        /** Reads all that is there at first. */
        @Actor
        public void reader() {
            Pair.read(pair.b, 0, Link.FIRST_RING);
        }

        /** How the writer came to room. */
        @Arbiter
        public void end(II_Result r) {
            r.r1 = how;
            r.r2 = how == 3 && Pair.hearsBell(pair.a, pair.tcpA, OP_WRITE) ? 1 : 0;
            POOL.give(pair);
        }
    }
}
