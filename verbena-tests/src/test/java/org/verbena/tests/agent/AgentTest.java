// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.DataInputStream;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipFile;

import javax.tools.ToolProvider;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.verbena.testkit.Finished;
import org.verbena.testkit.Jvm;
import org.verbena.tests.ProgramLane;

/** {@code -javaagent:verbena-agent.jar} in programs that know nothing of it, each in its own process. */
@ProgramLane
class AgentTest {
    private static final String OURS = "org.verbena.sockets.VerbenaSelectorProvider";
    private static final String JDKS = "sun.nio.ch.EPollSelectorProvider";
    private static final String ACTIVE = "verbena: active: sockets are those of Verbena\n";

    @TempDir static Path dir;
    private static Path jar;
    private static Path classes;

    @BeforeAll
    static void prepare() throws Exception {
        jar = AgentJar.in(dir);
        classes = AgentJar.program(dir);
    }

    private static String agent(String arguments) {
        return "-javaagent:" + jar + (arguments.isEmpty() ? "" : "=" + arguments);
    }

    private static AgentRun run(List<String> options, String... words) throws Exception {
        return AgentRun.of(AgentRun.command(AgentRun.java(), options, classes, words), dir);
    }

    @Test
    void programGetsVerbenaChannelsAndOneLogLine() throws Exception {
        AgentRun r = run(List.of(agent("")), "provider", "same", "unnamed", "select", "echo", "wait", "exit7");
        assertThat(r).isEqualTo(new AgentRun(7, "provider " + OURS
                + "\nsame true true\nunnamed false\nselect 0\necho hello\n", ACTIVE));
    }

    @Test
    void jarThatIsStartedSaysHowItIsUsed() throws Exception {
        Finished f = Finished.run(Jvm.JAVA, "-jar", jar.toString());
        assertThat(f.output()).startsWith("verbena: this jar is an agent: ").hasLineCount(1);
        assertThat(f.code()).isEqualTo(2);
    }

    @Test
    void programWithoutChannelsGetsNoLogLine() throws Exception {
        assertThat(run(List.of(agent("")))).isEqualTo(new AgentRun(0, "", ""));
    }

    @Test
    void fileIsTransferredByTheChannelWithoutMapping() throws Exception {
        assertThat(run(List.of(agent("")), "wait", "file")).isEqualTo(new AgentRun(0, "file true sendFile\n", ACTIVE));
        assertThat(run(List.of(agent("rules=use os tcp_client *:*")), "wait", "file"))
                .isEqualTo(new AgentRun(0, "file true sendFile\n", ACTIVE));
    }

    /** Policies that check all callers on the stack see the program, as if the classes of the JDK did the call. */
    @Test
    void policyAllowsTheImplementationEverything() throws Exception {
        assertThat(run(List.of(agent("quiet")), "domain", "wait")).isEqualTo(new AgentRun(0, "domain true\n", ""));
    }

    @Test
    void quietOptionPrintsNothing() throws Exception {
        assertThat(run(List.of(agent("quiet")), "provider", "wait"))
                .isEqualTo(new AgentRun(0, "provider " + OURS + "\n", ""));
    }

    @Test
    void nativeAccessNeedsNoOptionAndWarnsNot() throws Exception {
        assertThat(run(List.of("--illegal-native-access=deny", agent("")), "echo", "wait"))
                .isEqualTo(new AgentRun(0, "echo hello\n", ACTIVE));
    }

    @Test
    void agentNamedTwiceIsInstalledOnce() throws Exception {
        assertThat(run(List.of(agent("counters=off"), agent("counters=on")), "echo", "property", "wait"))
                .isEqualTo(new AgentRun(0, "echo hello\nproperty off\n",
                        "verbena: the agent is here already: the arguments 'counters=on' are not read\n" + ACTIVE));
        assertThat(run(List.of(agent("counters=off"), agent("counters=off"), agent("")), "echo", "wait"))
                .isEqualTo(new AgentRun(0, "echo hello\n", ACTIVE));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "spim=3 | 1 | 'spim' is not known; there are ",
        "quiet,verbena.spim=3 | 7 | 'spim' is not known",
        "counters=off,counters=perhaps | 14 | 'counters' takes on or off, not 'perhaps'",
        "counters | 1 | 'counters' is neither 'quiet' nor key=value",
        "counters=off, | 14 | nothing between two commas",
        "=x | 1 | '=x' is neither",
        "shm.trusted-uids=1\\,x | 1 | takes user numbers, with commas between them, not '1,x'",
    })
    void wrongArgumentsAreRefused(String arguments, int column, String why) throws Exception {
        AgentRun r = run(List.of(agent(arguments)), "provider");
        assertThat(r.code()).isEqualTo(1);
        assertThat(r.out()).isEmpty();
        assertThat(r.err()).startsWith("verbena: agent arguments, line 1, column " + column + ": ").contains(why);
        assertThat(r.err().lines()).hasSize(1);
    }

    @Test
    void wrongRulesAreRefused() throws Exception {
        Path file = Files.writeString(dir.resolve("wrong.conf"), "# one\nuse os tcp_client *:1\nuse os tcp_cleint *:2");
        String where = file + ", line 3, column 8: unknown word 'tcp_cleint', here must be one of tcp_client, ";
        for (List<String> options : List.of(List.of(agent("rules.file=" + file)),
                List.of(agent(""), "-Dverbena.rules.file=" + file))) {
            AgentRun r = run(options, "provider");
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.out()).isEmpty();
            assertThat(r.err()).startsWith("verbena: " + where);
            assertThat(r.err().lines()).hasSize(1);
        }
        assertThat(run(List.of(agent("rules=use os tcp_client *:99999")), "provider").err())
                .startsWith("verbena: verbena.rules, line 1, column 21: '99999' is too large");
        assertThat(run(List.of(agent("rules.file=/no/such")), "provider").err())
                .startsWith("verbena: the file of rules /no/such cannot be read (");
    }

    /** Both ends of the echo's connection are this program's. */
    @ParameterizedTest
    @CsvSource({"-jar, orders-1.0.jar, true", "-jar, orders-1.0, true", "-jar, ord*, true", "-jar, orders, false",
        "-cp, Report, true", "-cp, orders-1.0.jar, false"})
    void rulesMatchAProgramByJarOrMainClass(String option, String program, boolean meant) throws Exception {
        Path folder = Files.createTempDirectory(dir, "jar");
        Path app = AgentJar.runnable(classes, "Report", folder.resolve("orders-1.0.jar"));
        Path rules = Files.writeString(folder.resolve("rules.conf"), "application-id " + program + " *\n"
                + "use os tcp_server *:*\nuse os tcp_client *:*\n");
        Path summary = folder.resolve("summary");
        List<String> command = Jvm.command(agent("quiet,rules.file=" + rules + ",summary=" + summary), option, app
                .toString());
        command.addAll(option.equals("-jar") ? List.of("echo") : List.of("Report", "echo"));
        assertThat(AgentRun.of(command, dir)).isEqualTo(new AgentRun(0, "echo hello\n", ""));
        assertThat(Files.readString(summary)).contains("\"opened\":2,");
        if (meant) {
            assertThat(Files.readString(summary)).contains("\"fallbacks\":{\"rule\":2}");
        } else {
            assertThat(Files.readString(summary)).doesNotContain("\"rule\"");
        }
    }

    /** Older JVMs load these two classes, to report that they are too old; the rest is for Java 25. */
    @ParameterizedTest
    @CsvSource({"Premain, 52", "SocketHook, 52", "Activation, 69"})
    void premainClassIsCompiledForJava8(String name, int major) throws Exception {
        try (ZipFile zip = new ZipFile(jar.toFile());
                DataInputStream in = new DataInputStream(zip.getInputStream(zip.getEntry("org/verbena/agent/" + name
                        + ".class")))) {
            assertThat(in.readInt()).isEqualTo(0xCAFEBABE);
            assertThat(in.readUnsignedShort()).as("minor version").isZero();
            assertThat(in.readUnsignedShort()).as("major version").isEqualTo(major);
        }
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            spim,    3,   is not known; there are classic
            offload, OFF, "takes on or off, not 'OFF'"
            spin,    abc, "takes microseconds, 0 to 1000000, not 'abc'"
            """, quoteCharacter = '"')
    void wrongPropertiesAreRefused(String name, String value, String why) throws Exception {
        AgentRun r = run(List.of(agent(""), "-Dverbena." + name + "=" + value), "provider");
        assertThat(r.code()).isEqualTo(1);
        assertThat(r.out()).isEmpty();
        assertThat(r.err()).startsWith("verbena: the system property verbena." + name + " ").contains(why);
        assertThat(r.err().lines()).hasSize(1);
    }

    @Test
    void agentArgumentsSetProperties() throws Exception {
        assertThat(run(List.of(agent("quiet,counters=off,shm.trusted-uids=1\\,2")), "property").out())
                .isEqualTo("property off\n");
    }

    @Test
    void oldJavaIsLeftUnchanged() throws Exception {
        Optional<Path> old = AgentRun.oldJava();
        if (old.isEmpty()) {
            System.out.println("AgentTest.oldJavaIsLeftUnchanged: skipped, /usr/lib/jvm has no Java older than 25");
        }
        assumeTrue(old.isPresent());
        AgentRun r = AgentRun.of(AgentRun.command(old.get(), List.of(agent("")), classes, "provider", "echo", "exit3"),
                dir);
        assertThat(r.code()).isEqualTo(3);
        assertThat(r.out()).isEqualTo("provider " + JDKS + "\necho hello\n");
        assertThat(r.err()).matches("verbena: not active: this is Java [0-9.]+, and Verbena needs 25 or newer: "
                + "put the bin of such a JDK first on PATH, or name its java\n");
        assertThat(AgentRun.of(AgentRun.command(old.get(), List.of(agent("quiet")), classes, "echo"), dir))
                .isEqualTo(new AgentRun(0, "echo hello\n", ""));
    }

    @Test
    void selectorProviderOfTheProgramStays() throws Exception {
        String line = "verbena: not active: this program has a selector provider of its own, " + JDKS + "\n";
        assertThat(run(List.of(agent(""), "-Djava.nio.channels.spi.SelectorProvider=" + JDKS), "provider", "echo"))
                .isEqualTo(new AgentRun(0, "provider " + JDKS + "\necho hello\n", line));
        assertThat(run(List.of(agent("")), "own", "provider", "echo"))
                .isEqualTo(new AgentRun(0, "provider " + JDKS + "\necho hello\n", line));
    }

    @Test
    void withoutSharedMemoryTheKernelCarriesAll() throws Exception {
        List<String> command = new ArrayList<>(List.of("prlimit", "--fsize=0"));
        command.addAll(AgentRun.command(AgentRun.java(), List.of("-XX:-UsePerfData", agent("stream.earn=0")), classes,
                "wait"));
        List<String> shell = List.of("sh", "-c", command.stream().map(c -> "'" + c + "'")
                .collect(Collectors.joining(" ")) + " 2>&1 | cat"); // the limit is for files, not for pipes
        AgentRun r = AgentRun.of(shell, dir);
        assertThat(r.out()).startsWith("verbena: all connections are the kernel's: there is no shared memory (");
        assertThat(r.out().lines()).hasSize(1);
    }

    @Test
    void runtimeWithoutFlightRecorderSuffices() throws Exception {
        assertThat(run(List.of(agent(""), "--limit-modules", "java.base,java.instrument"), "provider", "echo", "wait"))
                .isEqualTo(new AgentRun(0, "provider " + OURS + "\necho hello\n", ACTIVE));
    }

    // ---- programs that ship Verbena

    /** A Verbena shipped by the program that reports a sufficient version, and fails when it is asked for sockets. */
    private static Path broken(String name, String provider, String sockets) throws Exception {
        Path source = Files.createDirectories(dir.resolve(name + "/source"));
        Path made = Files.createDirectories(dir.resolve(name + "/classes"));
        Files.writeString(source.resolve("Sys.java"), "package org.verbena.linux; public final class Sys {}");
        Files.writeString(source.resolve("DropIn.java"), """
                package org.verbena.sockets;
                import java.lang.invoke.MethodHandles;
                import java.net.SocketImpl;
                import java.nio.channels.spi.SelectorProvider;
                import java.util.Set;
                import java.util.function.Function;
                import java.util.function.Supplier;
                public final class DropIn {
                    public static int level() { return 1000; }
                    public static String refusal(String name, String value) { return null; }
                    public static String mistake() { return null; }
                    public static String problem() { return null; }
                    public static Runnable atExit() { return null; }
                    public static Runnable expectPolicies() { return () -> {}; }
                    public static void reachSocketImplBy(Supplier<MethodHandles.Lookup> lookup) {}
                    public static void changed(Set<String> parts) {}
                    public static String takenBack() { return ""; }
                    public static SelectorProvider provider() throws Exception { %s }
                    public static Function<Boolean, SocketImpl> sockets() {
                        return server -> { %s };
                    }
                    public static Function<SocketImpl, SocketImpl> accepting() {
                        return listener -> { %s };
                    }
                }
                """.formatted(provider, sockets, sockets));
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, "-d", made.toString(), source.resolve(
                "Sys.java").toString(), source.resolve("DropIn.java").toString())).isZero();
        return made;
    }

    @Test
    void internalFailureLeavesTheSocketsOfTheJdk() throws Exception {
        Path all = broken("all", "throw new StackOverflowError(\"broken\");", "throw new AssertionError();");
        AgentRun r = run(List.of(agent(""), "-cp", classes + File.pathSeparator + all), "classic", "provider", "echo",
                "wait");
        assertThat(r.code()).isZero();
        assertThat(r.out()).isEqualTo("classic hello\nprovider " + JDKS + "\necho hello\n");
        assertThat(r.err()).startsWith("verbena: not active, all sockets are the kernel's: ").contains("broken");
        assertThat(r.err().lines()).hasSize(1);
        Path classic = broken("classic", "return (SelectorProvider) Class.forName(\"" + JDKS
                + "\").getConstructor().newInstance();", "throw new AssertionError(\"broken\");");
        r = run(List.of(agent(""), "-cp", classes + File.pathSeparator + classic), "classic", "classic", "echo",
                "wait");
        assertThat(r.code()).isZero();
        assertThat(r.out()).isEqualTo("classic hello\nclassic hello\necho hello\n");
        assertThat(r.err().lines().filter(l -> l.startsWith("verbena: classic sockets stay the JDK's: "
                + "java.lang.AssertionError: broken"))).hasSize(1);
    }

    private static String classPath(Path sockets) {
        return Stream.of(classes, sockets, AgentJar.onClassPath("linux"), AgentJar.onClassPath("telemetry"), AgentJar
                .onClassPath("verbs"),
                AgentJar.onClassPath("shm")).map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    @Test
    void verbenaOfTheProgramIsPreferred() throws Exception {
        String line = "verbena: active: sockets are those of the application's own Verbena\n";
        assertThat(run(List.of("--illegal-native-access=deny", agent(""), "-cp",
                classPath(AgentJar.onClassPath("sockets"))), "provider", "unnamed", "echo", "wait"))
                .isEqualTo(new AgentRun(0, "provider " + OURS + "\nunnamed true\necho hello\n", line));
        String modules = Arrays.stream(classPath(AgentJar.onClassPath("sockets")).split(File.pathSeparator)).skip(1)
                .collect(Collectors.joining(File.pathSeparator));
        assertThat(run(List.of("--illegal-native-access=deny", agent(""), "-p", modules, "--add-modules",
                "org.verbena.sockets"), "provider", "unnamed", "echo", "wait"))
                .isEqualTo(new AgentRun(0, "provider " + OURS + "\nunnamed false\necho hello\n", line));
    }

    /** A program that sets its own Verbena by the JDK property gets what that needs from the agent. */
    @Test
    void verbenaOfTheProgramMayBeSetByTheJdkProperty() throws Exception {
        assertThat(run(List.of("--illegal-native-access=deny", agent(""),
                "-Djava.nio.channels.spi.SelectorProvider=" + OURS, "-cp",
                classPath(AgentJar.onClassPath("sockets"))), "provider", "echo"))
                .isEqualTo(new AgentRun(0, "provider " + OURS + "\necho hello\n",
                        "verbena: not active: this program has a selector provider of its own, " + OURS + "\n"));
    }

    /** Only the JDK property: an invalid value fails the first channel, an unknown property is reported. */
    @Test
    void propertiesAreReadWithoutTheAgent() throws Exception {
        List<String> options = new ArrayList<>(Jvm.CHANNELS_ON_CLASS_PATH);
        options.addAll(List.of("-Djava.nio.channels.spi.SelectorProvider=" + OURS, "-cp", classPath(AgentJar
                .onClassPath("sockets"))));
        options.add("-Dverbena.spim=3");
        AgentRun r = run(options, "provider", "echo");
        assertThat(r.code()).isZero();
        assertThat(r.out()).isEqualTo("provider " + OURS + "\necho hello\n");
        assertThat(r.err()).contains("the system property verbena.spim is not known; there are ");
        options.set(options.size() - 1, "-Dverbena.spin=fast");
        r = run(options, "provider");
        assertThat(r.code()).isEqualTo(1);
        assertThat(r.err()).contains("the system property verbena.spin takes microseconds, 0 to 1000000, not 'fast'");
    }

    @Test
    void tooOldVerbenaIsSkipped() throws Exception {
        Path old = AgentJar.copy(AgentJar.onClassPath("sockets"), dir.resolve("old-sockets.jar"),
                n -> !n.contains("DropIn"));
        assertThat(run(List.of(agent(""), "-cp", classPath(old)), "provider", "unnamed", "echo", "wait"))
                .isEqualTo(new AgentRun(0, "provider " + OURS + "\nunnamed false\necho hello\n", ACTIVE));
    }

    @Test
    void incompleteVerbenaIsSkipped() throws Exception {
        String half = classes + File.pathSeparator + AgentJar.onClassPath("sockets");
        assertThat(run(List.of(agent(""), "-cp", half), "provider", "unnamed", "echo", "wait"))
                .isEqualTo(new AgentRun(0, "provider " + OURS + "\nunnamed false\necho hello\n", ACTIVE));
        assertThat(Files.isRegularFile(jar)).isTrue();
    }
}
