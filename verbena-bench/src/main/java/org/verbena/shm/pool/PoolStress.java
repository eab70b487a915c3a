// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.StressMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.ring.Inbox;
import org.verbena.verbs.WcOpcode;

/** Two initiators that take receives out of a {@link ReceivePool} while its owner posts and completes. */
public class PoolStress {
    private static final int ENTRIES = 2;
    private static final int LENGTH = 40;

    private PoolStress() {}

    /** A pool of two receives with an inbox. */
    static class Pool {
        final long memory = StressMemory.take();
        final ReceivePool pool = new ReceivePool(memory, memory + 128, memory + 256, ENTRIES, memory + 384, 1);
        final InboxReader reader = new InboxReader(pool, memory + 512, ENTRIES);
        private final PoolClaims first = claims();
        private final PoolClaims second = claims();

        Pool() {
            pool.setCapacity(ENTRIES);
        }

        /** Receives that are posted, some of which the first initiator has claimed. */
        Pool(int posts, int claims) {
            this();
            for (int i = 0; i < posts; i++) {
                post();
            }
            for (int i = 0; i < claims; i++) {
                claim(1);
            }
        }

        private PoolClaims claims() {
            return new PoolClaims(memory, memory + 128, memory + 256, ENTRIES);
        }

        final void post() {
            int s = pool.take();
            RawMemory.putInt(pool.wqe(s) + AdapterLayout.WQE_FITS, LENGTH + s);
            RawMemory.putLong(pool.wqe(s) + AdapterLayout.WQE_HEADER, 1000 + s);
            pool.post(s, 1);
        }

        /** Claims once: 0 if there is nothing, 1 + the position, or 9 if the receive is not what was posted. */
        final int claim(int sender) {
            long c = (sender == 1 ? first : second).claim();
            if (c == Claim.NONE) {
                return 0;
            }
            int s = Claim.slot(c);
            return Claim.length(c) == LENGTH + s && RawMemory.getLong(pool.wqe(s) + AdapterLayout.WQE_HEADER) == 1000
                    + s
                            ? 1 + (int) Claim.position(c)
                            : 9;
        }

        void send(int sender) {
            long c = (sender == 1 ? first : second).claim();
            if (c != Claim.NONE) {
                long e = reader.entry(c);
                RawMemory.putLong(e, sender);
                Inbox.address(e, c, sender, sender, 3);
                Inbox.commit(e, c, 8, 0, WcOpcode.RECV, 0, LaneLayout.IS_INLINE, false);
            }
        }

        /** The sender of the next message; 0: there is none, 9: its source does not fit. */
        int poll() {
            long c = reader.next();
            if (c == Claim.NONE) {
                return 0;
            }
            long e = reader.entry(c);
            int sender = (int) RawMemory.getLong(e);
            boolean fits = Inbox.source(e) == sender && Inbox.sourceQueuePair(e) == sender;
            pool.free(Claim.slot(c));
            return fits ? sender : 9;
        }
    }

    /** Each receive is claimed once, whole. */
    @JCStressTest
    @Outcome(id = {"1, 0", "1, 2", "2, 1"}, expect = Expect.ACCEPTABLE, desc = "each once")
    @Outcome(expect = Expect.FORBIDDEN, desc = "one receive for two, or torn")
    @State
    public static class Claiming extends Pool {
        /** The owner, and an initiator in its process. */
        @Actor
        public void one(II_Result r) {
            post();
            post();
            r.r1 = claim(1);
        }

        /** Another one. */
        @Actor
        public void other(II_Result r) {
            r.r2 = claim(2);
        }
    }

    /** One receive for two initiators. */
    @JCStressTest
    @Outcome(id = {"0, 1", "1, 0"}, expect = Expect.ACCEPTABLE, desc = "one has it")
    @Outcome(expect = Expect.FORBIDDEN, desc = "both, or none")
    @State
    public static class OneForTwo extends Pool {
        /** For jcstress. */
        public OneForTwo() {
            post();
        }

        /** An initiator. */
        @Actor
        public void one(II_Result r) {
            r.r1 = claim(1);
        }

        /** Another one. */
        @Actor
        public void other(II_Result r) {
            r.r2 = claim(2);
        }
    }

    /** Both messages are read, once each and whole, in either order. */
    @JCStressTest
    @Outcome(id = {"0, 1, 2", "0, 2, 1", "1, 2, 0", "2, 1, 0"}, expect = Expect.ACCEPTABLE, desc = "each once")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost, twice or torn")
    @State
    public static class Reading extends Pool {
        /** For jcstress. */
        public Reading() {
            post();
            post();
        }

        /** An initiator. */
        @Actor
        public void one() {
            send(1);
        }

        /** Another one, in the owner's process, and then the completion queue. */
        @Actor
        public void other(III_Result r) {
            send(2);
            r.r1 = poll();
        }

        /** What is left. */
        @Arbiter
        public void rest(III_Result r) {
            r.r2 = poll();
            r.r3 = poll();
        }
    }

    /** Two threads complete receives while the poster takes free slots: a slot is never in use twice. */
    @JCStressTest
    @Outcome(id = {"0, 1", "1, 0"}, expect = Expect.ACCEPTABLE, desc = "two slots")
    @Outcome(id = "0, -1", expect = Expect.ACCEPTABLE, desc = "the other one is not free yet")
    @Outcome(expect = Expect.FORBIDDEN, desc = "the same slot twice")
    @State
    public static class Freeing extends Pool {
        private final long one;
        private final long two;

        /** For jcstress. */
        public Freeing() {
            post();
            post();
            claim(1);
            claim(2);
            one = pool.at(0);
            two = pool.at(1);
        }

        /** A completion queue, and then the poster. */
        @Actor
        public void first(II_Result r) {
            if (pool.finish(one)) {
                pool.free(Claim.slot(one));
            }
            r.r1 = pool.take();
            r.r2 = pool.take();
        }

        /** Another completion queue. */
        @Actor
        public void second() {
            if (pool.finish(two)) {
                pool.free(Claim.slot(two));
            }
        }
    }
}
