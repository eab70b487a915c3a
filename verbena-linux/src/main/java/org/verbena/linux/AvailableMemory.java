package org.verbena.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.jspecify.annotations.Nullable;

/** Reads proc_meminfo(5) and the memory limits of cgroups(7). */
final class AvailableMemory {
    private AvailableMemory() {}

    static long ofThisProcess() {
        return read(Path.of("/proc/meminfo"), Path.of("/proc/self/cgroup"), Path.of("/sys/fs/cgroup"));
    }

    /** Bytes; the paths are parameters so that a test can bring its own. */
    static long read(Path meminfo, Path cgroup, Path cgroupRoot) {
        long available = memAvailable(meminfo);
        for (String line : lines(cgroup)) { // "0::/path" of version 2, "5:memory:/path" of version 1
            String[] parts = line.split(":", 3);
            if (parts.length < 3) {
                continue;
            }
            if (parts[0].equals("0") && parts[1].isEmpty()) {
                available = Math.min(
                        available, room(cgroupRoot, parts[2], "memory.max", "memory.current", "inactive_file"));
            } else if (List.of(parts[1].split(",", -1)).contains("memory")) {
                available = Math.min(
                        available,
                        room(cgroupRoot.resolve("memory"), parts[2], "memory.limit_in_bytes", "memory.usage_in_bytes",
                                "total_inactive_file"));
            }
        }
        return Math.max(0, available);
    }

    private static long memAvailable(Path meminfo) {
        long bytes = named(lines(meminfo), "MemAvailable:");
        return bytes < 0 ? Long.MAX_VALUE : bytes * 1024;
    }

    /** The least room of a group and of those above it. Inside a container the path may not exist: then the root's. */
    private static long room(Path root, String path, String limitFile, String useFile, String reclaimable) {
        long least = Long.MAX_VALUE;
        Path top = root.normalize();
        @Nullable Path group = top.resolve(path.replaceFirst("^/+", "")).normalize();
        while (group != null && group.startsWith(top)) {
            long limit = number(group.resolve(limitFile));
            long use = number(group.resolve(useFile));
            if (limit >= 0 && use >= 0) {
                long cache = Math.max(0, named(lines(group.resolve("memory.stat")), reclaimable));
                least = Math.min(least, limit - Math.max(0, use - cache));
            }
            group = group.getParent();
        }
        return least;
    }

    /** The number behind a name, or -1. */
    private static long named(List<String> lines, String name) {
        for (String line : lines) {
            String[] words = line.split("\\s+", -1);
            if (words.length > 1 && words[0].equals(name)) {
                return parse(words[1]);
            }
        }
        return -1;
    }

    private static long number(Path file) {
        List<String> lines = lines(file);
        return lines.isEmpty() ? -1 : parse(lines.getFirst().strip());
    }

    private static long parse(String word) {
        try {
            return Long.parseLong(word);
        } catch (NumberFormatException notANumber) { // "max"
            return -1;
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException absent) {
            return List.of();
        }
    }
}
