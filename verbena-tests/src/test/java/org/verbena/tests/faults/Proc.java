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

/** What a test looks up in /proc and /dev/shm. */
public final class Proc {
    private Proc() {}

    /** A process's descriptors of the kinds that shm0 uses, counted by kind. */
    static Map<String, Integer> descriptors(String pid) throws IOException {
        Map<String, Integer> count = new TreeMap<>();
        try (Stream<Path> fds = Files.list(Path.of("/proc/" + pid + "/fd"))) {
            fds.map(Proc::link).map(l -> l.replaceAll("\\[[0-9]+\\]|[0-9]+$", ""))
                    .filter(l -> l.contains("memfd:") || l.contains("socket:") || l.contains("anon_inode:"))
                    .forEach(l -> count.merge(l, 1, Integer::sum));
        }
        return count;
    }

    private static String link(Path fd) {
        try {
            return Files.readSymbolicLink(fd).toString();
        } catch (IOException gone) {
            return "";
        }
    }

    /** Bytes that an end of a TCP connection has sent and that are not acknowledged, and that it has not read. */
    record TcpQueues(long send, long receive) {}

    /** The ends of TCP connections in this network namespace, by their own port and the other's: {@code 80 40001}. */
    static Map<String, TcpQueues> tcpQueues() throws IOException {
        Map<String, TcpQueues> queues = new TreeMap<>();
        for (String file : new String[] {"/proc/net/tcp", "/proc/net/tcp6"}) {
            try (Stream<String> lines = Files.lines(Path.of(file))) {
                lines.skip(1).map(l -> l.trim().split(" +", -1)).forEach(f -> queues.put(behindColon(f[1]) + " "
                        + behindColon(f[2]), new TcpQueues(Long.parseLong(f[4].substring(0, f[4].indexOf(':')), 16),
                                behindColon(f[4]))));
            }
        }
        return queues;
    }

    private static long behindColon(String pair) {
        return Long.parseLong(pair.substring(pair.indexOf(':') + 1), 16);
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

    /** What is called after us in /dev/shm, but for the folders of counters, which come and go with processes of each user. */
    static Set<String> sharedMemoryFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
            return files.map(f -> f.getFileName().toString())
                    .filter(n -> n.contains("verbena") && !n.matches("verbena-[0-9]+")).collect(Collectors.toSet());
        }
    }
}
