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
import org.verbena.shm.memory.Window;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;

/** {@link Window} against the peer that uses it. */
public class WindowStress {
    private static final int BYTES = 2048;
    private static final long PATIENCE = 20_000_000_000L;

    private WindowStress() {}

    /** A WRITE against the invalidation of the window that it goes through, after whose completion nothing changes. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "refused")
    @Outcome(id = "256, 256", expect = Expect.ACCEPTABLE, desc = "written before")
    @Outcome(expect = Expect.FORBIDDEN, desc = "written after, or in part")
    @State
    public static class Invalidate {
        private static final StressPairs PAIRS = new StressPairs(150, false);
        private final StressPairs.Pair pair = PAIRS.take();
        private final MemoryRegion region;
        private final MemoryWindow window;
        private final int rkey;

        /** For jcstress. */
        public Invalidate() {
            StressMemory.fill(pair.a.region.address(), BYTES, 5);
            var memory = pair.b.region.segment().asSlice(0, BYTES);
            memory.fill((byte) 0);
            try {
                var pd = pair.b.qp.protectionDomain();
                region = pd.register(memory, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
                window = pd.allocateMemoryWindow(MemoryWindow.TYPE_2);
            } catch (VerbsException e) {
                throw new IllegalStateException(e);
            }
            rkey = MemoryWindow.incrementRkey(window.rkey());
            Loop.check(pair.b.qp.sendQueue().start().bindMemoryWindow(1, SendFlags.SIGNALED, window, rkey, region,
                    region.address(), BYTES, AccessFlags.REMOTE_WRITE).complete());
            await();
        }

        /** Writes. */
        @Actor
        public void initiator() {
            Loop.check(pair.a.qp.sendQueue().start().write(1, SendFlags.SIGNALED, rkey, region.address())
                    .sge(pair.a.region, 0, BYTES).complete());
        }

        /** Invalidates, and counts the words that are there then. */
        @Actor
        public void owner(II_Result r) {
            Loop.check(pair.b.qp.sendQueue().start().localInvalidate(2, SendFlags.SIGNALED, rkey).complete());
            await();
            r.r1 = words();
        }

        /** Counts the words in the end. */
        @Arbiter
        public void end(II_Result r) {
            r.r2 = words();
            boolean good = StressPairs.drain(pair.a.sendCq, 1, PATIENCE) == 1;
            try {
                window.close();
                region.close();
            } catch (VerbsException e) {
                throw new IllegalStateException(e);
            }
            if (good) {
                PAIRS.give(pair);
            } else {
                PAIRS.discard(pair);
            }
        }

        /** Awaits whatever was posted at the owner's end; a refused WRITE may have flushed it. */
        private void await() {
            StressPairs.drain(pair.b.sendCq, 1, PATIENCE);
        }

        private int words() {
            return BYTES / 8 - StressMemory.wrong(region.address(), BYTES, 5);
        }
    }
}
