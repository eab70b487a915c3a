// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.completion;

import java.util.List;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

import org.verbena.shm.StressMemory;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.ring.LaneReader;
import org.verbena.shm.ring.LaneWriter;
import org.verbena.verbs.WcOpcode;

/** {@link ReadySet}: an entry that is committed while the set is polled is found by that poll or the next one. */
public class ReadyStress {
    private static final int INDEX = 5;
    private static final int ENTRIES = 2;
    private static final int LANE = 512;

    private ReadyStress() {}

    /** A lane, the count that goes with it, and the set that reads both; nothing is marked. */
    static class Marked {
        final long counts = StressMemory.take();
        final ReadySet set = new ReadySet();
        private final LaneWriter writer = new LaneWriter(counts + LANE, ENTRIES, false);
        private final LaneReader reader = new LaneReader(counts + LANE, ENTRIES);

        Marked() {
            set.watch(List.of(new ReadySet.Counts(this, counts, List.of(INDEX))));
            set.mark(INDEX);
            ask();
        }

        void commit() {
            writer.put(0, 0, 0, WcOpcode.RECV, 0, 0);
        }

        /** 1 if the entry was found. */
        int ask() {
            int i = set.next();
            if (i < 0) {
                return 0;
            }
            boolean there = LaneLayout.isOf(LaneReader.commit(reader.entry(0)), 0);
            set.found(i, there);
            return there ? 1 : 0;
        }

        /** As often as something is marked. */
        int askAll() {
            int found = 0;
            for (int n = 0; n < 3 && found == 0; n++) {
                found = ask();
            }
            return found;
        }
    }

    /** A peer commits. */
    @JCStressTest
    @Outcome(id = {"0, 1", "1, 1"}, expect = Expect.ACCEPTABLE, desc = "found, at once or later")
    @Outcome(expect = Expect.FORBIDDEN, desc = "overlooked")
    @State
    public static class Peer extends Marked {
        /** The initiator. */
        @Actor
        public void initiator() {
            commit();
            ReadySet.raise(counts + 2 * INDEX);
        }

        /** The completion queue. */
        @Actor
        public void poller(II_Result r) {
            r.r1 = ask();
        }

        /** The completion queue, later. */
        @Arbiter
        public void later(II_Result r) {
            r.r2 = askAll();
        }
    }

    /** This process completes something itself. */
    @JCStressTest
    @Outcome(id = {"0, 1", "1, 1"}, expect = Expect.ACCEPTABLE, desc = "found, at once or later")
    @Outcome(expect = Expect.FORBIDDEN, desc = "overlooked")
    @State
    public static class Own extends Marked {
        /** The completing thread. */
        @Actor
        public void initiator() {
            commit();
            set.mark(INDEX);
        }

        /** The completion queue. */
        @Actor
        public void poller(II_Result r) {
            r.r1 = ask();
        }

        /** The completion queue, later. */
        @Arbiter
        public void later(II_Result r) {
            r.r2 = askAll();
        }
    }
}
