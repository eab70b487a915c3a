// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.roce.fuzz.InputRandom;

/** A target of {@code config/fuzz}: what a queue pair does with packets, in virtual time. */
public final class PacketFuzz {
    private PacketFuzz() {}

    /** Decides by the input what arrives. */
    public static void fuzzerTestOneInput(byte[] input) throws Exception {
        InputRandom random = new InputRandom(input);
        new GarbagePackets().run(random, random::isOver);
    }
}
