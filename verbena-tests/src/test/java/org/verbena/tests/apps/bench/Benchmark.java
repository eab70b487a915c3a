// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.util.Optional;

/** An application with a load, which run once without Verbena or under it, and are measured. */
interface Benchmark {
    /** For {@code --only}, and at the head of its rows. */
    String name();

    /** What is run, for {@code --list}. */
    String what();

    /** Why it cannot run on this machine. */
    default Optional<String> missing() throws Exception {
        return Optional.empty();
    }

    /** Why there is none with such a load. */
    default Optional<String> without(Load load) {
        return Optional.empty();
    }

    /** Starts the application and its load, notes what is measured, and ends both. */
    void run(Run run) throws Exception;
}
