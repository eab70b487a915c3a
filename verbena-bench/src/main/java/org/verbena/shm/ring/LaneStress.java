// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.ring;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

import org.verbena.shm.StressMemory;
import org.verbena.shm.layout.Copy;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.verbs.WcOpcode;

/** {@link LaneWriter} against {@link LaneReader}: an entry is seen whole or not at all, and entries in their order. */
public class LaneStress {
    private static final int ENTRIES = 2;
    private static final int LANE = ENTRIES << LaneLayout.ENTRY_SHIFT;
    private static final int FROM = LANE;
    private static final int TO = LANE + 256;
    private static final int IMMEDIATE = 0x1234_5678;

    private LaneStress() {}

    /** Both ends of a lane of two entries. */
    static class Lane {
        final long memory = StressMemory.take();
        private final LaneWriter writer;
        private final LaneReader reader = new LaneReader(memory, ENTRIES);
        private boolean stamped;

        Lane(boolean timestamps) {
            writer = new LaneWriter(memory, ENTRIES, timestamps);
        }

        void put(long index, int length) {
            StressMemory.fill(memory + FROM, length, index + 1);
            writer.fetch(index, length); // as the message before it may do
            writer.putInline(index, memory + FROM, length, IMMEDIATE, WcOpcode.RECV, LaneLayout.HAS_IMMEDIATE);
        }

        boolean isThere(long index) {
            return LaneLayout.isOf(LaneReader.commit(reader.entry(index)), index);
        }

        /** 0 if the entry is not there, else 1; then {@code r2} counts what is wrong with it. */
        void take(long index, int length, II_Result r) {
            long entry = reader.entry(index);
            long commit = LaneReader.commit(entry);
            if (LaneLayout.isOf(commit, index)) {
                r.r1 = 1;
                Copy.small(LaneReader.payload(entry, commit), memory + TO, length);
                r.r2 = StressMemory.wrong(memory + TO, length, index + 1)
                        + (LaneReader.length(entry, commit) == length ? 0 : 100)
                        + (LaneReader.immediate(entry) == IMMEDIATE ? 0 : 200)
                        + (LaneLayout.status(commit) == 0 ? 0 : 400)
                        + (LaneLayout.opcode(commit) == WcOpcode.RECV ? 0 : 800);
                stamped = (LaneLayout.flags(commit) & LaneLayout.HAS_TIMESTAMP) != 0
                        && LaneReader.timestamp(entry, commit) != 0;
            }
        }

        boolean isStamped() {
            return stamped;
        }
    }

    /** A payload of one line. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "not committed yet")
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "whole")
    @Outcome(expect = Expect.FORBIDDEN, desc = "torn")
    @State
    public static class OneLine extends Lane {
        /** For jcstress. */
        public OneLine() {
            super(false);
        }

        /** The initiator. */
        @Actor
        public void writer() {
            put(0, 48);
        }

        /** The completion queue. */
        @Actor
        public void reader(II_Result r) {
            take(0, 48, r);
        }
    }

    /** A payload in the second line. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "not committed yet")
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "whole")
    @Outcome(expect = Expect.FORBIDDEN, desc = "torn")
    @State
    public static class TwoLines extends Lane {
        /** For jcstress. */
        public TwoLines() {
            super(false);
        }

        /** The initiator. */
        @Actor
        public void writer() {
            put(0, 64);
        }

        /** The completion queue. */
        @Actor
        public void reader(II_Result r) {
            take(0, 64, r);
        }
    }

    /** A short payload; the second line carries the time stamp. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "not committed yet")
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "whole, and stamped")
    @Outcome(expect = Expect.FORBIDDEN, desc = "torn")
    @State
    public static class Stamped extends Lane {
        /** For jcstress. */
        public Stamped() {
            super(true);
        }

        /** The initiator. */
        @Actor
        public void writer() {
            put(0, 32);
        }

        /** The completion queue. */
        @Actor
        public void reader(II_Result r) {
            take(0, 32, r);
            if (r.r1 == 1 && !isStamped()) {
                r.r2 = -1;
            }
        }
    }

    /** A lane that has gone round once: what an earlier entry left is never taken for the new one's. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "not committed yet")
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "whole")
    @Outcome(expect = Expect.FORBIDDEN, desc = "torn, or mixed with the earlier entry")
    @State
    public static class UsedAgain extends Lane {
        /** For jcstress. */
        public UsedAgain() {
            super(false);
            put(0, 64);
        }

        /** The initiator. */
        @Actor
        public void writer() {
            put(ENTRIES, 56);
        }

        /** The completion queue. */
        @Actor
        public void reader(II_Result r) {
            take(ENTRIES, 56, r);
        }
    }

    /** A reader that sees the second entry sees the first. */
    @JCStressTest
    @Outcome(id = {"0, 0", "0, 1", "1, 1"}, expect = Expect.ACCEPTABLE, desc = "in order")
    @Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "the second before the first")
    @State
    public static class Order extends Lane {
        /** For jcstress. */
        public Order() {
            super(false);
        }

        /** The initiator. */
        @Actor
        public void writer() {
            put(0, 64);
            put(1, 40);
        }

        /** The completion queue, looking for the second entry before the first. */
        @Actor
        public void reader(II_Result r) {
            r.r1 = isThere(1) ? 1 : 0;
            r.r2 = isThere(0) ? 1 : 0;
        }
    }
}
