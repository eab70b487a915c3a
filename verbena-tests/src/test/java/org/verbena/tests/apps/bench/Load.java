// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

/** How much work is asked for. */
enum Load {
    /** As much as can be. */
    FULL,
    /** A hundredth of what the plain program does at full load. */
    LIGHT,
    /** None: connections are open and at rest. */
    NONE;

    /**
     * The warm-up if nothing else is asked for: a compiler that is still at work is more than all the rest of a program with
     * little to do.
     */
    int defaultWarmUp() {
        return this == FULL ? 10 : 40;
    }

    /** What a run measures if nothing else is asked for: at rest there is little to measure in a second. */
    int defaultSeconds() {
        return this == FULL ? 4 : 20;
    }
}
