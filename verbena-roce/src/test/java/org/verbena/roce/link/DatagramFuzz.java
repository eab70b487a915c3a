// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import org.verbena.linux.LinuxException;
import org.verbena.testkit.InputRandom;

/** A target of {@code config/fuzz}: which datagrams of the kernel a port accepts as packets. */
public final class DatagramFuzz {
    private static final GarbageDatagrams GARBAGE = open();

    private DatagramFuzz() {}

    private static GarbageDatagrams open() {
        try {
            return new GarbageDatagrams();
        } catch (LinuxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The input decides what is sent. */
    public static void fuzzerTestOneInput(byte[] input) {
        InputRandom random = new InputRandom(input);
        do {
            GARBAGE.run(random, random::isOver);
        } while (!random.isOver());
    }
}
