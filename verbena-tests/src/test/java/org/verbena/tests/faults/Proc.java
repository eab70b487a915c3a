// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.verbena.testkit.Descriptors;

/** What a test looks up in /proc and /dev/shm. */
public final class Proc {
    private Proc() {}

    /** A process's descriptors of the kinds that shm0 uses, counted by kind. */
    static Map<String, Integer> descriptors(String pid) throws IOException {
        Map<String, Integer> count = new TreeMap<>();
        Descriptors.targets(pid).stream().map(l -> l.replaceAll("\\[[0-9]+\\]|[0-9]+$", ""))
                .filter(l -> l.contains("memfd:") || l.contains("socket:") || l.contains("anon_inode:"))
                .forEach(l -> count.merge(l, 1, Integer::sum));
        return count;
    }

    /** Mappings of a process. */
    static long mappings(String pid) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/" + pid + "/maps"))) {
            return lines.count();
        }
    }

    /** Bytes of memory files that a process has mapped. */
    static long sharedMemory(String pid) throws IOException {
        return mapped(pid, "");
    }

    /** As {@link #sharedMemory}, of those whose name begins so. */
    static long mapped(String pid, String name) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/" + pid + "/maps"))) {
            return lines.filter(l -> l.contains("/memfd:" + name)).mapToLong(l -> {
                String[] range = l.substring(0, l.indexOf(' ')).split("-", -1);
                return Long.parseUnsignedLong(range[1], 16) - Long.parseUnsignedLong(range[0], 16);
            }).sum();
        }
    }

    /** A number of /proc/PID/status, for instance {@code Threads} or {@code VmRSS} (in KiB). */
    public static long status(String pid, String field) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/" + pid + "/status"))) {
            return lines.filter(l -> l.startsWith(field + ":")).mapToLong(l -> Long.parseLong(l.replaceAll("\\D", "")))
                    .findFirst().orElseThrow();
        }
    }

    /** Processor time of a process so far, all threads, in milliseconds. */
    public static long cpuMillis(long pid) {
        String[] f = fields(Path.of("/proc/" + pid + "/stat"));
        return (Long.parseLong(f[11]) + Long.parseLong(f[12])) * 10; // USER_HZ is 100 on Linux
    }

    /** The fields behind the name, which may have spaces in it. */
    private static String[] fields(Path stat) {
        try {
            String s = Files.readString(stat);
            return s.substring(s.lastIndexOf(')') + 2).split(" ", -1);
        } catch (IOException gone) {
            return new String[0];
        }
    }

    /**
     * What is called after us in /dev/shm, but for the folders of counters: other tests' processes make those of their users and
     * user namespaces at any time.
     */
    static Set<String> sharedMemoryFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
            return files.map(f -> f.getFileName().toString())
                    .filter(n -> n.contains("verbena") && !n.matches("verbena-[0-9]+(-[0-9]+)?")).collect(Collectors
                            .toSet());
        }
    }
}
