// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.Errno;
import org.verbena.linux.LibIbverbs;
import org.verbena.linux.Sys;
import org.verbena.telemetry.CounterFolder;
import org.verbena.testkit.Capabilities;
import org.verbena.testkit.Jvm;
import org.verbena.testkit.Thorough;
import org.verbena.tests.PerfLane;

/** {@code verbena doctor} from the command line; each verdict is compared with an independent source. */
@PerfLane
class DoctorCommandTest {
    private static final List<String> CHECKS = List.of("java", "native", "kernel", "memory", "memfd", "files", "verbs",
            "processes", "ptrace", "counters", "capabilities", "memlock", "sock_diag", "bpf", "af_xdp", "xdp", "tap",
            "io_uring", "roce", "rdma", "smc",
            "udmabuf", "devmem");
    /** Features that nothing here needs. */
    private static final List<String> UNUSED = List.of("io_uring", "smc", "udmabuf", "devmem");
    private static final List<String> GRANTED = List.of("--enable-native-access=org.verbena.linux");
    private static final List<String> DENIED = List.of("--illegal-native-access=deny");

    private static @Nullable Answer answer;

    /** A line of the answer. */
    private record Line(String verdict, String evidence, String remedy) {}

    /** How it ended. */
    private record Answer(int code, String out, String err) {
        /** The lines by their names; each has every key, and a remedy unless it is ok. */
        Map<String, Line> lines() throws IOException {
            Map<String, Line> lines = new LinkedHashMap<>();
            for (JsonNode n : new ObjectMapper().readTree(out)) {
                assertThat(n.properties()).extracting(Map.Entry::getKey).containsExactly("check", "needed_for",
                        "required", "verdict", "evidence", "remedy");
                Line line = new Line(n.get("verdict").textValue(), n.get("evidence").textValue(), n.get("remedy")
                        .textValue());
                assertThat(line.verdict()).isIn("ok", "limited", "no");
                assertThat(line.evidence()).isNotBlank().doesNotContain("\n");
                assertThat(line.remedy().isBlank()).as("%s", n).isEqualTo(line.verdict().equals("ok"));
                assertThat(n.get("needed_for").textValue()).isNotBlank();
                boolean required = n.get("required").booleanValue();
                assertThat(required).isEqualTo(List.of("verbs", "processes").contains(n.get("check").textValue()));
                assertThat(required && line.verdict().equals("no") && code == 0).as("%s", n).isFalse();
                lines.put(n.get("check").textValue(), line);
            }
            assertThat(lines.keySet()).containsExactlyElementsOf(CHECKS);
            return lines;
        }
    }

    private static Answer run(List<String> before, String modules, List<String> jvm, String... arguments)
            throws Exception {
        List<String> command = new ArrayList<>(before);
        command.addAll(Jvm.command("-XX:-UsePerfData"));
        if (jvm.containsAll(GRANTED)) {
            command.addAll(CommandProcess.modules(modules));
            command.addAll(CommandArchive.options(modules));
            command.addAll(jvm.stream().filter(o -> !GRANTED.contains(o)).toList());
        } else {
            command.addAll(List.of("--module-path", modules));
            command.addAll(jvm);
        }
        command.addAll(List.of("--module", "org.verbena.cli/org.verbena.cli.Main", "doctor"));
        command.addAll(List.of(arguments));
        return run(command);
    }

    private static Answer run(List<String> command) throws Exception {
        File err = File.createTempFile("doctor", ".err");
        try {
            Process p = new ProcessBuilder(command).redirectError(err).start();
            String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(p.waitFor(240, TimeUnit.SECONDS)).isTrue();
            return new Answer(p.exitValue(), out, Files.readString(err.toPath()));
        } finally {
            Files.delete(err.toPath());
        }
    }

    private static Answer json(String... before) throws Exception {
        return run(List.of(before), CopyProcess.modulePath(), GRANTED, "--json");
    }

    /** Its answer on this machine as it is, which several tests look at; asked for once, or by each with {@code -Dthorough}. */
    private static synchronized Answer answer() throws Exception {
        Answer a = answer;
        if (a == null || Thorough.ON) {
            List<String> before = interfaces();
            a = json();
            assertThat(interfaces()).as("the machine's interfaces are as before").isEqualTo(before);
            answer = a;
        }
        return a;
    }

    private static String proc(String file) throws IOException {
        Path p = Path.of(file);
        return Files.exists(p) ? Files.readString(p).strip() : "";
    }

    private static List<String> interfaces() throws IOException {
        try (Stream<Path> names = Files.list(Path.of("/sys/class/net"))) {
            return names.map(n -> n.getFileName().toString()).sorted().toList();
        }
    }

    private static void ok(Map<String, Line> lines, String... names) {
        for (String n : names) {
            assertThat(lines.get(n).verdict()).as(n + ": " + lines.get(n)).isEqualTo("ok");
        }
    }

    @Test
    void defaultUserReport() throws Exception {
        Answer a = answer();
        assertThat(a.err()).isEmpty();
        assertThat(a.code()).as(a.out()).isZero();
        Map<String, Line> lines = a.lines();
        ok(lines, "java", "native", "kernel", "memfd", "verbs", "processes", "counters", "sock_diag");
        assertThat(lines.get("counters").evidence()).contains("/dev/shm/verbena-" + Sys.uid());
        assertThat(lines.get("java").evidence()).contains(Runtime.version().toString());
        assertThat(lines.get("kernel").evidence()).contains(proc("/proc/sys/kernel/osrelease"));
        boolean uring = !proc("/proc/sys/kernel/io_uring_disabled").matches("[12]");
        assertThat(lines.get("io_uring").verdict()).isEqualTo(uring ? "ok" : "no");
        boolean smc = proc("/proc/net/protocols").lines().anyMatch(l -> l.startsWith("SMC"));
        assertThat(lines.get("smc").verdict().equals("no")).isEqualTo(!smc);
        assertThat(lines.get("udmabuf").verdict().equals("ok")).isEqualTo(Files.isWritable(Path.of("/dev/udmabuf")));
        String rdma = lines.get("rdma").evidence();
        boolean library = Files.readString(Path.of("/proc/self/maps")).contains("libibverbs") || installed();
        assertThat(rdma.contains("cannot open shared object file")).as(rdma).isEqualTo(!library);
        if (!Files.exists(Path.of("/sys/class/infiniband"))) {
            assertThat(lines.get("rdma").verdict()).isEqualTo("no");
            assertThat(rdma).contains("/sys/class/infiniband: nothing");
        }
    }

    private static boolean installed() throws Exception {
        Process p = new ProcessBuilder("ldconfig", "-p").redirectError(ProcessBuilder.Redirect.DISCARD).start();
        return new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8).contains(LibIbverbs.NAME);
    }

    /** Skips the test, with a line, in a container whose root may not do what the test compares with. */
    private static void needsAllCapabilities(String what) throws IOException {
        TestUser.needed(what);
        Capabilities.require(what, Capabilities.NET_ADMIN, Capabilities.NET_RAW, Capabilities.IPC_LOCK,
                Capabilities.SYS_PTRACE, Capabilities.SYS_ADMIN, Capabilities.BPF); // the doctor's, but PERFMON
    }

    @Test
    void rootReportWithAllRequirements() throws Exception {
        needsAllCapabilities("see what root can");
        Map<String, Line> lines = answer().lines();
        ok(lines, "bpf", "af_xdp", "xdp", "memlock", "ptrace");
        assertThat(lines.get("xdp").evidence()).contains("xdp_lo: AF_XDP in generic mode").contains("AF_PACKET");
        assertThat(lines.get("af_xdp").evidence()).contains("a packet of 64 bytes went through");
    }

    @Test
    void ordinaryUserReport(@TempDir Path dir) throws Exception {
        TestUser.needed("what an ordinary user sees");
        String modules = CopyProcess.copyModules(TestUser.number(3).directory(dir, "modules"));
        TestUser user = TestUser.number(3);
        Answer a = run(user.command(), modules, GRANTED, "--json");
        assertThat(a.code()).as(a.out() + a.err()).isZero();
        Map<String, Line> lines = a.lines();
        ok(lines, "verbs", "processes", "counters", "memfd", "sock_diag");
        assertThat(lines.get("sock_diag").evidence()).contains("uid " + user.uid() + ",");
        for (String privileged : List.of("capabilities", "bpf", "af_xdp", "xdp")) {
            assertThat(lines.get(privileged).verdict()).as(privileged).isEqualTo("no");
            assertThat(lines.get(privileged).remedy()).contains("CAP_NET_ADMIN");
        }
        assertThat(lines.get("bpf").evidence()).contains("EPERM");
        assertThat(lines.get("af_xdp").evidence()).contains("unshare(CLONE_NEWNET): EPERM").contains(
                "socket(AF_XDP): EPERM");
    }

    /** The kernel reports the limits and capability sets of child processes. */
    @Test
    void limitsAndCapabilitiesAreThoseOfTheProcess() throws Exception {
        needsAllCapabilities("take capabilities and limits away");
        Map<String, Line> lines = json("prlimit", "--nofile=300:400", "--memlock=1048576:1048576", "setpriv",
                "--bounding-set=-ipc_lock,-net_raw,-sys_ptrace").lines();
        assertThat(lines.get("files").verdict()).isEqualTo("limited");
        assertThat(lines.get("files").evidence()).matches("\\d+ open of 400 \\(hard limit 400\\)");
        assertThat(lines.get("memlock").verdict()).isEqualTo("limited");
        assertThat(lines.get("memlock").evidence()).contains("ENOMEM").contains("RLIMIT_MEMLOCK 1 MiB");
        Line capabilities = lines.get("capabilities");
        assertThat(capabilities.verdict()).isEqualTo("limited");
        assertThat(capabilities.evidence()).contains("NET_ADMIN").contains("BPF").doesNotContain("NET_RAW")
                .doesNotContain("IPC_LOCK");
        assertThat(capabilities.remedy()).contains("CAP_NET_RAW, CAP_SYS_PTRACE, CAP_IPC_LOCK");
        assertThat(lines.get("af_xdp").verdict()).isEqualTo("no");
        assertThat(lines.get("af_xdp").evidence()).contains("socket(AF_XDP): EPERM");
        assertThat(lines.get("xdp").verdict()).isEqualTo("no");
        assertThat(lines.get("xdp").evidence()).startsWith("lacks CAP_NET_RAW for queue pairs. ");
        ok(lines, "bpf", "verbs", "processes");
        lines = json("setpriv", "--bounding-set=-bpf,-sys_admin,-perfmon").lines();
        assertThat(lines.get("bpf").verdict()).isEqualTo("no");
        assertThat(lines.get("bpf").evidence()).contains("bpf(BPF_MAP_CREATE, type 2): EPERM");
        assertThat(lines.get("xdp").verdict()).isEqualTo("limited");
        assertThat(lines.get("xdp").evidence()).startsWith("lacks CAP_BPF for flows. ");
        assertThat(lines.get("af_xdp").evidence()).contains("unshare(CLONE_NEWNET): EPERM");
        ok(lines, "verbs", "processes", "memlock");
    }

    @Test
    void missingNativeAccessFailsAndNamesTheFlag() throws Exception {
        Answer a = run(List.of(), CopyProcess.modulePath(), DENIED, "--json");
        assertThat(a.code()).isEqualTo(1);
        Map<String, Line> lines = a.lines();
        assertThat(lines.get("native").verdict()).isEqualTo("no");
        assertThat(lines.get("native").remedy()).contains("--enable-native-access=org.verbena.linux");
        for (String n : List.of("kernel", "memfd", "verbs", "processes", "ptrace", "bpf", "af_xdp", "io_uring")) {
            assertThat(lines.get(n)).as(n).isEqualTo(new Line("no", "not tried: native access is denied",
                    "see native"));
        }
        ok(lines, "java", "capabilities");
        Answer warned = run(List.of(), CopyProcess.modulePath(), List.of(), "--json");
        assertThat(warned.code()).isZero();
        assertThat(warned.lines().get("native").verdict()).isEqualTo("limited");
        ok(warned.lines(), "verbs", "processes");
    }

    /** Memory files cannot have the size that the main job needs; only small ones can. */
    @Test
    void missingSharedMemoryFailsTheMainJobWithARemedy() throws Exception {
        Answer a = json("prlimit", "--fsize=65536:65536");
        assertThat(a.code()).isEqualTo(1);
        Map<String, Line> lines = a.lines();
        for (String n : List.of("verbs", "processes")) {
            assertThat(lines.get(n).verdict()).isEqualTo("no");
            assertThat(lines.get(n).evidence()).contains("EFBIG (" + Errno.text(Errno.EFBIG) + ")");
            assertThat(lines.get(n).remedy()).contains("ulimit -f unlimited");
        }
        assertThat(lines.get("ptrace").remedy()).isEqualTo("see processes");
        ok(lines, "java", "native", "kernel");
        Answer text = run(List.of("prlimit", "--fsize=65536:65536"), CopyProcess.modulePath(), GRANTED);
        assertThat(text.code()).isEqualTo(1);
        assertThat(text.out()).contains("Verbs over shm0 do not work on this machine; see verbs, processes.");
    }

    @Test
    void missingCounterFileKeepsTheMainJobRunning(@TempDir Path dir) throws Exception {
        Path file = Files.createFile(dir.resolve("file"));
        Answer a = run(List.of(), CopyProcess.modulePath(), List.of(GRANTED.getFirst(), "-D" + CounterFolder.PROPERTY
                + "=" + file), "--json");
        assertThat(a.code()).as(a.out()).isZero();
        ok(a.lines(), "verbs", "processes", "ptrace");
        assertThat(a.lines().get("counters").verdict()).isEqualTo("limited");
        assertThat(a.lines().get("counters").evidence()).contains(file.toString());
    }

    /** A library in place of that of the machine: its findings, and the handling of one that ends its process. */
    @Test
    void crashingLibraryIsOneReportLine(@TempDir Path dir) throws Exception {
        needsGcc();
        String names = "#include <errno.h>\nconst char *ibv_get_device_name(char *d) { return d; }"
                + " void ibv_free_device_list(void *l) {} int ibv_close_device(char *c) { *c = 'x'; return 0; }"
                + " char *ibv_open_device(char *d) { static char c[1]; return d[5] < '1' ? c : (errno = EACCES, 0); } ";
        String one = "char **ibv_get_device_list(int *n) { static char *l[] = {\"fake_0\", 0}; *n = 1; return l; }";
        String list = "char **ibv_get_device_list(int *n) ";
        String two = list + "{ static char *l[] = {\"fake_0\", \"fake_1\", 0}; *n = 2; return l; }";
        assertThat(byReport(library(dir, "one", names + one))).satisfies(l -> assertThat(l.verdict()).isEqualTo("ok"))
                .satisfies(l -> assertThat(l.evidence()).contains(dir + "/one/libibverbs.so.1 finds fake_0;"));
        Line shut = byChild(library(dir, "two", names + two));
        assertThat(shut.verdict()).as("listed, but closed to this user").isEqualTo("limited");
        assertThat(shut.evidence()).contains(" finds fake_0, fake_1; ibv_open_device(fake_1): EACCES (").doesNotContain(
                "ibv_open_device(fake_0)");
        assertThat(shut.remedy()).contains("/dev/infiniband/uverbs*");
        Line none = byChild(library(dir, "none", names + list + "{ errno = EPERM; return 0; }"));
        assertThat(none.verdict()).isEqualTo("no");
        assertThat(none.evidence()).contains("ibv_get_device_list(): EPERM");
        assertThat(byChild(library(dir, "old", "int x;")).evidence()).contains("has no function ibv_get_device_list");
        Map<String, String> crashes = Map.of("abort();", "was ended by signal 6", "*(volatile int *) 0 = 1;",
                "SIGSEGV");
        for (Map.Entry<String, String> crash : crashes.entrySet()) {
            Line l = byReport(library(dir, "crash" + crash.getKey().length(), "#include <stdlib.h>\n" + names + list
                    + "{ " + crash.getKey() + " return 0; }"));
            assertThat(l.verdict()).isEqualTo("no");
            assertThat(l.evidence()).contains(crash.getValue());
        }
        try (Stream<Path> left = Files.list(Path.of(""))) {
            assertThat(left.map(Path::toString)).noneMatch(n -> n.startsWith("hs_err") || n.startsWith("core."));
        }
    }

    private static void needsGcc() throws Exception {
        try {
            Process gcc = new ProcessBuilder("gcc", "--version").redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            assertThat(gcc.waitFor()).isZero();
        } catch (IOException absent) {
            System.out.println("SKIPPED: gcc is not installed, which makes a library for the test");
            Assumptions.abort("no gcc");
        }
    }

    private static Path library(Path dir, String name, String program) throws Exception {
        Path folder = Files.createDirectory(dir.resolve(name));
        Path source = Files.writeString(folder.resolve("library.c"), program);
        Process gcc = new ProcessBuilder("gcc", "-w", "-O0", "-shared", "-fPIC", "-o", folder.resolve(LibIbverbs.NAME)
                .toString(), source.toString()).inheritIO().start();
        assertThat(gcc.waitFor()).isZero();
        return folder;
    }

    /** The line about the library of a folder. */
    private static Line byReport(Path folder) throws Exception {
        Answer a = json("env", "LD_LIBRARY_PATH=" + folder);
        assertThat(a.code()).as(a.out()).isZero();
        return a.lines().get("rdma");
    }

    /** The same from the process that looks at the library, whose finding a report repeats. */
    private static Line byChild(Path folder) throws Exception {
        if (Thorough.ON) {
            return byReport(folder);
        }
        Answer a = run(List.of("env", "LD_LIBRARY_PATH=" + folder), CopyProcess.modulePath(), GRANTED, "--as=rdma");
        assertThat(a.code()).as(a.out() + a.err()).isZero();
        JsonNode n = new ObjectMapper().readTree(a.out());
        return new Line(n.get("verdict").textValue(), n.get("evidence").textValue(), n.get("remedy").textValue());
    }

    /** Whether the command starts with this many descriptors. */
    private static boolean starts(int descriptors) throws IOException {
        try (CommandProcess p = CommandProcess.startFrom(CopyProcess.modulePath(), List.of("prlimit", "--nofile="
                + descriptors + ":" + descriptors), "--version")) {
            return p.end().code() == 0;
        }
    }

    /**
     * The missing resource depends on which thread or class needs a descriptor first: a class in a folder needs one
     * too.
     */
    @Test
    void descriptorShortageIsReported() throws Exception {
        int few = 23;
        int least = 64; // depending on the number of its folders and archives
        while (!starts(least)) {
            few = least;
            least *= 2;
        }
        while (few + 1 < least) {
            int middle = (few + least) / 2;
            if (starts(middle)) {
                least = middle;
            } else {
                few = middle;
            }
        }
        for (int more : Thorough.ON ? new int[] {2, 3, 5, 8, 11} : new int[] {2, 5, 11}) {
            String limit = Integer.toString(least + more);
            Answer a = json("prlimit", "--nofile=" + limit + ":" + limit);
            assertThat(a.code()).as(a.out() + a.err()).isEqualTo(1);
            assertThat(a.lines().get("verbs").verdict()).as(a.out()).isEqualTo("no");
            assertThat(a.lines().get("verbs").remedy()).as(a.out()).contains("ulimit -n");
        }
    }

    @Test
    void processNotDumpableKeepsItsRegisteredMemoryPrivate(@TempDir Path dir) throws Exception {
        TestUser.needed("see what a process of the same user may not do");
        TestUser user = TestUser.number(4);
        String classes = CopyProcess.copyClassPath(user.directory(dir, "classes"));
        List<String> command = new ArrayList<>(user.command());
        command.addAll(List.of(Jvm.JAVA,
                "-XX:TieredStopAtLevel=1", "--class-path", classes, "--enable-native-access=ALL-UNNAMED",
                UndumpableCommand.class.getName(), "doctor", "--json"));
        Answer a = run(command);
        assertThat(a.code()).as(a.out() + a.err()).isZero();
        Map<String, Line> lines = a.lines();
        ok(lines, "verbs", "processes");
        assertThat(lines.get("ptrace").verdict()).isEqualTo("limited");
        assertThat(lines.get("ptrace").evidence()).contains("REM_ACCESS_ERR").contains("not dumpable");
        ok(lines, "counters");
    }

    @Test
    void textFitsEightyColumnsAndIsColouredOnTerminalsOnly() throws Exception {
        CommandProcess.Result a = CommandProcess.runHosted("doctor");
        assertThat(a.code()).isZero();
        assertThat(a.err()).isEmpty();
        assertThat(a.out()).doesNotContain("\033").contains("Verbs over shm0 work on this machine.");
        assertThat(a.out().lines()).allSatisfy(l -> assertThat(l).hasSizeLessThanOrEqualTo(80));
        int unused = a.out().indexOf("Not used by Verbena yet");
        assertThat(unused).isPositive();
        for (String name : CHECKS) {
            boolean used = !UNUSED.contains(name);
            assertThat(used ? a.out().substring(0, unused) : a.out().substring(unused)).containsPattern(
                    "(?m)^(ok|limited|" + (used ? "no" : "absent") + ") +" + name + " ");
        }
        assertThat(a.out().substring(unused)).as("nothing is to be done for these").doesNotContain("→");
        ProcessBuilder terminal = new ProcessBuilder("script", "-qec", TerminalTest.verbena() + "doctor", "/dev/null")
                .redirectInput(new File("/dev/null"));
        terminal.environment().keySet().removeAll(List.of("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"));
        terminal.environment().putAll(Map.of("TERM", "xterm", "SHELL", "/bin/sh"));
        Process p = terminal.start();
        String shown = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(p.waitFor()).isZero();
        assertThat(shown).contains("\033[32mok").contains("\033[1m");
    }

    @Test
    void outputOfTheJvmIsExcludedFromAnswers(@TempDir Path dir) throws Exception {
        Answer a = run(List.of(), CopyProcess.modulePath(), List.of(GRANTED.getFirst(), "-Xlog:gc+init",
                "-XX:StartFlightRecording:filename=" + dir.resolve("doctor.jfr")));
        assertThat(a.out()).as("the JVM prints").containsPattern("\\[info *]\\[gc,init").contains(
                "Verbs over shm0 work on this machine.");
        assertThat(a.code()).as(a.out()).isZero();
    }

    @Test
    void wrongUsageIsReported() throws Exception {
        CommandProcess.Result wrong = CommandProcess.runHosted("doctor", "--nonsense");
        assertThat(wrong.code()).isEqualTo(2);
        assertThat(wrong.err()).contains("--nonsense");
        assertThat(run(List.of(), CopyProcess.modulePath(), GRANTED, "--as=nobody").code()).isEqualTo(2);
        CommandProcess.Result help = CommandProcess.runHosted("doctor", "--help");
        assertThat(help.code()).isZero();
        assertThat(help.out()).contains("verbs over shm0").doesNotContain("--as");
    }
}
