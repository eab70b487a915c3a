package org.verbena.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

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
        for (String line : text(cgroup).split("\n", -1)) { // "0::/path" of version 2, "5:memory:/path" of version 1
            String[] parts = line.split(":", 3);
            if (parts.length < 3) {
                continue;
            }
            if (parts[0].equals("0") && parts[1].isEmpty()) {
                available = room(available, cgroupRoot, parts[2], "memory.max", "memory.current", "inactive_file");
            } else if (("," + parts[1] + ",").contains(",memory,")) {
                available = room(available, cgroupRoot.resolve("memory"), parts[2], "memory.limit_in_bytes",
                        "memory.usage_in_bytes", "total_inactive_file");
            }
        }
        return Math.max(0, available);
    }

    private static long memAvailable(Path meminfo) {
        long bytes = named(text(meminfo), "MemAvailable:");
        return bytes < 0 ? Long.MAX_VALUE : bytes * 1024;
    }

    /**
     * The least room of a group and of those above it, if that is less than what is said to be available. Inside a
     * container the path may not exist: then the root's.
     */
    private static long room(long available, Path root, String path, String limitFile, String useFile,
            String reclaimable) {
        long least = available;
        Path top = root.normalize();
        int start = 0;
        while (path.startsWith("/", start)) {
            start++;
        }
        @Nullable Path group = top.resolve(path.substring(start)).normalize();
        while (group != null && group.startsWith(top)) {
            long limit = number(group.resolve(limitFile));
            long use = limit < 0 ? -1 : number(group.resolve(useFile));
            // What can be reclaimed only adds to the room, and for memory.stat the kernel adds up all processors.
            if (use >= 0 && limit - use < least) {
                long cache = Math.max(0, named(text(group.resolve("memory.stat")), reclaimable));
                least = Math.min(least, limit - Math.max(0, use - cache));
            }
            group = group.getParent();
        }
        return least;
    }

    /** The number behind a name at the start of a line, or -1. */
    private static long named(String text, String name) {
        int at = 0;
        while (!(text.startsWith(name, at) && text.startsWith(" ", at + name.length()))) {
            at = text.indexOf('\n', at) + 1;
            if (at == 0) {
                return -1;
            }
        }
        String rest = text.substring(at + name.length(), end(text, at)).strip();
        int word = rest.indexOf(' ');
        return parse(word < 0 ? rest : rest.substring(0, word));
    }

    private static int end(String text, int from) {
        int end = text.indexOf('\n', from);
        return end < 0 ? text.length() : end;
    }

    private static long number(Path file) {
        String text = text(file);
        return parse(text.substring(0, end(text, 0)).strip());
    }

    private static long parse(String word) {
        if (word.isEmpty() || !Character.isDigit(word.charAt(0))) { // "max"
            return -1;
        }
        try {
            return Long.parseLong(word);
        } catch (NumberFormatException notANumber) {
            return -1;
        }
    }

    /** Empty if there is no such file. */
    private static String text(Path file) {
        try {
            return Files.exists(file) ? Files.readString(file) : "";
        } catch (IOException gone) {
            return "";
        }
    }
}
