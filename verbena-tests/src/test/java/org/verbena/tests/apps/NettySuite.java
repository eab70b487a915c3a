// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipFile;

import org.verbena.testkit.Folders;
import org.verbena.testkit.Jvm;
import org.verbena.tests.Repository;
import org.verbena.tests.apps.App.By;
import org.verbena.tests.openjdk.Expectations;
import org.verbena.tests.openjdk.Expectations.Kind;

/**
 * Runs Netty's own tests of its transports, of NIO, from the jar that Netty publishes: first on the JDK's provider,
 * then under Verbena. Tests that pass there must pass here, except those in {@code
 * verbena-tests/netty-suite.expectations}, and rings must have carried bytes.
 *
 * <pre>
 * config/netty-suite [--only=REGEX] [--full]
 * </pre>
 */
final class NettySuite {
    private static final String FOLDER = "io/netty/testsuite/transport/socket/";
    private static final int LIMIT_MINUTES = 20;
    private static final int SHOWN = 200;
    private static final int TRACE = 12;

    private final Path expectationsFile = Repository.root().resolve("verbena-tests/netty-suite.expectations");
    private final Expectations expectations;
    private final Path scratch;

    private NettySuite(Path scratch) throws IOException {
        expectations = new Expectations(expectationsFile);
        this.scratch = scratch;
    }

    public static void main(String[] args) throws Exception {
        Map<String, String> options = Arrays.stream(args).map(a -> a.split("=", 2)).collect(Collectors.toMap(
                a -> a[0], a -> a.length > 1 ? a[1] : ""));
        for (String o : options.keySet()) {
            if (!List.of("--only", "--full").contains(o)) {
                System.err.println("unknown option " + o);
                System.exit(2);
            }
        }
        Path scratch = Files.createTempDirectory("verbena-netty");
        int code;
        try {
            code = new NettySuite(scratch).run(Pattern.compile(options.getOrDefault("--only", ".*")),
                    options.containsKey("--full"));
        } finally {
            Folders.remove(scratch);
        }
        System.exit(code);
    }

    private int run(Pattern only, boolean full) throws IOException, InterruptedException {
        List<String> classes = classes(only, full);
        if (classes.isEmpty()) {
            System.out.println("Netty's tests: none is named so");
            return 1;
        }
        Map<String, String> jdk = run(By.PLAIN, classes);
        Map<String, String> ours = run(By.VERBENA, classes);
        List<String> problems = new ArrayList<>();
        jdk.forEach((test, verdict) -> problem(test, verdict, ours.getOrDefault(test, "MISSING"), problems));
        ours.keySet().stream().filter(t -> !jdk.containsKey(t)).forEach(t -> problems.add(t
                + ": runs under Verbena only"));
        for (String name : expectations.named().keySet()) {
            if (name.contains("#") && classes.contains(name.split("#", -1)[0]) && !jdk.containsKey(name)) {
                problems.add(name + ": " + expectationsFile.getFileName() + " names it, but there is no such test");
            }
        }
        problems.forEach(p -> System.out.println("PROBLEM " + p));
        System.out.printf("Netty's tests: %d run on the JDK's provider, %d passed; %d run under Verbena, %d passed; "
                + "%d problems%n", jdk.size(), passed(jdk), ours.size(), passed(ours), problems.size());
        return problems.isEmpty() ? 0 : 1;
    }

    private static long passed(Map<String, String> verdicts) {
        return verdicts.values().stream().filter("SUCCESSFUL"::equals).count();
    }

    private void problem(String test, String jdk, String ours, List<String> problems) {
        Kind kind = expectations.of(test).kind();
        boolean passes = ours.equals(jdk);
        boolean expected = kind != Kind.FAILS && kind != Kind.FAILS_ON_JDK;
        if (jdk.equals("FAILED") != (kind == Kind.FAILS_ON_JDK)) {
            problems.add(test + ": " + jdk + " on the JDK's provider, and the expectations say " + kind);
        } else if (kind != Kind.FAILS_ON_JDK && passes != expected) {
            problems.add(test + ": " + jdk + " on the JDK's provider, " + ours
                    + " under Verbena, and the expectations say "
                    + kind);
        }
    }

    private List<String> classes(Pattern only, boolean full) throws IOException {
        Path jar;
        try (Stream<Path> jars = Files.list(Applications.target().resolve("testsuite"))) {
            jar = jars.filter(j -> j.getFileName().toString().startsWith("netty-testsuite-")).findFirst().orElseThrow();
        }
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            return zip.stream().map(e -> e.getName()).filter(n -> n.startsWith(FOLDER) && n.matches(
                    "[a-zA-Z/]+Test\\.class"))
                    .map(n -> n.substring(FOLDER.length(), n.length() - ".class".length()))
                    .filter(n -> !n.startsWith("Abstract") && only.matcher(n).find())
                    .filter(n -> expectations.of(n).kind() != Kind.NOT_RUN)
                    .filter(n -> full || expectations.of(n).kind() != Kind.LONG).sorted().toList();
        }
    }

    private Map<String, String> run(By by, List<String> classes) throws IOException, InterruptedException {
        Path out = scratch.resolve(by + ".out");
        Path summary = scratch.resolve(by + ".summary");
        List<String> c = new ArrayList<>(List.of(Jvm.JAVA,
                "-XX:+UseSerialGC", "-Xmx512m"));
        if (by == By.VERBENA) {
            c.add("-javaagent:" + Applications.agent() + "=quiet,stream.earn=0,summary=" + summary);
        }
        String own = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .filter(p -> p.matches(".*verbena-tests/target/.*test-classes/?")).collect(Collectors.joining());
        c.addAll(List.of("-cp", Applications.target().resolve("testsuite") + "/*" + File.pathSeparator + own,
                NettySuiteMain.class.getName()));
        classes.forEach(n -> c.add(FOLDER.replace('/', '.') + n));
        long start = System.nanoTime();
        Process p = new ProcessBuilder(c).redirectErrorStream(true).redirectOutput(out.toFile()).start();
        if (!p.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES)) {
            p.destroyForcibly().waitFor();
        }
        List<String> lines = Files.readAllLines(out);
        Map<String, String> verdicts = new TreeMap<>();
        lines.stream().filter(l -> l.startsWith("verdict ")).map(l -> l.split(" ", -1)).forEach(l -> verdicts.put(l[1],
                l[2]));
        boolean ended = lines.contains("end");
        System.out.printf("%s: %d of %d tests passed in %d s%n", by == By.VERBENA
                ? "under Verbena"
                : "on the JDK's provider",
                passed(verdicts), verdicts.size(), TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start));
        if (!ended || verdicts.containsValue("FAILED")) {
            List<String> said = lines.stream().filter(l -> !l.startsWith("verdict ")).toList();
            List<String> shown = ended ? failures(said) : said.subList(Math.max(0, said.size() - SHOWN), said.size());
            shown.forEach(l -> System.out.println("    | " + l));
        }
        if (!ended) {
            throw new IOException("the tests did not come to their end");
        }
        if (by == By.VERBENA) {
            Summary carried = Summary.read("Netty's tests", summary);
            System.out.println("carried: " + carried);
            if (carried.ring() == 0) {
                throw new IOException("rings carried nothing");
            }
        }
        return verdicts;
    }

    /** Of each failure the beginning of its trace. */
    private static List<String> failures(List<String> said) {
        List<String> shown = new ArrayList<>();
        for (int i = 0; i < said.size(); i++) {
            if (said.get(i).startsWith("FAILED ")) {
                shown.addAll(said.subList(i, Math.min(said.size(), i + TRACE)));
            }
        }
        return shown;
    }
}
