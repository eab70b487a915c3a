// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.testkit.Finished;

/** The provider with libraries of all kinds, each in a process of its own: none of them may crash it. */
class VariantsTest {
    /** Verbs that work with every library. */
    private static final List<String> PLAIN = List.of("query_device", "query_port", "query_gid", "post", "poll",
            "create_srq");
    private static final List<String> SYMBOLS = List.of("reg_mr_iova", "reg_dmabuf_mr", "rereg_mr", "query_ece");
    /** Slots, in the order in which the structure grew. */
    private static final List<String> SLOTS = List.of("open_xrcd", "create_qp_ex", "create_flow", "create_cq_ex",
            "query_rt_values", "create_wq", "modify_cq", "alloc_td", "alloc_parent_domain", "modify_qp_rate_limit",
            "alloc_dm", "create_counters", "alloc_null_mr", "advise_mr");

    @TempDir static Path folder;
    private static Path library;

    @BeforeAll
    static void compile() throws Exception {
        library = MockLibrary.compile(folder);
    }

    private static String run(Class<?> program, Path with, Map<String, String> environment) throws Exception {
        Finished e = MockLibrary.java(program, with, environment);
        assertThat(e.code()).as(e.output()).isZero();
        return e.output();
    }

    private static Map<String, String> answers(Path with, Map<String, String> environment) throws Exception {
        String output = run(OldProgram.class, with, environment);
        assertThat(output).as("everything was closed").contains("left: 0");
        return output.lines().map(l -> l.split(": ", 2)).filter(l -> l.length == 2).collect(Collectors.toMap(l -> l[0],
                l -> l[1]));
    }

    private static void are(Map<String, String> answers, String answer, List<String> names) {
        assertThat(names).allSatisfy(n -> assertThat(answers.get(n)).as(n).isEqualTo(answer));
    }

    @Test
    void everyVerbReachesTheLibraryWithItsArguments() throws Exception {
        assertThat(run(FullProgram.class, library, Map.of())).endsWith("done\n");
    }

    @Test
    void messagesAreEchoed() throws Exception {
        assertThat(run(DataPathProgram.class, library, Map.of())).endsWith("done\n");
    }

    @Test
    void queuePairsAreConnected() throws Exception {
        assertThat(run(ConnectProgram.class, library, Map.of())).endsWith("done\n");
        assertThat(run(ConnectProgram.class, library, Map.of("MOCK_CM_STRANGE", "1"))).endsWith("done\n");
    }

    @Test
    void connectionManagerErrors() throws Exception {
        Map<Map<String, String>, String> sentences = Map.of(
                Map.of("MOCK_CM_NO_CHANNEL", "19"), "ENODEV",
                Map.of("MOCK_CM_NO_CHANNEL", "0"), "EIO",
                Map.of("MOCK_CM_NO_ID", "12"), "ENOMEM",
                Map.of("MOCK_CM_NO_ID", "0"), "cannot create an rdma_cm_id",
                Map.of("MOCK_CM_OTHER", "1"), "is an address of other0",
                Map.of("MOCK_CM_FAIL", "7", "MOCK_CM_STATUS", "-110"), "ETIMEDOUT",
                Map.of("MOCK_CM_FAIL", "8", "MOCK_CM_STATUS", "10"), "reason 10",
                Map.of("MOCK_CM_FAIL", "6", "MOCK_CM_STATUS", "-2147483648"), "librdmacm reports event 6",
                Map.of("MOCK_CM_FAIL", "11"), "the device was removed",
                Map.of("MOCK_CM_FAIL", "77", "MOCK_CM_STATUS", "5"), "librdmacm reports event 77, status 5");
        for (var s : sentences.entrySet()) {
            assertThat(run(ConnectFailureProgram.class, library, s.getKey())).as("" + s.getKey()).contains(s
                    .getValue()).endsWith("closed\n").hasLineCount(2);
        }
    }

    @Test
    void noConnectionManager() throws Exception {
        Finished e = MockLibrary.java(List.of("--enable-native-access=ALL-UNNAMED", "-Dverbena.rdmacm=" + folder
                .resolve(
                        "nothing.so")), ConnectFailureProgram.class, library, Map.of());
        assertThat(e.output()).contains("EOPNOTSUPP", "install librdmacm1").endsWith("closed\n").hasLineCount(2);
        Path old = MockLibrary.compile(Files.createDirectory(folder.resolve("old-cm")), "-DWITHOUT_NEW");
        assertThat(run(ConnectFailureProgram.class, old, Map.of())).contains("EOPNOTSUPP",
                "has no rdma_init_qp_attr, rdma_establish: it is older than rdma-core 23").endsWith("closed\n");
    }

    @Test
    void newLibrary() throws Exception {
        for (String sz : List.of("696", "648", "100000")) {
            Map<String, String> a = answers(library, Map.of("MOCK_SZ", sz));
            are(a, "ok", PLAIN);
            are(a, "ok", SLOTS);
            are(a, "ok", SYMBOLS);
        }
    }

    /** Slots that an older library does not have are beyond its structure: a call there runs into a trap. */
    @Test
    void olderLibraries() throws Exception {
        // up to create_cq_ex, at 120; up to alloc_td, at 192, which needs dealloc_td; up to reg_dm_mr; all but query_port
        for (int[] older : new int[][] {{328 + 120, 4}, {328 + 192, 7}, {328 + 264, 11}, {648 - 8, 14}}) {
            Map<String, String> a = answers(library, Map.of("MOCK_SZ", Integer.toString(older[0])));
            are(a, "ok", PLAIN);
            are(a, "ok", SLOTS.subList(0, older[1]));
            are(a, "EOPNOTSUPP", SLOTS.subList(older[1], SLOTS.size()));
        }
    }

    @Test
    void contextWithoutExtensions() throws Exception {
        Map<String, String> a = answers(library, Map.of("MOCK_LEGACY", "1"));
        are(a, "ok", PLAIN);
        are(a, "EOPNOTSUPP", SLOTS);
    }

    @Test
    void driverWithPlainVerbsOnly() throws Exception {
        Map<String, String> a = answers(library, Map.of("MOCK_DUMMY", "1"));
        are(a, "ok", PLAIN);
        are(a, "EOPNOTSUPP", SLOTS);
    }

    @Test
    void libraryOfTheFirstVersion() throws Exception {
        Path old = MockLibrary.compile(Files.createDirectory(folder.resolve("old")), "-DWITHOUT_NEW");
        Map<String, String> a = answers(old, Map.of());
        are(a, "ok", PLAIN);
        are(a, "EOPNOTSUPP", SYMBOLS);
        assertThat(a.get("create_qp_ex")).as("needs ibv_qp_to_qp_ex").isEqualTo("EOPNOTSUPP");
        assertThat(a.get("data_in_order")).isEqualTo("false");
    }

    @Test
    void noLibrary() throws Exception {
        assertThat(run(ListProgram.class, folder.resolve("nothing.so"), Map.of())).startsWith(
                "problem: provider rdmacore: load ").contains("ENOENT", "install libibverbs1").hasLineCount(1);
    }

    @Test
    void libraryWithoutRequiredFunctions() throws Exception {
        Path broken = MockLibrary.compile(Files.createDirectory(folder.resolve("broken")), "-DBROKEN");
        assertThat(run(ListProgram.class, broken, Map.of())).startsWith("problem: provider rdmacore: load ").contains(
                "it has no ibv_create_srq: it is too old").hasLineCount(1);
        Path text = Files.writeString(folder.resolve("text.so"), "no library");
        assertThat(run(ListProgram.class, text, Map.of())).startsWith("problem: provider rdmacore: load ").contains(
                "file too short").hasLineCount(1);
    }

    @Test
    void noDevices() throws Exception {
        for (String count : List.of("0", "-1")) {
            assertThat(run(ListProgram.class, library, Map.of("MOCK_DEVICES", count))).startsWith(
                    "problem: provider rdmacore: list devices of ").contains("ENODEV").hasLineCount(1);
        }
        assertThat(run(ListProgram.class, library, Map.of("MOCK_DEVICES", "3"))).isEqualTo(
                "device mock0\ndevice mock1\ndevice mock2\n");
    }

    /** The messages depend on the devices of the kernel. */
    @Test
    void devicesWithoutDriver() throws Exception {
        Path kernel = folder.resolve("class");
        Map<String, String> none = Map.of("MOCK_DEVICES", "0", "KERNEL", kernel.toString());
        Map<String, String> unknown = Map.of("MOCK_DEVICES", "-1", "KERNEL", kernel.toString());
        String before = "list devices of " + library + ": ENODEV: ";
        String nothing = before + "the kernel has no RDMA device (" + kernel
                + "): load its driver, or rdma_rxe for one in software\n";
        assertThat(run(KernelProgram.class, library, none)).isEqualTo(nothing);
        Files.createFile(Files.createDirectory(kernel).resolve("abi_version"));
        assertThat(run(KernelProgram.class, library, none)).isEqualTo(nothing);
        Files.createDirectory(kernel.resolve("uverbs1"));
        Files.createDirectory(kernel.resolve("uverbs0"));
        for (Map<String, String> environment : List.of(none, unknown)) {
            assertThat(run(KernelProgram.class, library, environment)).isEqualTo(before
                    + "libibverbs has no driver for uverbs0, uverbs1: install ibverbs-providers\n");
        }
        assertThat(run(KernelProgram.class, library, Map.of("KERNEL", kernel.toString()))).isEqualTo("[mock0]\n");
    }

    @Test
    void deviceThatCannotBeOpened() throws Exception {
        assertThat(run(ListProgram.class, library, Map.of("MOCK_NO_OPEN", "13"))).startsWith(
                "device mock0 cannot be opened: open mock0: EACCES: ").hasLineCount(1);
    }

    /** With the library that is installed here, whatever devices it finds. */
    @Test
    void installedLibrary() throws Exception {
        List<String> lines = Arrays.asList(run(ListProgram.class, null, Map.of()).split("\n"));
        boolean devices = lines.stream().anyMatch(l -> l.startsWith("device "));
        assertThat(lines).filteredOn(l -> l.startsWith("problem: provider rdmacore: ")).hasSize(devices ? 0 : 1);
        System.out.println("libibverbs here: " + lines);
    }

    @Test
    void deniedNativeAccessIsReported() throws Exception {
        Finished e = MockLibrary.java(List.of("--illegal-native-access=deny"), ListProgram.class, library, Map.of());
        assertThat(e.code()).as(e.output()).isZero();
        assertThat(e.output()).startsWith("problem: provider rdmacore: load ").contains("--enable-native-access")
                .hasLineCount(1);
    }
}
