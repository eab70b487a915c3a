package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A thread that spins for messages, takes and answers them, makes no system call; strace watches it. */
class SpinTest {
    private static final Duration WATCHED = Duration.ofSeconds(2);
    private static final Duration COMPILED = Duration.ofSeconds(90);
    private static final Duration ATTACHED = Duration.ofSeconds(60);
    /** What a thread of a JVM may do for the JVM: stop for it, and come back from it. */
    private static final List<String> JVM = List.of("futex", "rt_sigreturn", "sched_yield");
    private static final int MOST_FOR_JVM = 200;
    private static final long FEWEST_ROUNDS = 1000;

    @TempDir Path folder;

    @Test
    void aSpinningThreadMakesNoSystemCall() throws Exception {
        Path strace = strace();
        try (Child child = Child.of(SpinPeer.class).option("-XX:TieredStopAtLevel=4").start()) {
            // two spinning threads come to little on a machine that has no processor for each
            Wait.until(COMPILED, () -> child.has("READY") || !child.isAlive(), () -> "it does not get going");
            child.await("READY");
            Path log = folder.resolve("calls");
            Process tracer = new ProcessBuilder(strace.toString(), "-qq", "-o", log.toString(), "-p",
                    thread(child.pid(), "spinner")).redirectErrorStream(true).redirectOutput(folder.resolve("said")
                            .toFile()).start();
            long[] rounds = new long[2];
            try {
                String status = "/proc/" + child.pid() + "/task/" + thread(child.pid(), "spinner") + "/status";
                Wait.until(ATTACHED, () -> !Files.readString(Path.of(status)).contains("TracerPid:\t0"),
                        () -> "strace does not attach: " + said());
                rounds[0] = rounds(child);
                Wait.during(WATCHED);
                Wait.until(Child.LIMIT, () -> (rounds[1] = rounds(child)) - rounds[0] > FEWEST_ROUNDS,
                        () -> rounds[1] - rounds[0] + " rounds while strace looked");
            } finally {
                tracer.destroy();
                tracer.waitFor(ATTACHED.toSeconds(), TimeUnit.SECONDS);
            }
            Map<String, Long> calls = calls(log);
            assertThat(calls.keySet()).as("system calls in %d rounds: %s", rounds[1] - rounds[0], calls).isSubsetOf(
                    JVM);
            assertThat(calls.values().stream().mapToLong(n -> n).sum()).as("%s", calls).isLessThan(MOST_FOR_JVM);
        }
    }

    private static Path strace() {
        List<Path> found = Stream.of("/usr/bin/strace", "/bin/strace", "/usr/local/bin/strace").map(Path::of)
                .filter(Files::isExecutable).toList();
        if (found.isEmpty()) {
            System.out.println("SKIPPED: strace is not installed (Debian: apt-get install strace)");
            Assumptions.abort("no strace");
        }
        return found.getFirst();
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

    private static long rounds(Child child) throws Exception {
        return Long.parseLong(child.tell("rounds").await("ROUNDS"));
    }

    private String said() {
        try {
            return Files.readString(folder.resolve("said"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** System calls by name; lines that do not begin with one are signals. */
    private static Map<String, Long> calls(Path log) throws IOException {
        try (Stream<String> lines = Files.lines(log)) {
            return lines.filter(l -> l.matches("[a-z_0-9]+\\(.*")).map(l -> l.substring(0, l.indexOf('('))).collect(
                    Collectors.groupingBy(Function.identity(), Collectors.counting()));
        }
    }
}
