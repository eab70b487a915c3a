// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.Slots;

/**
 * Allocates queue pair numbers, 24 bits, none of which is reused soon: packets to the previous queue pair may be in
 * flight.
 */
final class QueuePairNumbers {
    private static final int INDEX_BITS = 12;
    private static final int GENERATIONS = 0xfff;

    private final Slots slots = new Slots(RoceLimits.MAX_QP);
    private final int[] generations = new int[RoceLimits.MAX_QP];

    /** Allocators with different seeds do not return the same number for a while. */
    QueuePairNumbers(int seed) {
        for (int i = 0; i < generations.length; i++) {
            generations[i] = (seed & 0x7fffffff) % GENERATIONS;
        }
    }

    int take() throws VerbsException {
        int index = slots.take("create QP", "queue pairs");
        synchronized (generations) {
            int generation = generations[index] % (GENERATIONS - 1) + 1; // neither that of the lowest numbers, which are for management, nor of the highest
            generations[index] = generation;
            return generation << INDEX_BITS | index;
        }
    }

    void give(int number) {
        slots.give(number & RoceLimits.MAX_QP - 1);
    }
}
