// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.testkit.InputRandom;

/** A target of {@code config/fuzz}: a queue pair's handling of packets, in virtual time. */
public final class PacketFuzz {
    private PacketFuzz() {}

    /** The input decides what arrives. */
    public static void fuzzerTestOneInput(byte[] input) throws Exception {
        InputRandom random = new InputRandom(input);
        new GarbagePackets().run(random, random::isOver);
    }
}
