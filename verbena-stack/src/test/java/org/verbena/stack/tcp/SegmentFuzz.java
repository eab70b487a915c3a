// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import org.verbena.testkit.InputRandom;

/** A target of {@code config/fuzz}: segments of a peer, and calls of the program, in any state. */
public final class SegmentFuzz {
    private static final int MOST = 2000;

    private SegmentFuzz() {}

    /** The input decides what happens. */
    public static void fuzzerTestOneInput(byte[] input) throws Exception {
        InputRandom r = new InputRandom(input);
        TcpFuzzTest.run(r, MOST, () -> !r.isOver());
    }
}
