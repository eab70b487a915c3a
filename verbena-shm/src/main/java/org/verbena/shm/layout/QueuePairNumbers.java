// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import java.util.concurrent.atomic.AtomicLong;

import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.Slots;

/** Numbers of a context's queue pairs, and of the connections that they are in. Safe for use by several threads. */
public final class QueuePairNumbers {
    private final Slots numbers = new Slots(AdapterLayout.MAX_QP);
    private final int[] generations = new int[AdapterLayout.MAX_QP];
    private final AtomicLong connections = new AtomicLong();

    /** A number of 24 bits that was not used for a long time. */
    public int take() throws VerbsException {
        int index = numbers.take("create QP", "queue pairs");
        synchronized (generations) {
            int generation = generations[index] % 0xfff + 1;
            generations[index] = generation;
            return generation << 12 | index;
        }
    }

    public void give(int number) {
        numbers.give(AdapterLayout.qpIndex(number));
    }

    /** The number of a new connection, see {@link Link}. */
    public long nextConnection() {
        return connections.incrementAndGet();
    }
}
