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

    /** What a run measures if nothing else is asked for: at rest there is little to measure in a second. */
    int defaultSeconds() {
        return this == FULL ? 4 : 20;
    }
}
