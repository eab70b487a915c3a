// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Processor time of processes, user and system, in seconds: proc(5), {@code stat}. */
final class ProcessorTime {
    private static final double TICKS_A_SECOND = 100; // USER_HZ, a constant of the kernel's interface on all of Java's platforms
    /** Of the fields after the name, which may have blanks in it. */
    private static final int USER = 11;
    private static final int USER_OF_ENDED = 13;

    private ProcessorTime() {}

    /** Of a process that runs. */
    static double of(long pid) throws IOException {
        return sum(pid, USER);
    }

    /** Of all children of this process that have ended. */
    static double ofEnded() throws IOException {
        return sum(ProcessHandle.current().pid(), USER_OF_ENDED);
    }

    private static double sum(long pid, int first) throws IOException {
        String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return (Long.parseLong(fields[first]) + Long.parseLong(fields[first + 1])) / TICKS_A_SECOND;
    }
}
