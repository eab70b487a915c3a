// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.memory.Region;
import org.verbena.shm.memory.Target;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;

/**
 * {@link Hazard} against the revocation of a key: either the initiator sees that the key is gone, or the owner sees
 * that the initiator has entered. The fences prevent that both miss each other.
 */
public class HazardStress {
    private static final int BYTES = 2048;

    private HazardStress() {}

    /** A key, and an initiator's word. */
    static class Key {
        private static final StressPairs PAIRS = new StressPairs(1, false);
        private static final StressPairs.Pair PAIR = PAIRS.take();
        private static final Target TARGET = new Target(PAIRS.senders().control().sessions().getFirst()
                .peerMemories(), PAIRS.domain());

        private final long word = StressMemory.take();
        private final Region region;

        Key() {
            MemorySegment memory = PAIR.b.region.segment();
            ShmContext owner = PAIRS.receivers();
            try {
                region = owner.keys().add(PAIRS.domain(), AccessFlags.ALL, memory,
                        owner.memories().allocationOf(PAIRS.domain(), memory));
            } catch (VerbsException e) {
                throw new IllegalStateException(e);
            }
        }

        /** The peer as initiator: 1 if the key is good. */
        final int touchFromPeer() {
            Hazard.enter(word, 1, Hazard.region(region.key));
            return TARGET.resolve(region.key, region.address, 8, AccessFlags.REMOTE_WRITE) == Target.OK ? 1 : 0;
        }

        /** The owner's own data path: 1 if the key is good. */
        final int touchFromOwner() {
            Hazard.enter(word, 1, Hazard.RECEIVES);
            return PAIRS.receivers().keys().find(region.key, PAIRS.domain(), region.address, 8, 0) != null ? 1 : 0;
        }

        /** The owner revokes the key: 1 if the initiator has entered. */
        final int invalidate() {
            PAIRS.receivers().keys().invalidate(region);
            VarHandle.fullFence(); // as between processes, where no membarrier helps
            return Hazard.what(RawMemory.getLongAcquire(word)) != 0 ? 1 : 0;
        }

        final void remove() {
            PAIRS.receivers().keys().remove(region);
        }
    }

    /** The initiator is the peer. */
    @JCStressTest
    @Outcome(id = {"0, 0", "0, 1", "1, 1"}, expect = Expect.ACCEPTABLE, desc = "one of them knows")
    @Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "inside, and not seen")
    @State
    public static class Peer extends Key {
        /** Enters. */
        @Actor
        public void initiator(II_Result r) {
            r.r1 = touchFromPeer();
        }

        /** Revokes the key. */
        @Actor
        public void owner(II_Result r) {
            r.r2 = invalidate();
        }

        /** Lets the key be used again. */
        @Arbiter
        public void end(II_Result r) {
            remove();
        }
    }

    /** The initiator is another thread of the owner. */
    @JCStressTest
    @Outcome(id = {"0, 0", "0, 1", "1, 1"}, expect = Expect.ACCEPTABLE, desc = "one of them knows")
    @Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "inside, and not seen")
    @State
    public static class Own extends Key {
        /** Enters. */
        @Actor
        public void initiator(II_Result r) {
            r.r1 = touchFromOwner();
        }

        /** Revokes the key. */
        @Actor
        public void owner(II_Result r) {
            r.r2 = invalidate();
        }

        /** Lets the key be used again. */
        @Arbiter
        public void end(II_Result r) {
            remove();
        }
    }

    /** The whole of it: a WRITE against the deregistration of its target, after whose return nothing changes. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "refused")
    @Outcome(id = "256, 256", expect = Expect.ACCEPTABLE, desc = "written before")
    @Outcome(expect = Expect.FORBIDDEN, desc = "written after, or in part")
    @State
    public static class Deregister {
        private static final StressPairs PAIRS = new StressPairs(150, false);
        private final StressPairs.Pair pair = PAIRS.take();
        private final MemoryRegion target;

        /** For jcstress. */
        public Deregister() {
            MemorySegment memory = pair.b.region.segment().asSlice(0, BYTES);
            memory.fill((byte) 0);
            StressMemory.fill(pair.a.region.address(), BYTES, 5);
            try {
                target = pair.b.qp.protectionDomain().register(memory, AccessFlags.ALL);
            } catch (VerbsException e) {
                throw new IllegalStateException(e);
            }
        }

        /** Writes. */
        @Actor
        public void initiator() {
            int errno = pair.a.qp.sendQueue().start()
                    .write(1, SendFlags.SIGNALED, target.rkey(), pair.b.region.address()).sge(pair.a.region, 0, BYTES)
                    .complete();
            if (errno != 0) {
                throw new IllegalStateException("refused with errno " + errno);
            }
        }

        /** Deregisters, and counts the words that are there then. */
        @Actor
        public void owner(II_Result r) {
            try {
                target.close();
            } catch (VerbsException e) {
                throw new IllegalStateException(e);
            }
            r.r1 = words();
        }

        /** Counts the words in the end. */
        @Arbiter
        public void end(II_Result r) {
            r.r2 = words();
            if (StressPairs.drain(pair.a.sendCq, 1, 1_000_000_000L) == 1) {
                PAIRS.give(pair);
            } else {
                PAIRS.discard(pair);
            }
        }

        private int words() {
            return BYTES / 8 - StressMemory.wrong(pair.b.region.address(), BYTES, 5);
        }
    }
}
