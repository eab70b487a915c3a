// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

/** What runs in full with {@code -Dthorough}, and is a sample else. */
final class Thorough {
    private Thorough() {}

    static boolean wanted() {
        return System.getProperty("thorough") != null;
    }

    /** How often something is tried whose outcome may depend on the moment. */
    static int rounds(int sample, int all) {
        return wanted() ? all : sample;
    }
}
