// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

import org.verbena.bench.Loop;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;

/**
 * The first message of a connection, its end, and the first polls of the receiver, in any order: a send that was
 * reported as successful is received.
 */
public class ArrivalStress {
    private static final int RECEIVED = 1;
    private static final int FLUSHED = 2;

    private ArrivalStress() {}

    /** A connection in which nothing has been sent, with one receive. */
    static class Connection {
        private static final StressPairs PAIRS = new StressPairs(100, false);
        final StressPairs.Pair pair = PAIRS.take();

        Connection() {
            try {
                reset(pair.sender);
                reset(pair.receiver);
                Loop.connect(pair.sender, pair.receiver);
            } catch (VerbsException e) {
                throw new IllegalStateException(e);
            }
            pair.receive(1, 0, 64);
        }

        static void reset(ShmQueuePair qp) throws VerbsException {
            qp.modify(QueuePairAttributes.to(QueuePairState.RESET).build());
        }

        /** One look of the receiver. */
        final int look() {
            if (pair.b.receiveCq.startPoll() != 0) {
                return 0;
            }
            int found = pair.b.receiveCq.status() == 0 ? RECEIVED : FLUSHED;
            pair.b.receiveCq.endPoll();
            return found;
        }

        /** Until something is found; the other threads are done. */
        final int lookOn() {
            long end = System.nanoTime() + 1_000_000_000L;
            int found = look();
            while (found == 0 && System.nanoTime() - end < 0) {
                found = look();
            }
            return found;
        }

        final void giveBack() {
            PAIRS.give(pair);
        }
    }

    /** The receiver's queue pair fails, as by a disconnect. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "sent and received")
    @Outcome(id = "0, 2", expect = Expect.ACCEPTABLE, desc = "neither")
    @Outcome(expect = Expect.FORBIDDEN, desc = "sent and lost, or the other way round")
    @State
    public static class Disconnected extends Connection {
        /** The sender. */
        @Actor
        public void sender() {
            pair.send(1, SendFlags.SIGNALED, 0, 8);
        }

        /** The receiver, and its engine between two polls. */
        @Actor
        public void receiver(II_Result r) {
            r.r2 = look();
            pair.receiver.disconnected(pair.receiver.linkIdentity(), "the peer disconnected");
            for (int i = 0; i < 4 && r.r2 == 0; i++) {
                r.r2 = look();
            }
        }

        /** Whether the send has succeeded, and the receive. */
        @Arbiter
        public void end(II_Result r) {
            r.r1 = pair.a.sendCq.startPoll() == 0 && pair.a.sendCq.status() == 0 ? 1 : 0;
            if (r.r2 == 0) {
                r.r2 = lookOn();
            }
            giveBack();
        }
    }

    /** The sender is reset as soon as its request has succeeded. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "sent and received")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost")
    @State
    public static class SenderReset extends Connection {
        /** The sender. */
        @Actor
        public void sender(II_Result r) {
            pair.send(1, SendFlags.SIGNALED, 0, 8);
            r.r1 = StressPairs.drain(pair.a.sendCq, 1, 1_000_000_000L);
            try {
                reset(pair.sender);
            } catch (VerbsException e) {
                throw new IllegalStateException(e);
            }
        }

        /** The receiver. */
        @Actor
        public void poller(II_Result r) {
            for (int i = 0; i < 4 && r.r2 == 0; i++) {
                r.r2 = look();
            }
        }

        /** Whether it is received. */
        @Arbiter
        public void end(II_Result r) {
            if (r.r2 == 0) {
                r.r2 = lookOn();
            }
            giveBack();
        }
    }

    /** The receiver's end learns that the sender has left as soon as its request has succeeded. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "sent and received")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost")
    @State
    public static class SenderLeaves extends Connection {
        /** The sender, and then the receiver's engine. */
        @Actor
        public void sender(II_Result r) {
            pair.send(1, SendFlags.SIGNALED, 0, 8);
            r.r1 = StressPairs.drain(pair.a.sendCq, 1, 1_000_000_000L);
            pair.receiver.disconnected(pair.receiver.linkIdentity(), "the peer disconnected");
        }

        /** The receiver. */
        @Actor
        public void poller(II_Result r) {
            for (int i = 0; i < 4 && r.r2 == 0; i++) {
                r.r2 = look();
            }
        }

        /** Whether it is received. */
        @Arbiter
        public void end(II_Result r) {
            if (r.r2 == 0) {
                r.r2 = lookOn();
            }
            giveBack();
        }
    }

    /**
     * A sender that is inside when the link is withdrawn, and a receiver that waits no more: what the sender takes for
     * received is found by the receiver's last look.
     */
    @JCStressTest
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "sent and received")
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "neither")
    @Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "received, and the sender does not know")
    @Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "sent and lost")
    @State
    public static class GivenUp extends Connection {
        /** The sender. */
        @Actor
        public void sender() {
            pair.send(1, SendFlags.SIGNALED, 0, 8);
        }

        /** The receiver, as if the sender had not left in time. */
        @Actor
        public void receiver(II_Result r) {
            pair.receiver.own().withdrawLink();
            pair.receiver.own().giveUp();
            r.r2 = look();
        }

        /** Whether the send has succeeded. */
        @Arbiter
        public void end(II_Result r) {
            r.r1 = pair.a.sendCq.startPoll() == 0 && pair.a.sendCq.status() == 0 ? 1 : 0;
            giveBack();
        }
    }
}
