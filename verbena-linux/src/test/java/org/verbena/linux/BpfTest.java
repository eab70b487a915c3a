// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.AllocatedBytes;
import org.verbena.testkit.Capabilities;
import org.verbena.testkit.Finished;

/** Programs and tables of every kind, their files, and attached programs with their owners. */
class BpfTest {
    private static final int MOVE = 0xb7;
    private static final int EXIT = 0x95;

    @BeforeAll
    static void needsCapabilities() {
        Capabilities.require("load programs of every kind", Capabilities.NET_ADMIN, Capabilities.SYS_ADMIN,
                Capabilities.BPF);
    }

    private static byte[] key(int number) {
        return ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(number).array();
    }

    /** A program that only returns a number. */
    private static long[] returning(int number) {
        return new long[] {Bpf.instruction(MOVE, 0, 0, 0, number), Bpf.instruction(EXIT, 0, 0, 0, 0)};
    }

    private static Fd load(int number, String name) throws LinuxException {
        return Bpf.load(Bpf.BPF_PROG_TYPE_XDP, returning(number), "Apache-2.0", name, Bpf.BPF_F_XDP_HAS_FRAGS);
    }

    @Test
    void perCpuTablesHaveAValueForEachProcessor() throws Exception {
        int cpus = BpfMap.possibleCpus();
        for (int type : new int[] {BpfMap.BPF_MAP_TYPE_PERCPU_ARRAY, BpfMap.BPF_MAP_TYPE_PERCPU_HASH,
            BpfMap.BPF_MAP_TYPE_LRU_PERCPU_HASH}) {
            try (BpfMap map = BpfMap.create(type, 4, 12, 8)) {
                assertThat(map.valueBytes()).isEqualTo(16 * cpus);
                byte[] value = new byte[16 * cpus];
                for (int cpu = 0; cpu < cpus; cpu++) {
                    Arrays.fill(value, 16 * cpu, 16 * cpu + 12, (byte) (cpu + 1));
                }
                map.update(key(3), value);
                assertThat(map.lookup(key(3)).orElseThrow()).isEqualTo(value);
                assertThatThrownBy(() -> map.update(key(3), new byte[12])).isInstanceOf(IllegalArgumentException.class);
            }
        }
    }

    @Test
    void processorsAreCountedByRanges() {
        assertThat(BpfMap.countCpus("0\n")).isEqualTo(1);
        assertThat(BpfMap.countCpus("0-3")).isEqualTo(4);
        assertThat(BpfMap.countCpus("0-3,8,10-11")).isEqualTo(7);
    }

    @Test
    void keysAreDeletedWalkedAndRefused() throws Exception {
        try (BpfMap map = BpfMap.create(BpfMap.BPF_MAP_TYPE_HASH, 4, 8, 1000, BpfMap.BPF_F_NO_PREALLOC, "walk")) {
            assertThat(map.nextKey(null)).isEmpty();
            for (int i = 0; i < 1000; i++) {
                map.update(key(i), ByteBuffer.allocate(8).putLong(i).array(), BpfMap.BPF_NOEXIST);
            }
            assertThatThrownBy(() -> map.update(key(7), new byte[8], BpfMap.BPF_NOEXIST)).isInstanceOfSatisfying(
                    LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EEXIST));
            assertThatThrownBy(() -> map.update(key(1000), new byte[8], BpfMap.BPF_EXIST)).isInstanceOfSatisfying(
                    LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOENT));
            int walked = 0;
            for (byte[] at = map.nextKey(null).orElseThrow(); at != null; at = map.nextKey(at).orElse(null)) {
                walked++;
            }
            assertThat(walked).isEqualTo(1000);
            Map<Integer, Long> all = new TreeMap<>();
            map.forEach((key, value) -> all.put(ByteBuffer.wrap(key).order(ByteOrder.nativeOrder()).getInt(), ByteBuffer
                    .wrap(value).getLong()));
            assertThat(all).hasSize(1000).allSatisfy((key, value) -> assertThat(value).isEqualTo((long) key));
            assertThat(map.delete(key(5))).isTrue();
            assertThat(map.delete(key(5))).isFalse();
            assertThat(map.lookup(key(5))).isEmpty();
        }
        try (BpfMap array = BpfMap.create(BpfMap.BPF_MAP_TYPE_ARRAY, 4, 8, 300)) {
            int[] seen = new int[1];
            array.forEach((key, value) -> seen[0]++);
            assertThat(seen[0]).isEqualTo(300);
            assertThatThrownBy(() -> array.delete(key(1))).isInstanceOf(LinuxException.class);
        }
    }

    /** So long that one is read at a time: a bucket with two needs more space, and what came before is not read again. */
    @Test
    void entriesOfAFullBucketAreVisitedOnce() throws Exception {
        int entries = 32;
        try (BpfMap map = BpfMap.create(BpfMap.BPF_MAP_TYPE_HASH, 4, 600_000, entries)) {
            byte[] value = new byte[600_000];
            for (int i = 0; i < entries; i++) {
                value[value.length - 1] = (byte) i;
                map.update(key(i), value);
            }
            Map<Integer, Integer> seen = new TreeMap<>();
            map.forEachInPlace((memory, keyAt, valueAt) -> {
                int key = memory.get(ValueLayout.JAVA_INT_UNALIGNED, keyAt);
                assertThat(memory.get(ValueLayout.JAVA_BYTE, valueAt + value.length - 1)).isEqualTo((byte) key);
                seen.merge(key, 1, Integer::sum);
            });
            assertThat(seen).hasSize(entries).allSatisfy((key, times) -> assertThat(times).isOne());
        }
    }

    @Test
    void memoryOfAVisitDoesNotGrowWithTheEntries() throws Exception {
        int entries = 100_000;
        long[] bytes = new long[2];
        long[] space = new long[2];
        for (int i = 0; i < 2; i++) {
            int n = i == 0 ? 300 : entries;
            try (BpfMap map = BpfMap.create(BpfMap.BPF_MAP_TYPE_PERCPU_HASH, 4, 24, entries)) {
                byte[] value = new byte[map.valueBytes()];
                for (int key = 0; key < n; key++) {
                    map.update(key(key), value);
                }
                int[] seen = new int[1];
                long[] most = new long[1];
                bytes[i] = AllocatedBytes.leastOf(() -> {
                    seen[0] = 0;
                    map.forEachInPlace((memory, keyAt, valueAt) -> {
                        seen[0]++;
                        most[0] = Math.max(most[0], memory.byteSize());
                    });
                });
                assertThat(seen[0]).isEqualTo(n);
                space[i] = most[0];
            }
        }
        assertThat(space[1]).isEqualTo(space[0]).isLessThan(2 << 20);
        assertThat(bytes[1]).as("after " + bytes[0] + " for 300 entries").isLessThan(100_000);
    }

    @Test
    void leastRecentlyUsedTableIsNeverFull() throws Exception {
        try (BpfMap map = BpfMap.create(BpfMap.BPF_MAP_TYPE_LRU_HASH, 4, 8, 256)) {
            for (int i = 0; i < 2000; i++) {
                map.update(key(i), new byte[8]);
            }
            assertThat(map.lookup(key(1999))).isPresent();
        }
    }

    @Test
    void tableOfTablesIsUpdated() throws Exception {
        try (BpfMap like = BpfMap.create(BpfMap.BPF_MAP_TYPE_ARRAY, 4, 8, 1);
                BpfMap outer = BpfMap.createOfMaps(like, 1, "outer")) {
            outer.update(key(0), key(like.fd().value()));
            assertThat(outer.lookup(key(0))).as("the table's number").isPresent();
        }
    }

    @Test
    void objectsWithoutTablesAreNotTakenForTables() throws Exception {
        try (Fd program = load(2, "")) {
            assertThatThrownBy(() -> BpfMap.of(program)).isInstanceOf(LinuxException.class).hasMessageContaining(
                    "not a table but anon_inode:bpf-prog");
        }
    }

    @Test
    void largePacketsRunThroughProgramsWithFragments() throws Exception {
        byte[] large = new byte[9000];
        Arrays.fill(large, (byte) 7);
        try (Fd program = load(2, "large")) {
            BpfTestRun run = Bpf.testRun(program, large, 100);
            assertThat(run.result()).isEqualTo(Bpf.XDP_PASS);
            assertThat(run.packet()).isEqualTo(large);
            assertThat(run.nanos()).isLessThan(1_000_000_000);
            assertThat(run).hasToString("result 2 in " + run.nanos() + " ns, 9000 bytes");
            assertThatThrownBy(() -> Bpf.testRun(program, large, 0)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** The log is longer than the first space for it, and the error is nevertheless that of the program. */
    @Test
    void longLogOfTheVerifierIsComplete() {
        long[] program = new long[3000];
        Arrays.fill(program, Bpf.instruction(MOVE, 1, 0, 0, 5));
        program[2998] = Bpf.instruction(0xbf, 0, 3, 0, 0);
        program[2999] = Bpf.instruction(EXIT, 0, 0, 0, 0);
        assertThatThrownBy(() -> Bpf.load(Bpf.BPF_PROG_TYPE_XDP, program, "Apache-2.0")).isInstanceOfSatisfying(
                LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EACCES)).hasMessageContaining(
                        "R3 !read_ok");
        assertThat(Bpf.verifierLog(Bpf.BPF_PROG_TYPE_XDP, program, "Apache-2.0", 0)).hasSizeGreaterThan(64 << 10)
                .contains("R3 !read_ok");
        assertThat(Bpf.verifierLog(Bpf.BPF_PROG_TYPE_XDP, returning(1), "Apache-2.0", 0)).contains("processed 2 insns");
        assertThatThrownBy(() -> load(1, "a b")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void programsAndTablesHaveFiles(@TempDir Path folder) throws Exception {
        assertThatThrownBy(() -> Bpf.open(folder.resolve("none"))).isInstanceOfSatisfying(LinuxException.class,
                e -> assertThat(e.errno()).isEqualTo(Errno.ENOENT));
        try (Fd program = load(1, "pinned"); BpfMap map = BpfMap.create(BpfMap.BPF_MAP_TYPE_PERCPU_HASH, 5, 6, 7)) {
            assertThatThrownBy(() -> Bpf.pin(program, folder.resolve("one"))).hasMessageContaining(
                    "mount -t bpf");
            if (Finished.run("mount", "-t", "bpf", "bpf", folder.toString()).code() != 0) {
                System.out.println("SKIPPED: a file system of type bpf cannot be mounted here");
                return;
            }
            try {
                Bpf.pin(program, folder.resolve("program"));
                Bpf.pin(map.fd(), folder.resolve("map"));
                map.update(new byte[5], new byte[map.valueBytes()]);
                try (Fd again = Bpf.open(folder.resolve("program"));
                        BpfMap same = BpfMap.of(Bpf.open(folder.resolve("map")))) {
                    assertThat(Bpf.testRun(again, new byte[60])).isEqualTo(Bpf.XDP_DROP);
                    assertThat(same.valueBytes()).isEqualTo(map.valueBytes());
                    assertThat(same.maxEntries()).isEqualTo(7);
                    assertThat(same.lookup(new byte[5])).isPresent();
                }
                assertThatThrownBy(() -> Bpf.pin(program, folder.resolve("map"))).isInstanceOfSatisfying(
                        LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EEXIST));
            } finally {
                assertThat(Finished.run("umount", folder.toString()).code()).isZero();
            }
        }
    }

    @Test
    void attachedProgramIsNamedReplacedAndLeaves() throws Exception {
        for (int mode : new int[] {Bpf.XDP_FLAGS_SKB_MODE, Bpf.XDP_FLAGS_DRV_MODE}) {
            NetworkNamespace.callInNew(() -> {
                attach(mode);
                return mode;
            });
        }
    }

    private static void attach(int mode) throws IOException {
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
            NetworkLinks.createVeth(netlink, "one", "other");
            int one = NetworkLinks.index(netlink, "one");
            assertThat(XdpAttachment.of(netlink, one)).isEmpty();
            try (Fd program = load(2, "first"); Fd next = load(2, "second")) {
                Fd link = Bpf.attach(program, one, mode);
                XdpAttachment attached = XdpAttachment.of(netlink, one).orElseThrow();
                assertThat(attached.name()).isEqualTo("first");
                assertThat(attached.mode()).isEqualTo(mode == Bpf.XDP_FLAGS_SKB_MODE
                        ? XdpAttachment.XDP_ATTACHED_SKB
                        : XdpAttachment.XDP_ATTACHED_DRV);
                assertThat(attached.user()).isZero();
                assertThat(attached.holders()).containsExactly((int) ProcessHandle.current().pid());
                assertThat(attached.describe()).contains("XDP program " + attached.program() + " \"first\" (")
                        .endsWith(", loaded by user 0, held by process " + ProcessHandle.current().pid() + ")");
                assertThatThrownBy(() -> Bpf.attach(next, one, mode)).isInstanceOfSatisfying(LinuxException.class,
                        e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
                Bpf.replace(link, next);
                assertThat(XdpAttachment.of(netlink, one).orElseThrow().name()).isEqualTo("second");
                link.close();
                assertThat(XdpAttachment.of(netlink, one)).isEmpty();
            }
        }
        assertThatThrownBy(() -> {
            try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
                XdpAttachment.of(netlink, 4711);
            }
        }).isInstanceOfSatisfying(LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
    }
}
