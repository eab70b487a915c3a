// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import org.verbena.testkit.InputRandom;

/** A target of {@code config/fuzz}: frames of IPv4 or IPv6 with mistakes. */
public final class FrameFuzz {
    private static final int MOST = 2000;

    private FrameFuzz() {}

    /** The input decides what comes. */
    public static void fuzzerTestOneInput(byte[] input) throws Exception {
        InputRandom r = new InputRandom(input);
        if (r.nextBoolean()) {
            Ipv6Test.run(r, MOST, () -> !r.isOver());
        } else {
            FuzzTest.run(r, MOST, () -> !r.isOver());
        }
    }
}
