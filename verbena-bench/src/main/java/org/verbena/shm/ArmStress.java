// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

import org.verbena.bench.Loop;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.ArmWord;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;

/**
 * Arming a completion queue, then polling once more: either the committing thread sees the arm word and makes an event,
 * or the poll sees the completion. No thread sleeps on a completion.
 */
public class ArmStress {
    private ArmStress() {}

    private static int armAndPoll(CompletionQueue cq) {
        Loop.check(cq.requestNotify(false));
        return poll(cq);
    }

    private static int poll(CompletionQueue cq) {
        boolean polled = cq.startPoll() == 0;
        if (polled) {
            cq.endPoll();
        }
        return polled ? 1 : 0;
    }

    /** Whether an event waits; takes what is left, so that the pair can be used again. */
    private static int event(Loop.End end) {
        try {
            return Objects.requireNonNull(end.channel).await(Duration.ZERO) == null ? 0 : 1;
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void drain(CompletionQueue cq) {
        while (cq.startPoll() == 0) {
            cq.endPoll();
        }
    }

    /** A receive completion, committed by the peer. */
    @JCStressTest
    @Outcome(id = {"0, 1", "1, 0", "1, 1"}, expect = Expect.ACCEPTABLE, desc = "an event, or polled")
    @Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "neither: lost wake-up")
    @State
    public static class Received {
        private static final StressPairs PAIRS = new StressPairs(150, true);
        private final StressPairs.Pair pair = PAIRS.take();

        /** For jcstress. */
        public Received() {
            pair.receive(1, 0, 64);
        }

        /** The peer. */
        @Actor
        public void sender() {
            pair.send(1, SendFlags.NONE, 0, 8);
        }

        /** Arms and polls; as a process whose peer is another one, whose threads no membarrier reaches. */
        @Actor
        public void poller(II_Result r) {
            ((ShmCompletionQueue) pair.b.receiveCq).arm(false);
            VarHandle.fullFence();
            r.r2 = poll(pair.b.receiveCq);
        }

        /** Was there an event? */
        @Arbiter
        public void end(II_Result r) {
            r.r1 = event(pair.b);
            drain(pair.b.receiveCq);
            pair.send(2, SendFlags.SIGNALED, 0, 0);
            pair.receive(2, 0, 64);
            pair.sendQueue.progress();
            drain(pair.b.receiveCq);
            drain(pair.a.sendCq);
            PAIRS.give(pair);
        }
    }

    /** A send completion, committed by a thread of this process. */
    @JCStressTest
    @Outcome(id = {"0, 1", "1, 0", "1, 1"}, expect = Expect.ACCEPTABLE, desc = "an event, or polled")
    @Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "neither: lost wake-up")
    @State
    public static class Sent {
        private static final StressPairs PAIRS = new StressPairs(150, true);
        private final StressPairs.Pair pair = PAIRS.take();

        /** The poster, which executes. */
        @Actor
        public void poster() {
            Loop.check(pair.a.qp.sendQueue().start()
                    .write(1, SendFlags.SIGNALED, pair.b.region.rkey(), pair.b.region.address()).sge(pair.a.region, 0,
                            8)
                    .complete());
        }

        /** Arms and polls. */
        @Actor
        public void poller(II_Result r) {
            r.r2 = armAndPoll(pair.a.sendCq);
        }

        /** Was there an event? */
        @Arbiter
        public void end(II_Result r) {
            r.r1 = event(pair.a);
            drain(pair.a.sendCq);
            PAIRS.give(pair);
        }
    }

    /**
     * Several tell one queue that they have signalled it, and the owner arms anew in between: the last arming counts.
     */
    @JCStressTest
    @Outcome(id = {"1, 1", "0, 1"}, expect = Expect.ACCEPTABLE, desc = "the later arming is marked")
    @Outcome(expect = Expect.FORBIDDEN, desc = "an earlier one stands over it: the reader takes the bell for another's")
    @State
    public static class MarkedByMany {
        private static final long FIRST = ArmWord.arm(0, false);
        private static final long SECOND = ArmWord.arm(ArmWord.disarm(FIRST), false);

        private final long armWord = StressMemory.take();
        private final long notified = armWord + 64;

        /** For jcstress. */
        public MarkedByMany() {
            RawMemory.putLong(notified, 0);
            RawMemory.putLongRelease(armWord, FIRST);
        }

        /** A committing thread that has seen the first arming. */
        @Actor
        public void late(II_Result r) {
            r.r1 = ArmWord.markNotified(notified, armWord, FIRST) ? 1 : 0;
        }

        /** The owner, and a committing thread that sees the second. */
        @Actor
        public void next() {
            RawMemory.putLongRelease(armWord, SECOND);
            ArmWord.markNotified(notified, armWord, SECOND);
        }

        /** What stands there in the end? */
        @Arbiter
        public void end(II_Result r) {
            r.r2 = ArmWord.isSame(RawMemory.getLong(notified), SECOND) ? 1 : 0;
        }
    }
}
