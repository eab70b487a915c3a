// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** What tests look up in /proc, and children that tests start. */
final class Proc {
    private static final long LONGEST_NANOS = 60_000_000_000L;

    private Proc() {}

    /** How many descriptors of this process are open on a file whose link has the text in it. */
    static long openFds(String text) throws IOException {
        try (Stream<Path> fds = Files.list(Path.of("/proc/self/fd"))) {
            return fds.filter(fd -> link(fd).contains(text)).count();
        }
    }

    /** How many mappings of this process have the text in their line. */
    static long mappings(String text) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/maps")).stream().filter(line -> line.contains(text)).count();
    }

    static String link(Path path) {
        try {
            return Files.readSymbolicLink(path).toString();
        } catch (IOException gone) {
            return "";
        }
    }

    /** A child that waits for input. It has answered once: so it is past its exec and its start, and changes nothing more. */
    static Process waiting() throws IOException {
        Process child = new ProcessBuilder("cat").start();
        child.getOutputStream().write('x');
        child.getOutputStream().flush();
        if (child.getInputStream().read() != 'x') {
            throw new AssertionError("cat has ended");
        }
        return child;
    }

    /** The program that a process runs. */
    static String program(long pid) {
        return link(Path.of("/proc/" + pid + "/exe"));
    }

    static void kill(Process child) throws InterruptedException {
        child.destroyForcibly();
        child.waitFor(60, TimeUnit.SECONDS);
    }

    /** The first mapping of a process whose line has the text: {start, end}. */
    static long[] mapping(long pid, String text) throws IOException {
        List<String> lines = Files.readAllLines(Path.of("/proc/" + pid + "/maps"));
        String line = lines.stream().filter(l -> l.contains(text)).findFirst().orElseThrow();
        String[] range = line.substring(0, line.indexOf(' ')).split("-", 2);
        return new long[] {Long.parseUnsignedLong(range[0], 16), Long.parseUnsignedLong(range[1], 16)};
    }

    /** Runs a garbage collection until a condition holds, for a minute at most. */
    static boolean afterGc(Check condition) throws Exception {
        for (long end = System.nanoTime() + LONGEST_NANOS; System.nanoTime() - end < 0;) {
            if (condition.holds()) {
                return true;
            }
            System.gc();
            Thread.sleep(50);
        }
        return false;
    }

    /** A condition. */
    interface Check {
        boolean holds() throws Exception;
    }
}
