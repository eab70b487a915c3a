// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.reflect.Field;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

import org.verbena.bench.Loop;
import org.verbena.linux.Doorbell;
import org.verbena.linux.Epoll;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Poll;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.spi.Engine;

/**
 * The starving word. A send waits for a receive, without limit, and its engine goes to sleep: either the thread that
 * posts the receive sees the word and wakes the engine, or the engine's last look sees the receive. The engines
 * themselves do nothing here.
 */
public class StarvingStress {
    private StarvingStress() {}

    /** A pair on which a send waits for a receive. */
    static class Waiting {
        private static final StressPairs PAIRS = new StressPairs(150, false).withoutEngines();
        private static final Doorbell BELL = bell(PAIRS.senders().engine());
        final StressPairs.Pair pair = PAIRS.take();
        private final long starving = PAIRS.senders().adapter().base() + AdapterLayout.qpEntry(pair.sender.number())
                + AdapterLayout.QP_STARVING;

        Waiting() {
            pair.send(1, SendFlags.SIGNALED, 0, 8);
        }

        /** What peers ring; the engine itself, which would answer, is held. */
        private static Doorbell bell(Engine engine) {
            try {
                Field f = Engine.class.getDeclaredField("bell");
                f.setAccessible(true);
                return (Doorbell) f.get(engine);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }

        /** Whether the sender's engine was woken since the last call. */
        final boolean wasWoken() {
            try {
                boolean rung = Poll.await(BELL.fd(), Epoll.IN, 0) != 0;
                BELL.silence();
                return rung;
            } catch (LinuxException e) {
                throw new IllegalStateException(e);
            }
        }

        /** r2: whether the send still waits; r3: the starving word when it does no more. */
        final void judge(III_Result r) {
            r.r2 = pair.sendQueue.isPending() ? 1 : 0;
            pair.sendQueue.progress();
            r.r3 = (int) RawMemory.getLongAcquire(starving);
            Loop.take(pair.b.receiveCq);
            Loop.take(pair.a.sendCq);
            if (r.r3 == 0) {
                pair.sender.sendProgress().wake(); // as the engine would, which then does not poll it any more
                PAIRS.give(pair);
            }
        }
    }

    /** The receive is posted while the engine says that it starves. */
    @JCStressTest
    @Outcome(id = {"0, 0, 0", "1, 0, 0", "1, 1, 0"}, expect = Expect.ACCEPTABLE, desc = "woken, or seen")
    @Outcome(id = "0, 1, 0", expect = Expect.FORBIDDEN, desc = "neither: the send is stuck")
    @Outcome(expect = Expect.FORBIDDEN, desc = "the word stays set: each later receive costs a system call")
    @State
    public static class Wake extends Waiting {
        /** The peer; r1: whether it woke the engine. */
        @Actor
        public void receiver(III_Result r) {
            wasWoken();
            pair.receive(1, 0, 64);
            r.r1 = wasWoken() ? 1 : 0;
        }

        /** The engine, before it sleeps. */
        @Actor
        public void engine() {
            pair.sender.sendProgress().tick();
        }

        /** Looks at the queue and the word. */
        @Arbiter
        public void end(III_Result r) {
            judge(r);
        }
    }

    /** A poll executes the request while the engine is about to say that it starves. */
    @JCStressTest
    @Outcome(id = "0, 0, 0", expect = Expect.ACCEPTABLE, desc = "executed, nothing left")
    @Outcome(expect = Expect.FORBIDDEN, desc = "still waiting, or the word stays set")
    @State
    public static class Fed extends Waiting {
        /** For jcstress. */
        public Fed() {
            pair.receive(1, 0, 64);
        }

        /** The application. */
        @Actor
        public void poll() {
            pair.sendQueue.progress();
        }

        /** The engine. */
        @Actor
        public void engine() {
            pair.sender.sendProgress().tick();
        }

        /** Looks at the queue and the word. */
        @Arbiter
        public void end(III_Result r) {
            judge(r);
        }
    }
}
