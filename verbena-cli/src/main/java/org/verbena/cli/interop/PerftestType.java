// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.util.Locale;

/** The tests of perftest, by the names of its programs without {@code ib_}. */
enum PerftestType {
    WRITE_BW(false),
    READ_BW(false),
    SEND_BW(false),
    ATOMIC_BW(false),
    WRITE_LAT(true),
    READ_LAT(true),
    SEND_LAT(true),
    ATOMIC_LAT(true);

    static final int ATOMIC_BYTES = 8;

    /** Measures latency, not bandwidth. */
    final boolean latency;

    PerftestType(boolean latency) {
        this.latency = latency;
    }

    boolean sends() {
        return this == SEND_BW || this == SEND_LAT;
    }

    boolean atomic() {
        return this == ATOMIC_BW || this == ATOMIC_LAT;
    }

    int defaultSize() {
        return atomic() ? ATOMIC_BYTES : latency ? 2 : 65536;
    }

    int defaultIterations() {
        return this == WRITE_BW ? 5000 : 1000;
    }

    /** The program in C. */
    String program() {
        return "ib_" + this;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
