// SPDX-License-Identifier: Apache-2.0
package org.verbena.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

import org.junit.jupiter.api.Assumptions;

/** Capabilities that this process has, by their numbers in {@code linux/capability.h}. */
public final class Capabilities {
    public static final int NET_ADMIN = 12;
    public static final int NET_RAW = 13;
    public static final int IPC_LOCK = 14;
    public static final int SYS_PTRACE = 19;
    public static final int SYS_ADMIN = 21;
    public static final int BPF = 39;

    private static final String EFFECTIVE = "CapEff:";

    private Capabilities() {}

    /** Whether all of them are effective. */
    public static boolean has(int... numbers) {
        long needed = 0;
        for (int n : numbers) {
            needed |= 1L << n;
        }
        return (effective() & needed) == needed;
    }

    /**
     * Skips the test, with a line on standard output, if one is missing.
     *
     * @param what that the test does, for the line
     */
    public static void require(String what, int... numbers) {
        if (!has(numbers)) {
            System.out.println("SKIPPED: only root with all capabilities can " + what);
            Assumptions.abort("capabilities are missing");
        }
    }

    /** Skips the test unless this process can make network namespaces with interfaces, raw sockets and BPF programs. */
    public static void requireNetworkAndBpf() {
        require("make network namespaces and load programs", NET_ADMIN, NET_RAW, SYS_ADMIN, BPF);
    }

    /** Skips the test, with a line on standard output, if a program is not installed; {@code inPackage} is Debian's that has it. */
    public static void requireProgram(String program, String inPackage) {
        boolean there = Stream.of((System.getenv("PATH") + ":/usr/sbin").split(":", -1)).anyMatch(f -> Files
                .isExecutable(Path.of(f, program)));
        if (!there) {
            System.out.println("SKIPPED: " + program + " is not installed: apt-get install " + inPackage);
            Assumptions.abort(program + " is missing");
        }
    }

    private static long effective() {
        try {
            return Files.readAllLines(Path.of("/proc/self/status")).stream().filter(l -> l.startsWith(EFFECTIVE))
                    .mapToLong(l -> Long.parseUnsignedLong(l.substring(EFFECTIVE.length()).strip(), 16)).findFirst()
                    .orElse(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
