// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.completion;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** {@link SendCompletions}: the poller sees each completion of the executor complete, once and in order. */
@JCStressTest
@Outcome(id = {"0, 0", "1, 0", "2, 0"}, expect = Expect.ACCEPTABLE, desc = "that number, all as they were added")
@Outcome(expect = Expect.FORBIDDEN, desc = "torn or out of order")
@State
public class SendCompletionsStress {
    private static final CompletionCursor CURSOR = cursor();
    private final SendCompletions completions = new SendCompletions(2, false);

    private static CompletionCursor cursor() {
        try {
            return (CompletionCursor) Verbs.open("shm0").createCompletionQueue(1);
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The executor of the send queue. */
    @Actor
    public void executor() {
        completions.add(11, 1, 2, 3, 4, 5);
        completions.add(12, 2, 3, 4, 5, 6);
    }

    /** The poller. */
    @Actor
    public void poller(II_Result r) {
        for (int i = 0; i < 2; i++) {
            if (completions.hasNext()) {
                long freed = completions.poll(CURSOR, 1, 0);
                int k = r.r1++;
                boolean whole = freed == 5 + k && CURSOR.wrId() == 11 + k && CURSOR.opcode() == 1 + k
                        && CURSOR.status() == 2 + k && CURSOR.vendorError() == 3 + k && CURSOR.byteLength() == 4 + k;
                r.r2 += whole ? 0 : 1;
            }
        }
    }
}
