// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Assumptions;

import org.verbena.linux.LinuxException;
import org.verbena.linux.Prctl;
import org.verbena.testkit.Await;

/** The system calls of one thread of a {@link Child} while something is done, counted by strace. */
final class SystemCalls {
    private static final Duration ATTACHED = Duration.ofSeconds(60);
    private static final Duration COMPILED = Duration.ofSeconds(90);
    /**
     * What a thread of a JVM may do for the JVM: stop for it, and come back from it; and have malloc's memory of the thread grow
     * and shrink, when its code is thrown away.
     */
    private static final List<String> JVM = List.of("futex", "rt_sigreturn", "sched_yield", "mprotect", "madvise");
    private static final int MOST_FOR_JVM = 200;

    private final Map<String, Long> byName;
    private final long rounds;
    private final Duration elapsed;

    private SystemCalls(Map<String, Long> byName, long rounds, Duration elapsed) {
        this.byName = byName;
        this.rounds = rounds;
        this.elapsed = elapsed;
    }

    /** What is done meanwhile: returns how many rounds of it. */
    @FunctionalInterface
    private interface Work {
        long run() throws Exception;
    }

    /** For the child: lets strace watch it, which is not an ancestor. */
    static void allow() throws LinuxException {
        if (Prctl.yamaScope() == 1) {
            Prctl.setPtracer(Prctl.PTRACER_ANY);
        }
    }

    /**
     * Those of a thread that works in rounds, while it does some; the test is skipped, aloud, where there is no strace.
     *
     * @param child answers "rounds" with "ROUNDS" and how many it has done
     * @param folder for files of strace's, which may be there from an earlier time
     * @param atLeast how long it is watched, also if it has done as many rounds before
     * @param fewest so many rounds are awaited
     */
    static SystemCalls ofRounds(Child child, String thread, Path folder, Duration atLeast, long fewest)
            throws Exception {
        return of(child, thread, folder, () -> {
            long attached = rounds(child);
            awaitRounds(child, attached, Child.LIMIT); // of the one under way, calls may have been missed
            long before = rounds(child);
            long[] done = new long[1];
            Await.during(atLeast);
            Await.until(Child.LIMIT, () -> (done[0] = rounds(child) - before) > fewest, () -> done[0]
                    + " rounds while strace looked");
            return done[0];
        });
    }

    /** Returns when a child as in {@link #ofRounds} has done more rounds than so many: what it runs is compiled. */
    static void awaitCompiled(Child child, long rounds) throws Exception {
        awaitRounds(child, rounds, COMPILED);
    }

    private static void awaitRounds(Child child, long more, Duration limit) throws Exception {
        Await.until(limit, () -> rounds(child) > more, () -> "no more than " + more + " rounds");
    }

    private static long rounds(Child child) throws Exception {
        return Long.parseLong(child.tell("rounds").await("ROUNDS"));
    }

    private static SystemCalls of(Child child, String thread, Path folder, Work work) throws Exception {
        String strace = strace();
        Path log = folder.resolve("calls");
        Path said = folder.resolve("said");
        String number = thread(child.pid(), thread);
        Process tracer = new ProcessBuilder(strace, "-o", log.toString(), "-p", number).redirectErrorStream(true)
                .redirectOutput(said.toFile()).start();
        long began = System.nanoTime();
        long rounds;
        try {
            // the kernel names the tracer earlier, when the thread has not stopped for it yet
            Await.until(ATTACHED, () -> text(said).contains("Process " + number + " attached"),
                    () -> "strace does not attach: " + text(said));
            rounds = work.run();
        } finally {
            tracer.destroy();
            tracer.waitFor(ATTACHED.toSeconds(), TimeUnit.SECONDS);
        }
        return new SystemCalls(read(log), rounds, Duration.ofNanos(System.nanoTime() - began));
    }

    private static String strace() {
        List<Path> found = Stream.of("/usr/bin/strace", "/bin/strace", "/usr/local/bin/strace").map(Path::of)
                .filter(Files::isExecutable).toList();
        if (found.isEmpty()) {
            System.out.println("SKIPPED: strace is not installed (Debian: apt-get install strace)");
            Assumptions.abort("no strace");
        }
        return found.getFirst().toString();
    }

    /** The kernel's number of a thread. */
    private static String thread(long pid, String name) throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/" + pid + "/task"))) {
            for (Path t : tasks.toList()) {
                if (Files.readString(t.resolve("comm")).trim().equals(name)) {
                    return t.getFileName().toString();
                }
            }
        }
        throw new AssertionError("no thread " + name);
    }

    /** By name; lines that do not begin with one are signals. */
    private static Map<String, Long> read(Path log) throws IOException {
        try (Stream<String> lines = Files.lines(log)) {
            return lines.filter(l -> l.matches("[a-z_0-9]+\\(.*")).map(l -> l.substring(0, l.indexOf('('))).collect(
                    Collectors.groupingBy(Function.identity(), Collectors.counting()));
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** How many rounds the thread did. */
    long rounds() {
        return rounds;
    }

    /** How long they were counted. */
    Duration elapsed() {
        return elapsed;
    }

    /** How often that one was called. */
    long count(String name) {
        return byName.getOrDefault(name, 0L);
    }

    /** How often any was called that the JVM has its threads not call. */
    long countAllButTheJvms() {
        return byName.entrySet().stream().filter(e -> !JVM.contains(e.getKey())).mapToLong(Map.Entry::getValue).sum();
    }

    /** Nothing was called but, a few times, what the JVM has its threads call. */
    void assertNoneButTheJvms() {
        assertThat(byName.keySet()).as("system calls in %d rounds: %s", rounds, byName).isSubsetOf(JVM);
        assertThat(byName.values().stream().mapToLong(n -> n).sum()).as("%s", byName).isLessThan(MOST_FOR_JVM);
    }

    @Override
    public String toString() {
        return byName.toString();
    }
}
