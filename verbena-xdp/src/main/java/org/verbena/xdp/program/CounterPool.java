// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.util.ArrayDeque;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;

/**
 * The counters of the map that this process may give to flows. Thread-safe.
 *
 * <p>A counter is set to 0 before a flow gets it. When a flow has ended, a processor may still be about to count for it, so
 * its counter waits until none can be, which is done for many counters at once.
 */
public final class CounterPool {
    /** The size of the blocks in which counters are taken from the map. */
    static final int BLOCK = 32;
    private static final int WORTH_WAITING_FOR = 256;

    /** Where blocks come from. */
    interface Blocks {
        /** The number of a block that nobody has and nobody counts in, or -1. */
        int claim() throws LinuxException;
    }

    private final FlowMaps maps;
    private final Blocks blocks;
    private final int most;
    private final ArrayDeque<Integer> ready = new ArrayDeque<>();
    private final ArrayDeque<Integer> returned = new ArrayDeque<>();
    private int unasked;

    CounterPool(FlowMaps maps, Blocks blocks) {
        this.maps = maps;
        this.blocks = blocks;
        most = maps.counters().maxEntries() - 1;
    }

    /** All counters of the maps, which no other process uses. */
    public static CounterPool all(FlowMaps maps) {
        int count = maps.counters().maxEntries() / BLOCK;
        int[] next = {0};
        return new CounterPool(maps, () -> next[0] < count ? next[0]++ : -1);
    }

    /**
     * A counter for a new flow.
     *
     * @param asked whether counting was asked for; flows that were created without get at most half of all counters
     * @return the counter, which is 0 now; or 0 for none, only if it was not asked for
     * @throws LinuxException {@code ENOMEM} (all are in use)
     */
    public synchronized int take(boolean asked) throws LinuxException {
        if (!asked && unasked >= most / 2) {
            return 0;
        }
        if (ready.isEmpty() && (returned.size() >= WORTH_WAITING_FOR || !claim())) {
            recycle();
        }
        Integer counter = ready.peek();
        if (counter == null) {
            if (asked) {
                throw new LinuxException("take a counter", Errno.ENOMEM, most
                        + " flows are counted, the most there can be: close some, or count less");
            }
            return 0;
        }
        maps.reset(counter);
        ready.remove();
        unasked += asked ? 0 : 1;
        return counter;
    }

    private boolean claim() throws LinuxException {
        int block = blocks.claim();
        if (block < 0) {
            return false;
        }
        for (int i = block == 0 ? 1 : 0; i < BLOCK; i++) { // 0 is for flows that are not counted
            ready.add(block * BLOCK + i);
        }
        return true;
    }

    private void recycle() throws LinuxException {
        if (!returned.isEmpty()) {
            maps.awaitPrograms();
            ready.addAll(returned);
            returned.clear();
        }
    }

    /**
     * The flow has ended.
     *
     * @param counter what {@link #take} returned
     * @param asked as it was taken
     */
    public synchronized void give(int counter, boolean asked) {
        if (counter != 0) {
            returned.add(counter);
            unasked -= asked ? 0 : 1;
        }
    }
}
