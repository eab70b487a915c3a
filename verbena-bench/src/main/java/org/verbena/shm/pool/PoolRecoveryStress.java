// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

import org.verbena.shm.layout.Claim;

/** The engine brings receives of a {@link ReceivePool} back while others post, claim and complete. */
public class PoolRecoveryStress {
    private PoolRecoveryStress() {}

    /** A pool whose engine recovers all claimed receives, as if no claimer was inside. */
    static class Pool extends PoolStress.Pool {
        Pool(int posts, int claims) {
            super(posts, claims);
        }

        /** Brings one receive back; false if it was completed meanwhile. */
        final boolean bringBack(long claim) {
            if (!pool.finish(claim)) {
                return false;
            }
            pool.repost(Claim.slot(claim));
            return true;
        }
    }

    /** A receive that is completed is not recovered, and a recovered one is not completed. */
    @JCStressTest
    @Outcome(id = "1, 2", expect = Expect.ACCEPTABLE, desc = "brought back, which the poller sees")
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "completed")
    @Outcome(expect = Expect.FORBIDDEN, desc = "both, or neither")
    @State
    public static class Completing extends Pool {
        private final long claim;

        /** For jcstress. */
        public Completing() {
            super(1, 1);
            claim = pool.at(0);
        }

        /** The engine. */
        @Actor
        public void engine(II_Result r) {
            r.r1 = bringBack(claim) ? 1 : 0;
        }

        /** A poller: 0 it is done, 1 the sender lies, 2 another peer does. */
        @Actor
        public void poller(II_Result r) {
            r.r2 = pool.complete(claim, 1);
        }
    }

    /** The engine and the application post at a time, and two initiators claim: both receives are there, once each. */
    @JCStressTest
    @Outcome(id = {"2, 3, 0", "3, 2, 0"}, expect = Expect.ACCEPTABLE, desc = "each once")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost, twice or torn")
    @State
    public static class Posting extends Pool {
        private final long lost;

        /** For jcstress. */
        public Posting() {
            super(1, 1);
            lost = pool.at(0);
        }

        /** The engine, and then an initiator. */
        @Actor
        public void engine(III_Result r) {
            bringBack(lost);
            r.r1 = claim(1);
        }

        /** The application, and then an initiator. */
        @Actor
        public void poster(III_Result r) {
            post();
            r.r2 = claim(2);
        }

        /** What is left, and whether one slot stands in two places. */
        @Arbiter
        public void rest(III_Result r) {
            r.r3 = Claim.slot(pool.at(1)) == Claim.slot(pool.at(2)) ? 9 : claim(2);
        }
    }

    /** One receive for a datagram that is polled here and for an initiator elsewhere. */
    @JCStressTest
    @Outcome(id = {"0, 1", "1, 0"}, expect = Expect.ACCEPTABLE, desc = "one has it")
    @Outcome(expect = Expect.FORBIDDEN, desc = "both, or none")
    @State
    public static class OwnerAndInitiator extends Pool {
        /** For jcstress. */
        public OwnerAndInitiator() {
            super(1, 0);
        }

        /** The poller of a datagram. */
        @Actor
        public void owner(II_Result r) {
            r.r1 = pool.takeOldest(Long.MAX_VALUE, 0) == Claim.NONE ? 0 : 1;
        }

        /** An initiator. */
        @Actor
        public void initiator(II_Result r) {
            r.r2 = claim(2);
        }
    }

    /**
     * The poller of a datagram claims, and the engine recovers that before it is finished: the receive is there once.
     */
    @JCStressTest
    @Outcome(id = {"1, 0, 0", "1, 1, 0"}, expect = Expect.ACCEPTABLE,
            desc = "taken, at once or after it was brought back")
    @Outcome(id = "0, 1, 1", expect = Expect.ACCEPTABLE, desc = "brought back too late for the datagram")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost or twice")
    @State
    public static class OwnerAndEngine extends Pool {
        /** For jcstress. */
        public OwnerAndEngine() {
            super(1, 0);
        }

        /** The poller of a datagram. */
        @Actor
        public void owner(III_Result r) {
            r.r1 = pool.takeOldest(Long.MAX_VALUE, 0) == Claim.NONE ? 0 : 1;
        }

        /** The engine, if it sees the claim. */
        @Actor
        public void engine(III_Result r) {
            r.r2 = pool.claimed() == 1 && bringBack(pool.at(0)) ? 1 : 0;
        }

        /** What is there in the end. */
        @Arbiter
        public void rest(III_Result r) {
            r.r3 = pool.outstanding().length;
        }
    }

    /** A claim that was held goes into a lane, and out of it, while the engine asks whose it is. */
    @JCStressTest
    @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "owned, or completed")
    @Outcome(expect = Expect.FORBIDDEN, desc = "not owned: it would be recovered")
    @State
    public static class Asking extends Pool implements PoolUser {
        private static final VarHandle HELD;
        private static final VarHandle COMMITTED;

        static {
            try {
                MethodHandles.Lookup l = MethodHandles.lookup();
                HELD = l.findVarHandle(Asking.class, "held", long.class);
                COMMITTED = l.findVarHandle(Asking.class, "committed", long.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private final long claim;
        @SuppressWarnings("unused") // HELD
        private long held;
        @SuppressWarnings("unused") // COMMITTED
        private long committed;

        /** For jcstress. */
        public Asking() {
            super(1, 1);
            claim = pool.at(0);
            held = claim;
        }

        /** The initiator, and then the poller. */
        @Actor
        public void initiator() {
            COMMITTED.setRelease(this, claim);
            HELD.setRelease(this, Claim.NONE);
            pool.complete(claim, 1);
            COMMITTED.setRelease(this, Claim.NONE);
        }

        /** The engine. */
        @Actor
        public void engine(I_Result r) {
            ClaimOwners owners = new ClaimOwners(pool);
            owners.collect(this);
            r.r1 = owners.isOwned(claim) || !pool.isOutstanding(claim) ? 1 : 0;
        }

        @Override
        public long hazard() {
            return 0;
        }

        @Override
        public long held() {
            return (long) HELD.getAcquire(this);
        }

        @Override
        public void noteCommitted(ClaimOwners owners) {
            owners.note((long) COMMITTED.getAcquire(this));
        }

        @Override
        public boolean isStarving() {
            return false;
        }

        @Override
        public void wake() {
            // it waits for nothing
        }
    }
}
