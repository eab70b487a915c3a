// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.nio.file.Path;

import org.verbena.linux.MemoryGroups.Group;
import org.verbena.linux.MemoryGroups.ProcText;

/** Reads proc_meminfo(5) and the memory limits of cgroups(7). */
final class AvailableMemory {
    private static final Path MEMINFO = Path.of("/proc/meminfo");
    private static final Path CGROUP = Path.of("/proc/self/cgroup");

    private AvailableMemory() {}

    /** The mount points of the hierarchies seldom change, and reading them takes longer than the rest. */
    private static final class Mounted {
        static final MemoryGroups GROUPS = new MemoryGroups(Path.of("/proc/self/mountinfo"), Path.of("/sys/fs/cgroup"));

        private Mounted() {}
    }

    static long ofThisProcess() {
        return read(MEMINFO, CGROUP, Mounted.GROUPS);
    }

    static MemoryLimit limitOfThisProcess() {
        return limit(MEMINFO, CGROUP, Mounted.GROUPS);
    }

    /** The available bytes; the paths are parameters so that a test can pass its own. */
    static long read(Path meminfo, Path cgroup, MemoryGroups mounted) {
        long available = kilobytes(meminfo, "MemAvailable:");
        for (Group group : mounted.of(cgroup)) {
            available = Math.min(available, group.room(available));
        }
        return Math.max(0, available);
    }

    static MemoryLimit limit(Path meminfo, Path cgroup, MemoryGroups mounted) {
        MemoryLimit least = new MemoryLimit(kilobytes(meminfo, "MemTotal:"), "");
        for (Group group : mounted.of(cgroup)) {
            long limit = group.limit();
            if (limit >= 0 && limit < least.bytes()) {
                least = new MemoryLimit(limit, group.directory().toString());
            }
        }
        return least;
    }

    private static long kilobytes(Path meminfo, String name) {
        long bytes = ProcText.field(ProcText.text(meminfo), name);
        return bytes < 0 ? Long.MAX_VALUE : bytes * 1024;
    }
}
