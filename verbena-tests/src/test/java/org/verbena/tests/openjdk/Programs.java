// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.openjdk;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.verbena.testkit.Folders;
import org.verbena.testkit.Jvm;

/** Runs tests as programs: each in a JVM and a folder of its own, the exit code is the verdict. */
final class Programs {
    /**
     * How a test ended.
     *
     * @param traffic of its connections, if the provider is Verbena's
     */
    record Verdict(boolean passed, double seconds, Path output, RingTraffic traffic) {}

    /** A test that moves as much as it can until a time is over: the others go first. */
    private static final Pattern BEHIND_OTHERS = Pattern.compile("AsynchronousSocketChannel/StressLoopback.*");

    private final Path tests;
    private final Path scratch;
    private final Compiled compiled;
    private final String jars;
    private final String folders;
    private final Path natives;
    private final List<String> provider;
    private final boolean sessionFirst;

    /**
     * @param tests what OpenJDK has in its folder for tests
     * @param scratch for what the programs write and print
     * @param jars class path of JUnit and TestNG, and of the provider
     * @param folders class path of what starts them
     * @param natives folder of the C libraries of the tests
     * @param provider JVM options that choose the selector provider; none for the JDK's
     * @param sessionFirst whether a program begins when its process has a {@linkplain SessionFirst session} with itself
     */
    Programs(Path tests, Path scratch, Compiled compiled, String jars, String folders, Path natives,
            List<String> provider,
            boolean sessionFirst) {
        this.tests = tests;
        this.scratch = scratch;
        this.compiled = compiled;
        this.jars = jars;
        this.folders = folders;
        this.natives = natives;
        this.provider = provider;
        this.sessionFirst = sessionFirst;
    }

    /** Runs one test to its end, or its time limit. */
    Verdict run(JtregTest test) throws IOException, InterruptedException {
        Path folder = scratch.resolve(test.name().replace('/', '.').replace('#', '.'));
        Folders.remove(folder);
        Files.createDirectories(folder);
        Path output = scratch.resolve(folder.getFileName() + ".txt");
        Path classes;
        try {
            classes = compiled.of(test);
        } catch (IOException e) {
            Files.writeString(output, e.getMessage());
            return new Verdict(false, 0, output, RingTraffic.NOTHING);
        }
        Path summary = scratch.resolve(folder.getFileName() + ".summary");
        Files.deleteIfExists(summary);
        long start = System.nanoTime();
        List<String> command = command(test, classes, summary);
        ProcessBuilder b = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true)
                .redirectOutput(output.toFile());
        b.environment().put("CLASSPATH", classes.toString()); // for a JVM that the test starts, as jtreg does
        Process p = b.start();
        p.getOutputStream().close();
        boolean ended;
        try {
            ended = p.waitFor(test.timeoutSeconds(), TimeUnit.SECONDS);
            if (!ended) {
                quit(p);
            }
        } finally {
            p.descendants().forEach(ProcessHandle::destroyForcibly);
            p.destroyForcibly();
        }
        int code = p.waitFor();
        double seconds = (System.nanoTime() - start) / 1e9;
        String last = String.format("%n(%s after %.1f s)%ncommand: %s%n",
                ended ? "exit code " + code : "killed", seconds, String.join(" ", command));
        Files.writeString(output, last, StandardCharsets.ISO_8859_1, java.nio.file.StandardOpenOption.APPEND);
        Folders.remove(folder);
        int right = test.fails() ? 1 : 0; // of a main method that throws; a JVM that crashes has another
        RingTraffic traffic = RingTraffic.in(summary);
        if (sessionFirst && traffic.programs() > 0) {
            traffic = traffic.minus(RingTraffic.SESSION_FIRST);
        }
        return new Verdict(ended && code == right, seconds, output, traffic);
    }

    /** Asks a JVM that hangs for its stacks. */
    private static void quit(Process p) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-QUIT", Long.toString(p.pid())).start().waitFor();
        Thread.sleep(1000);
    }

    private List<String> command(JtregTest test, Path classes, Path summary) {
        Path source = test.file().getParent();
        // jars first, as an archive of classes needs it
        List<String> path = Stream.of(jars, classes.toString(), source.toString(), folders).filter(p -> !p.isEmpty())
                .toList();
        List<String> command = new ArrayList<>();
        if (BEHIND_OTHERS.matcher(test.name()).matches()) {
            command.addAll(List.of("nice", "-n", "10"));
        }
        command.addAll(List.of(Jvm.JAVA, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dtest.src=" + source,
                "-Dtest.classes=" + classes,
                "-Dtest.jdk=" + System.getProperty("java.home"), "-Dcompile.jdk=" + System.getProperty("java.home"),
                "-Dtest.src.path=" + source, "-Dtest.class.path=" + classes, "-Dtest.root=" + tests.resolve("jdk"),
                "-Dtest.nativepath=" + natives, "-Djava.library.path=" + natives));
        if (!provider.isEmpty()) {
            command.addAll(provider);
            command.add("-Dverbena.summary=" + summary);
        }
        command.addAll(Compiled.access(test, false));
        command.addAll(test.jvm());
        command.addAll(List.of("-cp", String.join(":", path)));
        if (sessionFirst) {
            command.add(SessionFirst.class.getName());
        }
        switch (test.action()) {
            case "junit" -> command.add(JUnitMain.class.getName());
            case "testng" -> command.addAll(List.of("org.testng.TestNG", "-usedefaultlisteners", "false",
                    "-testclass"));
            default -> {
                // its own main
            }
        }
        command.addAll(test.command());
        return command;
    }
}
