// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

import org.verbena.shm.layout.Posted;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcStatus;

/** Credits, {@link Posted}: a sender that sees the credit sees the receive, and its hint never promises too much. */
public class PostedStress {
    private static final int LONG = 200;
    private static final int SOURCE = 1024;
    private static final long PATIENCE = 20_000_000_000L;

    private PostedStress() {}

    /** The status of the next completion, -1 if there is none. */
    private static int status(CompletionQueue cq) {
        if (cq.startPoll() != 0) {
            return -1;
        }
        int s = cq.status();
        cq.endPoll();
        return s;
    }

    /** The status of the next completion, which an engine may still be about to make; -1 if it does not come. */
    private static int awaitStatus(CompletionQueue cq) {
        long end = System.nanoTime() + PATIENCE;
        int s = status(cq);
        while (s < 0 && System.nanoTime() - end < 0) {
            Thread.onSpinWait();
            s = status(cq);
        }
        return s;
    }

    /** A message that goes straight into the posted receive. */
    @JCStressTest
    @Outcome(id = "0, 0, 0", expect = Expect.ACCEPTABLE, desc = "delivered, at once or later")
    @Outcome(expect = Expect.FORBIDDEN, desc = "failed, or went elsewhere")
    @State
    public static class Credit {
        private static final StressPairs PAIRS = new StressPairs(150, false).withoutEngines();
        private final StressPairs.Pair pair = PAIRS.take();

        /** For jcstress. */
        public Credit() {
            pair.b.region.segment().asSlice(0, LONG).fill((byte) 0);
            StressMemory.fill(pair.a.region.address() + SOURCE, LONG, 3);
        }

        /** Posts the receive. */
        @Actor
        public void receiver() {
            pair.receive(1, 0, LONG);
        }

        /** Sends. */
        @Actor
        public void sender() {
            pair.send(1, SendFlags.SIGNALED, SOURCE, LONG);
        }

        /** Statuses of both ends, and the words that are wrong. */
        @Arbiter
        public void end(III_Result r) {
            pair.sendQueue.progress();
            r.r1 = status(pair.b.receiveCq);
            r.r2 = status(pair.a.sendCq);
            r.r3 = StressMemory.wrong(pair.b.region.address(), LONG, 3);
            if (r.r1 == 0 && r.r2 == 0) {
                PAIRS.give(pair);
            }
        }
    }

    /** The second receive is too short for the second message, whatever the sender believed when it sent the first. */
    @JCStressTest
    @Outcome(id = "0, 1, 9", expect = Expect.ACCEPTABLE, desc = "the second message is refused on both ends")
    @Outcome(expect = Expect.FORBIDDEN, desc = "a message is longer than its receive")
    @State
    public static class Shortest {
        private static final StressPairs PAIRS = new StressPairs(150, false);
        private final StressPairs.Pair pair = PAIRS.take();

        /** Posts two receives. */
        @Actor
        public void receiver() {
            pair.receive(1, 0, 256);
            pair.receive(2, 512, 16);
        }

        /** Sends two messages that fit into a lane entry. */
        @Actor
        public void sender() {
            pair.send(1, SendFlags.SIGNALED, SOURCE, 80);
            pair.send(2, SendFlags.SIGNALED, SOURCE, 80);
        }

        /** Status of the first receive, of the second one and of the second send. */
        @Arbiter
        public void end(III_Result r) {
            r.r1 = awaitStatus(pair.b.receiveCq);
            r.r2 = awaitStatus(pair.b.receiveCq);
            int first = awaitStatus(pair.a.sendCq);
            r.r3 = first != WcStatus.SUCCESS ? 100 + first : awaitStatus(pair.a.sendCq);
            PAIRS.discard(pair);
        }
    }

    /**
     * A receive queue moves to ERR while a message is being written into a posted receive: when the receive has
     * completed, flushed or not, it is not written any more.
     */
    @JCStressTest
    @Outcome(id = "0, 25, 25", expect = Expect.ACCEPTABLE, desc = "the message was first")
    @Outcome(id = "5, 0, 0", expect = Expect.ACCEPTABLE, desc = "flushed, and untouched")
    @Outcome(expect = Expect.FORBIDDEN, desc = "written into a buffer that was given back")
    @State
    public static class Flushed {
        private static final StressPairs PAIRS = new StressPairs(150, false);
        private final StressPairs.Pair pair = PAIRS.take();

        /** For jcstress. */
        public Flushed() {
            pair.b.region.segment().asSlice(0, LONG).fill((byte) 0);
            StressMemory.fill(pair.a.region.address() + SOURCE, LONG, 3);
            pair.receive(1, 0, LONG);
        }

        /** Sends. */
        @Actor
        public void sender() {
            pair.send(1, SendFlags.SIGNALED, SOURCE, LONG);
        }

        /** Gives up; the status of the receive, and how many words are there when it has completed. */
        @Actor
        public void receiver(III_Result r) {
            pair.receiver.enterError("stress test", -1);
            r.r1 = awaitStatus(pair.b.receiveCq);
            r.r2 = words();
        }

        /** How many words are there in the end. */
        @Arbiter
        public void end(III_Result r) {
            r.r3 = words();
            PAIRS.discard(pair);
        }

        private int words() {
            return LONG / 8 - StressMemory.wrong(pair.b.region.address(), LONG, 3);
        }
    }
}
