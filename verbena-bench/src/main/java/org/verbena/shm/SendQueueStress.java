// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

import org.verbena.bench.Loop;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.SendFlags;

/**
 * {@link ShmSendQueue}: whichever thread executes, the poster at once or any other by {@link ShmSendQueue#progress()},
 * each work request is executed once and in its order, and none is left behind. The engines do not help here.
 */
public class SendQueueStress {
    private SendQueueStress() {}

    /** A connected pair, and what its receiver and its completion queue saw in the end. */
    static class Queue {
        private static final StressPairs PAIRS = new StressPairs(300, false).withoutEngines();
        final StressPairs.Pair pair = PAIRS.take();

        /** Posts receives 1 to {@code n}. */
        final void receives(int n) {
            for (int i = 1; i <= n; i++) {
                pair.receive(i, 0, 64);
            }
        }

        /**
         * r1: messages received in order, or 100 and more if not; r2: the same of the sender's completions; r3: whether
         * something was left behind.
         */
        final void judge(III_Result r, int posted, int receives) {
            r.r3 = pair.sendQueue.isPending() ? 1 : 0;
            if (r.r3 != 0) {
                pair.sendQueue.progress();
            }
            r.r1 = inOrder(pair.b.receiveCq, true);
            r.r2 = inOrder(pair.a.sendCq, false);
            if (r.r1 != posted || r.r2 != posted) {
                return; // the pair is not as it was, and is left alone
            }
            for (int i = posted; i < receives; i++) {
                pair.send(0, SendFlags.SIGNALED, 0, 8);
                Loop.take(pair.b.receiveCq);
                Loop.take(pair.a.sendCq);
            }
            PAIRS.give(pair);
        }

        /** As the engine does while it is told that something waits; the first time it may leave that to a poller. */
        final void engineComes() {
            for (int i = 0; i < 2 && pair.sender.sendProgress().isRequested(); i++) {
                pair.sender.sendProgress().wake();
            }
        }

        private static int inOrder(CompletionQueue cq, boolean received) {
            int n = 0;
            boolean good = true;
            while (cq.startPoll() == 0) {
                n++;
                good &= cq.status() == 0 && cq.wrId() == n && (!received || cq.immediate() == n);
                cq.endPoll();
            }
            return good ? n : 100 + n;
        }
    }

    /** The fast path of a post against an engine or poller that finds nothing to do, or just that. */
    @JCStressTest
    @Outcome(id = "4, 4, 0", expect = Expect.ACCEPTABLE, desc = "each executed once")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost, twice, out of order or left behind")
    @State
    public static class PostAndProgress extends Queue {
        /** For jcstress. */
        public PostAndProgress() {
            receives(8);
        }

        /** The application. */
        @Actor
        public void post() {
            for (int i = 1; i <= 4; i++) {
                pair.send(i, SendFlags.SIGNALED, 0, 8);
            }
        }

        /** A poll, or the engine. */
        @Actor
        public void progress() {
            for (int i = 0; i < 8; i++) {
                pair.sendQueue.progress();
            }
        }

        /** Looks at both ends. */
        @Arbiter
        public void end(III_Result r) {
            judge(r, 4, 8);
        }
    }

    /** A request waits and may go on now, while another one is posted, which leaves both to the engine. */
    @JCStressTest
    @Outcome(id = "2, 2, 0", expect = Expect.ACCEPTABLE, desc = "each executed once")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost, twice, out of order or left behind")
    @State
    public static class WaitingAndPost extends Queue {
        /** For jcstress. */
        public WaitingAndPost() {
            pair.send(1, SendFlags.SIGNALED, 0, 8);
            receives(2);
        }

        /** The application. */
        @Actor
        public void post() {
            pair.send(2, SendFlags.SIGNALED, 0, 8);
        }

        /** A poll, or the engine. */
        @Actor
        public void progress() {
            pair.sendQueue.progress();
        }

        /** Looks at both ends. */
        @Arbiter
        public void end(III_Result r) {
            engineComes();
            judge(r, 2, 2);
        }
    }

    /** Two requests wait and may go on now; two threads find that at once. */
    @JCStressTest
    @Outcome(id = "2, 2, 0", expect = Expect.ACCEPTABLE, desc = "each executed once")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost, twice, out of order or left behind")
    @State
    public static class TwoProgress extends Queue {
        /** For jcstress. */
        public TwoProgress() {
            pair.send(1, SendFlags.SIGNALED, 0, 8);
            pair.send(2, SendFlags.SIGNALED, 0, 8);
            receives(2);
        }

        /** A poll. */
        @Actor
        public void poll() {
            pair.sendQueue.progress();
        }

        /** The engine. */
        @Actor
        public void engine() {
            pair.sendQueue.progress();
        }

        /** Looks at both ends. */
        @Arbiter
        public void end(III_Result r) {
            judge(r, 2, 2);
        }
    }

    /**
     * A request waits. The peer posts a receive and, since the starving word is set, wakes the engine, while the
     * application polls for the last time before it sleeps: one of the two must execute the request.
     */
    @JCStressTest
    @Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "executed")
    @Outcome(expect = Expect.FORBIDDEN, desc = "both left: the request is stuck")
    @State
    public static class LastPollAndWake extends Queue {
        /** For jcstress. */
        public LastPollAndWake() {
            pair.send(1, SendFlags.SIGNALED, 0, 8);
            pair.sender.sendProgress().tick();
        }

        /** The application: nothing is there but the request that waits. */
        @Actor
        public void poll() {
            pair.sendQueue.progress();
        }

        /** The peer, and the engine that it wakes; which polls again as long as tick() does not let it sleep. */
        @Actor
        public void wake() {
            receives(1);
            boolean again = true;
            while (again && !pair.sender.sendProgress().wake()) {
                again = pair.sender.sendProgress().tick();
            }
        }

        /** Looks at both ends. */
        @Arbiter
        public void end(III_Result r) {
            judge(r, 1, 1);
        }
    }
}
