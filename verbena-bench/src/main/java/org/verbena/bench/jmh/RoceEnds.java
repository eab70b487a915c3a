// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.jmh;

import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * Two connected queue pairs of roce_lo, whose packets pass through the kernel. One thread has both contexts, so it
 * polls both while it waits: the far end answers when it is polled, or otherwise after a millisecond.
 */
@State(Scope.Thread)
public class RoceEnds extends Ends {
    /** For JMH. */
    public RoceEnds() {
        super("roce_lo");
    }

    /** Takes a completion of the sender, while none of the receiver can come. */
    long take() {
        return take(sendCq, receiveCq);
    }

    @Override
    void reap() {
        if (isSignalled()) {
            take();
        }
    }
}
