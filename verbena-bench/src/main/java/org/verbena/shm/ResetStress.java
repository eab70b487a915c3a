// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;

/** A queue pair moves to RESET while its engine progresses a waiting request: afterwards both queues are empty. */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "empty")
@Outcome(expect = Expect.FORBIDDEN, desc = "a request or a completion of before the reset is left")
@State
public class ResetStress {
    private static final StressPairs PAIRS = new StressPairs(150, false);
    private final StressPairs.Pair pair = PAIRS.take();

    /** For jcstress. */
    public ResetStress() {
        pair.send(1, SendFlags.SIGNALED, 0, 8);
    }

    /** The application. */
    @Actor
    public void reset() {
        try {
            pair.sender.modify(QueuePairAttributes.to(QueuePairState.RESET).build());
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The engine. */
    @Actor
    public void engine() {
        for (int i = 0; i < 4; i++) {
            pair.sender.sendProgress().wake();
        }
    }

    /** r1: whether a request waits; r2: completions. */
    @Arbiter
    public void end(II_Result r) {
        r.r1 = pair.sendQueue.isPending() ? 1 : 0;
        while (r.r1 == 0 && pair.a.sendCq.startPoll() == 0) {
            r.r2++;
            pair.a.sendCq.endPoll();
        }
        PAIRS.discard(pair);
    }
}
