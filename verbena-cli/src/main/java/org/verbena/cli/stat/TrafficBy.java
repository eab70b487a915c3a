// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.Locale;

/** What the lines of a monitored interface are. */
enum TrafficBy {
    /** A line for each flow in each direction. */
    FLOW,
    /** A line for each address, with what it sent and received. */
    ADDRESS,
    /** A line for each port of TCP and of UDP. */
    PORT;

    /** So many of them, for people. */
    String count(int n) {
        return n + " " + this + (n == 1 ? "" : this == ADDRESS ? "es" : "s");
    }

    /** As it is written on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
