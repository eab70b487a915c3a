// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.AllocatedBytes;

class AvailableMemoryTest {
    @TempDir Path dir;
    private Path meminfo;
    private Path none;

    @BeforeEach
    void theMachine() throws IOException {
        meminfo = Files.writeString(dir.resolve("meminfo"), "MemTotal: 2000000 kB\nMemAvailable:   1000000 kB\n");
        none = dir.resolve("none");
    }

    /** As without a mountinfo: at the default paths. */
    private long available(Path machine, Path cgroup) {
        return read(machine, cgroup, new MemoryGroups(none, dir.resolve("root")));
    }

    private static long read(Path machine, Path cgroup, MemoryGroups mounted) {
        return AvailableMemory.read(ProcText.Source.of(machine), ProcText.Source.of(cgroup), mounted);
    }

    private static MemoryLimit limit(Path machine, Path cgroup, MemoryGroups mounted) {
        return AvailableMemory.limit(ProcText.Source.of(machine), ProcText.Source.of(cgroup), mounted);
    }

    private static void v1(Path group, String limit, String use) throws IOException {
        Files.createDirectories(group);
        Files.writeString(group.resolve("memory.limit_in_bytes"), limit + "\n");
        Files.writeString(group.resolve("memory.usage_in_bytes"), use + "\n");
    }

    private static void v2(Path group, String limit, String use) throws IOException {
        Files.createDirectories(group);
        Files.writeString(group.resolve("memory.max"), limit + "\n");
        Files.writeString(group.resolve("memory.current"), use + "\n");
    }

    @Test
    void honoursControlGroups() throws Exception {
        assertThat(available(meminfo, none)).isEqualTo(1_024_000_000);
        assertThat(available(none, none)).isEqualTo(Long.MAX_VALUE);
        v2(dir.resolve("root/a/b"), "max", "5");
        Path outer = dir.resolve("root/a");
        v2(outer, "1000000", "400000");
        Files.writeString(outer.resolve("memory.stat"), "anon 1\ninactive_file 100000\n");
        Path two = Files.writeString(dir.resolve("two"), "0::/a/b\n");
        assertThat(available(meminfo, two)).isEqualTo(700_000);
        Files.writeString(outer.resolve("memory.stat"), "inactive_file_x 3\ninactive_file 100000"); // no end of line
        assertThat(available(meminfo, two)).isEqualTo(700_000);
        Path escaping = Files.writeString(dir.resolve("escaping"), "0::/../../a\nnonsense\n");
        assertThat(available(meminfo, escaping)).isEqualTo(1_024_000_000);
        Path old = dir.resolve("root/memory/x");
        v1(old, "3000", "4000");
        Files.writeString(old.resolve("memory.stat"), "inactive_file 7\ntotal_inactive_file 500\n");
        Path one = Files.writeString(dir.resolve("one"), "5:cpu,memory:/x\n1:name=systemd:/\n");
        assertThat(available(meminfo, one)).isZero();
        Files.writeString(old.resolve("memory.stat"), "total_inactive_file 1500\n");
        assertThat(available(meminfo, one)).isEqualTo(500);
        Files.delete(old.resolve("memory.stat"));
        assertThat(available(meminfo, one)).isZero();
    }

    @Test
    void findsGroupsAtTheirMountPoints() throws Exception {
        Path memory = dir.resolve("with blank/mem");
        Path unified = dir.resolve("unified");
        Path mountinfo = Files.writeString(dir.resolve("mountinfo"), "1 2 0:3 / / rw - ext4 disk rw\n"
                + "35 31 0:32 /docker/abc " + memory.toString().replace(" ", "\\040")
                + " rw,relatime shared:9 - cgroup cgroup rw,cpu,memory\n"
                + "36 31 0:33 / " + dir.resolve("cpuset") + " rw - cgroup cgroup rw,cpuset\n"
                + "41 31 0:38 / " + unified + " rw - cgroup2 cgroup2 rw\n");
        MemoryGroups mounted = new MemoryGroups(mountinfo, none);
        // a container that sees its own group as the top of the hierarchy, the process in a group inside
        Path inside = Files.writeString(dir.resolve("inside"), "7:cpu,memory:/docker/abc/worker\n0::/\n");
        v1(memory, "5000", "1000");
        v1(memory.resolve("worker"), "4000", "1500");
        v1(memory.resolve("other"), "10", "10");
        assertThat(read(meminfo, inside, mounted)).isEqualTo(2500);
        assertThat(limit(meminfo, inside, mounted))
                .isEqualTo(new MemoryLimit(4000, memory.resolve("worker").toString()));
        v1(memory.resolve("worker"), "9223372036854771712", "1500"); // the value of version 1 for no limit
        assertThat(read(meminfo, inside, mounted)).isEqualTo(4000);
        assertThat(limit(meminfo, inside, mounted)).isEqualTo(new MemoryLimit(5000, memory.toString()));
        // a group whose path is not visible in the container: the container's group applies
        Path elsewhere = Files.writeString(dir.resolve("elsewhere"), "7:cpu,memory:/docker/abcd\n");
        assertThat(limit(meminfo, elsewhere, mounted).bytes()).isEqualTo(5000);
        // the smallest limit of all ancestors, in either hierarchy
        v2(unified.resolve("slice"), "3000", "2900");
        v2(unified.resolve("slice/service"), "max", "100");
        Path both = Files.writeString(dir.resolve("both"), "7:cpu,memory:/docker/abc\n0::/slice/service\n");
        assertThat(read(meminfo, both, mounted)).isEqualTo(100);
        assertThat(limit(meminfo, both, mounted))
                .isEqualTo(new MemoryLimit(3000, unified.resolve("slice").toString()));
    }

    @Test
    void machineMemoryIsALimit() throws Exception {
        MemoryGroups mounted = new MemoryGroups(none, dir);
        assertThat(limit(meminfo, none, mounted)).isEqualTo(new MemoryLimit(2_048_000_000, ""));
        assertThat(limit(none, none, mounted)).isEqualTo(new MemoryLimit(Long.MAX_VALUE, ""));
        assertThat(Sys.memoryLimit().bytes()).isBetween(1L << 20, 1L << 60);
    }

    /** A process may be moved. */
    @Test
    void groupOfTheProcessMayChange() throws Exception {
        MemoryGroups mounted = new MemoryGroups(none, dir.resolve("root"));
        v2(dir.resolve("root/a"), "1000", "100");
        v2(dir.resolve("root/b"), "2000", "100");
        Path own = dir.resolve("own");
        for (String group : new String[] {"a", "b", "c", "a"}) {
            Files.writeString(own, "0::/" + group + "\n");
            assertThat(read(meminfo, own, mounted)).as(group).isEqualTo(switch (group) {
                case "a" -> 900;
                case "b" -> 1900;
                default -> 1_024_000_000;
            });
        }
    }

    @Test
    void readingAllocatesAsGoodAsNothing() throws Exception {
        assertThat(AllocatedBytes.leastOf(() -> {
            for (int i = 0; i < 100; i++) {
                Sys.availableMemory();
                Sys.memoryLimit();
            }
        })).as("bytes in 100 queries").isLessThan(100 * 64);
    }
}
