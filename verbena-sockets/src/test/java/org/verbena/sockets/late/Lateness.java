// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.late;

import java.util.SplittableRandom;

/** How late what is, by a seed: {@code -Dverbena.test.late=17}. */
final class Lateness {
    private static final SplittableRandom SEEDS = new SplittableRandom(Long.getLong("verbena.test.late", 1));

    private Lateness() {}

    /** For one object, each time other numbers. */
    static SplittableRandom random() {
        synchronized (SEEDS) {
            return SEEDS.split();
        }
    }
}
