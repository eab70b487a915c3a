// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.nio.file.Path;

import org.verbena.linux.MemoryGroups.Group;
import org.verbena.linux.ProcText.Source;

/** Reads proc_meminfo(5) and the memory limits of cgroups(7); allocates as good as nothing. */
final class AvailableMemory {
    private static final Source MEMINFO = Source.of(Path.of("/proc/meminfo"));
    private static final Source CGROUP = Source.of(Path.of("/proc/self/cgroup"));

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

    /** The available bytes; the files are parameters so that a test can pass its own. */
    static long read(Source meminfo, Source cgroup, MemoryGroups mounted) {
        synchronized (mounted) {
            ProcText text = mounted.text();
            long available = kilobytes(text.read(meminfo), "MemAvailable:");
            for (Group group : mounted.of(cgroup)) {
                available = Math.min(available, group.room(text, available));
            }
            return Math.max(0, available);
        }
    }

    static MemoryLimit limit(Source meminfo, Source cgroup, MemoryGroups mounted) {
        synchronized (mounted) {
            ProcText text = mounted.text();
            long least = kilobytes(text.read(meminfo), "MemTotal:");
            String of = "";
            for (Group group : mounted.of(cgroup)) {
                long limit = group.limit(text);
                if (limit >= 0 && limit < least) {
                    least = limit;
                    of = group.directory().toString();
                }
            }
            return new MemoryLimit(least, of);
        }
    }

    private static long kilobytes(ProcText meminfo, String name) {
        long bytes = meminfo.field(name);
        return bytes < 0 ? Long.MAX_VALUE : bytes * 1024;
    }
}
