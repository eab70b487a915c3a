// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.jspecify.annotations.Nullable;

/** Queue pairs by number: open addressing, so that a lookup allocates nothing. */
final class QueuePairTable {
    private static final int FIRST_SIZE = 16;
    /** Odd, so that neighboring numbers spread over the table. */
    private static final int SPREAD = 0x9e3779b1;

    private @Nullable TransportQueuePair[] entries = new TransportQueuePair[FIRST_SIZE];
    private int used;

    private static int home(int number, int mask) {
        return number * SPREAD >>> 8 & mask;
    }

    @Nullable
    TransportQueuePair get(int number) {
        int mask = entries.length - 1;
        for (int i = home(number, mask);; i = i + 1 & mask) {
            TransportQueuePair q = entries[i];
            if (q == null || q.number() == number) {
                return q;
            }
        }
    }

    /** Adds a queue pair whose number is not in the table. */
    void put(TransportQueuePair queuePair) {
        if (++used * 2 > entries.length) {
            @Nullable TransportQueuePair[] old = entries;
            entries = new TransportQueuePair[old.length * 2];
            for (TransportQueuePair q : old) {
                if (q != null) {
                    place(q);
                }
            }
        }
        place(queuePair);
    }

    private void place(TransportQueuePair queuePair) {
        int mask = entries.length - 1;
        int i = home(queuePair.number(), mask);
        while (entries[i] != null) {
            i = i + 1 & mask;
        }
        entries[i] = queuePair;
    }

    /** Removes a queue pair if it is there, and moves the following ones up, so that no probe ends at the gap. */
    void remove(TransportQueuePair queuePair) {
        int mask = entries.length - 1;
        int gap = home(queuePair.number(), mask);
        while (entries[gap] != queuePair) {
            if (entries[gap] == null) {
                return;
            }
            gap = gap + 1 & mask;
        }
        used--;
        entries[gap] = null;
        for (int i = gap + 1 & mask;; i = i + 1 & mask) {
            TransportQueuePair q = entries[i];
            if (q == null) {
                return;
            }
            int home = home(q.number(), mask);
            if ((i - home & mask) >= (i - gap & mask)) {
                entries[gap] = q;
                entries[i] = null;
                gap = i;
            }
        }
    }
}
