// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.completion;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/** The shared receive queues of type XRC whose completions one completion queue has. One thread at a time polls. */
public final class PoolSources {
    private final PoolCompletions[] all;
    private int next;

    private PoolSources(PoolCompletions[] all) {
        this.all = all;
    }

    /** These and one more. */
    public static PoolSources with(@Nullable PoolSources old, PoolCompletions more) {
        PoolCompletions[] all = old == null ? new PoolCompletions[1] : Arrays.copyOf(old.all, old.all.length + 1);
        all[all.length - 1] = more;
        return new PoolSources(all);
    }

    /** These without one of them; null if there is none left. */
    public static @Nullable PoolSources without(@Nullable PoolSources old, PoolCompletions gone) {
        if (old == null) {
            return null;
        }
        PoolCompletions[] all = Arrays.stream(old.all).filter(p -> p != gone).toArray(PoolCompletions[]::new);
        return all.length == 0 ? null : new PoolSources(all);
    }

    /** Moves a completion into the cursor of {@code cq}, one of each in turn; false if there is none. */
    public boolean poll(CompletionCursor cq) {
        for (int k = 0; k < all.length; k++) {
            PoolCompletions p = all[next];
            next = next + 1 < all.length ? next + 1 : 0;
            if (p.poll(cq)) {
                return true;
            }
        }
        return false;
    }

    /** Number of completions that wait to be polled; any thread. */
    public long waiting() {
        long n = 0;
        for (PoolCompletions p : all) {
            n += p.waiting();
        }
        return n;
    }

    /** Number of completions so far, polled or not; any thread. */
    public long completions() {
        long n = 0;
        for (PoolCompletions p : all) {
            n += p.completions();
        }
        return n;
    }

    /** True if an initiator has signalled this arm word last; any thread. */
    public boolean isNotified(long armWord) {
        for (PoolCompletions p : all) {
            if (p.isNotified(armWord)) {
                return true;
            }
        }
        return false;
    }
}
