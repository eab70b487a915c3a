// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import org.verbena.linux.spi.SharedLibrary;

/** In a program that runs with the mock: the calls that the mock recorded. */
final class Mock {
    private static final SharedLibrary LIBRARY = open();

    private Mock() {}

    private static SharedLibrary open() {
        try {
            return SharedLibrary.open(System.getProperty("verbena.ibverbs"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    static long call(String function, long... arguments) {
        MemorySegment f = LIBRARY.find(function);
        if (f.address() == 0) {
            throw new AssertionError("the mock has no " + function);
        }
        return Calls.call(f, arguments);
    }

    /** Number of calls of a verb. */
    static long count(String verb) {
        try (Arena arena = Arena.ofConfined()) {
            return call("mock_count", arena.allocateFrom(verb).address());
        }
    }

    /** An argument of a verb's last call, as the mock recorded it. */
    static long argument(String verb, int i) {
        try (Arena arena = Arena.ofConfined()) {
            return call("mock_argument", arena.allocateFrom(verb).address(), i);
        }
    }

    /** Native objects that were created and not destroyed. */
    static int alive() {
        return (int) call("mock_alive");
    }

    /** A type of event that disappears before it is read, as the kernel's do when their object is destroyed. */
    static final int GONE = -1;

    static void raise(int type, long element) {
        call("mock_raise", type, element);
    }
}
