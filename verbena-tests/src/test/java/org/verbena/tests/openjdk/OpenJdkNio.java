// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.openjdk;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.verbena.testkit.Jvm;
import org.verbena.tests.DebianArchive;
import org.verbena.tests.Repository;
import org.verbena.tests.agent.AgentArchive;
import org.verbena.tests.agent.AgentJar;
import org.verbena.tests.openjdk.Expectations.Kind;

/**
 * Runs OpenJDK's tests of {@code java.nio.channels}, and of the classic sockets of {@code java.net}, on our sockets,
 * through the selector provider and through the agent, and those that fail there on the sockets of the JDK: tests that
 * pass there must pass here, and those that the expectations name must fail. {@code .ci/run} starts it; a person may
 * with
 *
 * <pre>
 * config/openjdk-nio [--only=REGEX] [--jobs=6] [--repeat=1] [--both] [--full]
 * </pre>
 *
 * where {@code --both} runs all on the JDK's sockets too, {@code --repeat} runs ours that often, and {@code --full} runs those
 * too that take minutes.
 */
final class OpenJdkNio {
    private static final List<String> FOLDERS = List.of("SocketChannel", "ServerSocketChannel", "DatagramChannel",
            "Selector", "SelectionKey", "Pipe", "Channels", "etc", "vthread", "spi", "unixdomain",
            "AsynchronousSocketChannel", "AsynchronousServerSocketChannel", "AsynchronousChannelGroup", "FileChannel");
    /** Of this folder those that move bytes between files and sockets. */
    private static final String FILES = "FileChannel";
    /** Of {@code java.net}, whose tests are named {@code net/…}. */
    private static final List<String> CLASSIC = List.of("ServerSocket", "Socket", "SocketImpl", "SocketInputStream",
            "SocketOption", "Socks");
    private static final String NET = "net/";
    /** Tests that measure time or open all descriptors: they run alone. */
    private static final Pattern ALONE = Pattern.compile(
            ".*(WakeupSpeed|SelectorLimit|SelectorOps|BlockingChannelOps|UnreferencedSockets).*");
    /** Tests that share multicast groups and ports: one after the other, beside the rest. */
    private static final Pattern MULTICAST = Pattern.compile(".*(Multicast|Promiscuous|ManySources|Loopback).*");
    private static final String SPI = "-Djava.nio.channels.spi.";
    /** Most connections of these tests are over within milliseconds. */
    private static final String AT_ONCE = "-Dverbena.stream.delay=0";
    /** Where rings have to carry bytes: how long the first of a connection waits for them, on a machine that is busy. */
    private static final String FROM_THE_FIRST_BYTE = "-Dverbena.stream.wait=20000";
    private static final int SHOWN_LINES = 40;

    private final Path folder = Repository.root().resolve("verbena-tests/target/openjdk");
    private final Map<String, String> options;
    private final Path expectationsFile = Repository.root().resolve("verbena-tests/openjdk-nio.expectations");

    private OpenJdkNio(Map<String, String> options) {
        this.options = options;
    }

    public static void main(String[] args) throws Exception {
        Map<String, String> options = Arrays.stream(args).map(a -> a.split("=", 2)).collect(Collectors.toMap(
                a -> a[0], a -> a.length > 1 ? a[1] : ""));
        for (String o : options.keySet()) {
            if (!List.of("--only", "--jobs", "--repeat", "--both", "--full").contains(o)) {
                System.err.println("unknown option " + o);
                System.exit(2);
            }
        }
        System.exit(new OpenJdkNio(options).run());
    }

    private int run() throws IOException, InterruptedException {
        Files.createDirectories(folder);
        Sources sources = new Sources(folder);
        Path tests;
        try {
            tests = sources.tests();
        } catch (DebianArchive.Unavailable e) {
            System.err.println("openjdk-nio: OpenJDK's tests cannot be fetched here: " + e.getMessage().replace('\n',
                    ' ')
                    + ": give apt a Debian archive that can be reached, or put what another machine has fetched into "
                    + folder + ".");
            return 1;
        }
        System.out.println("OpenJDK's tests from " + sources.version() + " on Java " + Runtime.version());
        Expectations expectations = new Expectations(expectationsFile);
        List<JtregTest> all = new ArrayList<>(find(tests.resolve("jdk/java/nio/channels"), "", FOLDERS));
        all.addAll(find(tests.resolve("jdk/java/net"), NET, CLASSIC));
        List<String> problems = new ArrayList<>();
        for (String name : expectations.named().keySet()) {
            if (all.stream().noneMatch(t -> t.name().equals(name))) {
                problems.add(name + ": " + expectationsFile.getFileName() + " names it, but there is no such test");
            }
        }
        Pattern only = Pattern.compile(options.getOrDefault("--only", ".*"));
        List<JtregTest> chosen = all.stream().filter(t -> only.matcher(t.name()).find()).filter(JtregTest::fits)
                .filter(t -> expectations.of(t.name()).kind() != Kind.NOT_RUN)
                .filter(t -> options.containsKey("--full") || expectations.of(t.name()).kind() != Kind.LONG).toList();
        if (chosen.isEmpty()) {
            System.out.println("OpenJDK's tests: none is named so");
            return 1;
        }
        Natives.build(tests, folder.resolve("native"));
        Map<String, Boolean> ours = new TreeMap<>();
        int repeat = Integer.parseInt(options.getOrDefault("--repeat", "1"));
        List<JtregTest> comparable = chosen.stream()
                .filter(t -> expectations.of(t.name()).kind() != Kind.FAILS_ON_JDK).toList();
        RingTraffic traffic = RingTraffic.NOTHING;
        Map<String, RingTraffic> least = new TreeMap<>();
        Function<JtregTest, Programs> how = ours(tests, expectations);
        Predicate<JtregTest> toFail = t -> expectations.of(t.name()).kind() == Kind.FAILS;
        for (int i = 0; i < repeat; i++) {
            for (Map.Entry<String, Programs.Verdict> e : run(how, comparable, toFail).entrySet()) {
                ours.merge(e.getKey(), e.getValue().passed(), Boolean::logicalAnd);
                least.merge(e.getKey(), e.getValue().traffic(), RingTraffic::lesser);
                traffic = traffic.plus(e.getValue().traffic());
            }
        }
        Map<String, Boolean> jdk = jdk(tests, chosen.stream().filter(t -> options.containsKey("--both")
                || !ours.getOrDefault(t.name(), false)).toList(), expectations);
        all.stream().filter(t -> !chosen.contains(t) && only.matcher(t.name()).find()).forEach(t -> System.out.println(
                "not run " + t.name() + ": " + (t.fits() ? expectations.of(t.name()).reason() : t.requires())));
        for (JtregTest t : chosen) {
            problem(t.name(), expectations.of(t.name()), jdk.get(t.name()), ours.get(t.name()), problems);
            RingTraffic rings = least.get(t.name());
            if (rings != null && rings.bytes() < expectations.of(t.name()).bytesByRing()) {
                problems.add(String.format("%s: rings carried %d bytes, and the expectations say at least %d; "
                        + "%d ends agreed, TCP carried to their end %s", t.name(), rings.bytes(), expectations.of(t
                                .name()).bytesByRing(), rings.ends(), rings.fallbacks()));
            }
        }
        problems.forEach(p -> System.out.println("PROBLEM " + p));
        System.out.printf("By rings: %d bytes over %d ends of connections, in %d of the %d runs that had connections%n",
                traffic.bytes(), traffic.ends(), traffic.byStream(), traffic.programs());
        System.out.printf("OpenJDK's tests: %d run on ours, %d passed; %d run on the JDK's provider, %d passed; "
                + "%d exceptions named; %d problems%n", ours.size(), passed(ours), jdk.size(), passed(jdk),
                chosen.stream().filter(t -> !expectations.of(t.name()).isToPass()).count(), problems.size());
        return problems.isEmpty() ? 0 : 1;
    }

    private static long passed(Map<String, Boolean> verdicts) {
        return verdicts.values().stream().filter(v -> v).count();
    }

    /**
     * Adds unexpected results.
     *
     * @param jdk null if it was not run there
     * @param ours null if it was not run there
     */
    private static void problem(String name, Expectations.Expectation expected, @Nullable Boolean jdk,
            @Nullable Boolean ours, List<String> problems) {
        boolean passes = Boolean.TRUE.equals(ours);
        boolean passesOnJdk = Boolean.TRUE.equals(jdk);
        switch (expected.kind()) {
            case FAILS_ON_JDK -> {
                if (passesOnJdk) {
                    problems.add(name + ": passes on the JDK's provider although the expectations say: "
                            + expected.reason());
                }
            }
            case FAILS -> {
                if (passes || !passesOnJdk) {
                    problems.add(name + (passes ? ": passes" : ": fails on the JDK's provider too")
                            + " although the expectations say it fails on ours: " + expected.reason());
                }
            }
            default -> {
                if (!passes) {
                    problems.add(name + ": fails on ours, and " + (passesOnJdk ? "passes" : "fails")
                            + " on the JDK's provider; see above for its output");
                } else if (Boolean.FALSE.equals(jdk)) {
                    problems.add(name + ": passes on ours and fails on the JDK's provider");
                }
            }
        }
    }

    private static List<JtregTest> find(Path root, String prefix, List<String> folders) throws IOException {
        List<JtregTest> found = new ArrayList<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path f : files.filter(p -> p.toString().endsWith(".java")).sorted().toList()) {
                Path below = root.relativize(f);
                if (below.getNameCount() == 1 || folders.contains(below.getName(0).toString())) {
                    if (!below.startsWith(FILES) || Files.readString(f, ISO_8859_1).contains("SocketChannel")) {
                        found.addAll(JtregTest.of(root, prefix, f));
                    }
                }
            }
        }
        return found;
    }

    /** The verdicts of the JDK's own provider. */
    private Map<String, Boolean> jdk(Path tests, List<JtregTest> doubtful, Expectations expectations)
            throws IOException, InterruptedException {
        Programs stock = programs(tests, "jdk", List.of(), "", false);
        Map<String, Boolean> verdicts = new TreeMap<>();
        run(t -> stock, doubtful, t -> expectations.of(t.name()).kind() == Kind.FAILS_ON_JDK)
                .forEach((t, v) -> verdicts.put(t, v.passed()));
        return verdicts;
    }

    /** Channels by the selector provider, classic sockets by the agent. */
    private Function<JtregTest, Programs> ours(Path tests, Expectations expectations) throws IOException {
        List<String> provider = new ArrayList<>(Jvm.CHANNELS_ON_CLASS_PATH);
        provider.addAll(List.of(AT_ONCE, SPI + "SelectorProvider=org.verbena.sockets.VerbenaSelectorProvider",
                SPI + "AsynchronousChannelProvider=org.verbena.sockets.VerbenaAsynchronousChannelProvider"));
        List<String> agent = plus(List.of(AT_ONCE, "-javaagent:" + AgentJar.in(folder) + "=quiet,stream.earn=0"),
                AgentArchive.options());
        String path = classPath("verbena-(linux|telemetry|verbs|shm|sockets)/|jspecify");
        Programs channels = programs(tests, "verbena", provider, path, false);
        Programs classic = programs(tests, "agent", agent, "", false);
        Programs channelsByRing = programs(tests, "verbena", plus(provider, List.of(FROM_THE_FIRST_BYTE)), path, true);
        Programs classicByRing = programs(tests, "agent", plus(agent, List.of(FROM_THE_FIRST_BYTE)), "", true);
        return t -> {
            boolean byRing = expectations.of(t.name()).kind() == Kind.STREAM;
            return t.name().startsWith(NET) ? byRing ? classicByRing : classic : byRing ? channelsByRing : channels;
        };
    }

    private static List<String> plus(List<String> options, List<String> more) {
        return Stream.concat(options.stream(), more.stream()).toList();
    }

    private Programs programs(Path tests, String provider, List<String> jvm, String path, boolean sessionFirst)
            throws IOException {
        String frameworks = classPath("(junit|opentest4j|apiguardian|testng|jcommander|slf4j)[^/]*$");
        String own = classPath("verbena-tests/[^/]*/.*classes$");
        String jars = path.isEmpty() ? frameworks : frameworks + ":" + path;
        List<String> all = path.isEmpty()
                ? jvm
                : plus(jvm, ProgramArchive.options(plus(jvm, List.of(FROM_THE_FIRST_BYTE)), jars, own));
        Path scratch = Files.createDirectories(folder.resolve("run-" + provider));
        return new Programs(tests, scratch, new Compiled(tests, folder.resolve("classes"), frameworks), jars, own,
                folder.resolve("native"), all, sessionFirst);
    }

    /** The parts of our own class path that match. */
    private static String classPath(String pattern) {
        Pattern p = Pattern.compile(pattern);
        return Arrays.stream(System.getProperty("java.class.path").split(":", -1)).filter(e -> p.matcher(e).find())
                .collect(Collectors.joining(":"));
    }

    private Map<String, Programs.Verdict> run(Function<JtregTest, Programs> how, List<JtregTest> tests,
            Predicate<JtregTest> toFail) throws InterruptedException, IOException {
        Map<String, Programs.Verdict> verdicts = new TreeMap<>();
        int jobs = Integer.parseInt(options.getOrDefault("--jobs", "6"));
        try (ExecutorService many = Executors.newFixedThreadPool(jobs);
                ExecutorService one = Executors.newSingleThreadExecutor()) {
            Map<JtregTest, Future<Programs.Verdict>> running = new LinkedHashMap<>();
            for (JtregTest t : tests) {
                if (!ALONE.matcher(t.name()).matches()) {
                    ExecutorService lane = MULTICAST.matcher(t.name()).matches() ? one : many;
                    running.put(t, lane.submit(() -> how.apply(t).run(t)));
                }
            }
            for (Map.Entry<JtregTest, Future<Programs.Verdict>> e : running.entrySet()) {
                report(e.getKey(), e.getValue().get(), toFail.test(e.getKey()), verdicts);
            }
        } catch (ExecutionException e) {
            throw new IOException("a test could not be started", e.getCause());
        }
        for (JtregTest t : tests) {
            if (ALONE.matcher(t.name()).matches()) {
                report(t, how.apply(t).run(t), toFail.test(t), verdicts);
            }
        }
        return verdicts;
    }

    /** Says how a test ended, and what it printed where that is not what the expectations name. */
    private static void report(JtregTest test, Programs.Verdict v, boolean toFail,
            Map<String, Programs.Verdict> verdicts) throws IOException {
        verdicts.put(test.name(), v);
        RingTraffic c = v.traffic();
        System.out.printf("%s %5.1f s %s%s%n", v.passed() ? "pass" : toFail ? "expected to fail, fails" : "FAIL", v
                .seconds(), test.name(),
                c.ends() > 0 ? ", " + c.bytes() + " bytes by rings, " + c.ends() + " ends agreed" : "");
        if (!v.passed() && !toFail) {
            List<String> lines = Files.readAllLines(v.output(), ISO_8859_1);
            lines.subList(Math.max(0, lines.size() - SHOWN_LINES), lines.size())
                    .forEach(l -> System.out.println("    | " + l));
        }
    }
}
