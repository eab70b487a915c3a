// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/** The queue pairs of a context by number. Safe for use by several threads. */
final class QueuePairs {
    private final Map<Integer, QueuePairBase> all = new ConcurrentHashMap<>();

    void add(QueuePairBase qp) {
        all.put(qp.number(), qp);
    }

    void remove(QueuePairBase qp) {
        all.remove(qp.number());
    }

    /** The queue pair of that number, if there is one now. */
    @Nullable
    QueuePairBase find(int number) {
        return all.get(number);
    }

    Collection<QueuePairBase> all() {
        return all.values();
    }
}
