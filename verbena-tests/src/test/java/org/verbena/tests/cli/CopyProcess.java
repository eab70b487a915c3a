// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.verbena.testkit.Await;
import org.verbena.testkit.Jvm;
import org.verbena.testkit.KernelThread;

/** A {@code verbena} command in a separate process, started from the compiled modules. */
final class CopyProcess implements AutoCloseable {
    private final Process process;
    private final Lines out;
    private final Lines err;

    private CopyProcess(Process process) {
        this.process = process;
        out = new Lines(process.inputReader(StandardCharsets.UTF_8));
        err = new Lines(process.errorReader(StandardCharsets.UTF_8));
    }

    /** Starts {@code verbena copy} with these arguments. */
    static CopyProcess copy(Object... arguments) throws IOException {
        return start(List.of(), modulePath(), arguments);
    }

    /** The modules that the build has made. */
    static String modulePath() {
        return CommandProcess.modulePath();
    }

    /** Copies the modules to a directory that every user can read; answers the module path. */
    static String copyModules(Path directory) throws IOException, InterruptedException {
        return copy(directory, modulePath());
    }

    /** Copies the modules and the tests to a directory that every user can read; answers the class path. */
    static String copyClassPath(Path directory) throws IOException, InterruptedException {
        Path tests = Path.of(CopyProcess.class.getProtectionDomain().getCodeSource().getLocation().getPath());
        return copy(directory, modulePath() + File.pathSeparator + tests);
    }

    private static String copy(Path directory, String path) throws IOException, InterruptedException {
        List<String> copies = new ArrayList<>();
        for (String p : path.split(File.pathSeparator, -1)) {
            // The name of an automatic module comes from its file, which keeps its name.
            Path copy = Files.createDirectory(directory.resolve(Integer.toString(copies.size())))
                    .resolve(Path.of(p).getFileName());
            assertThat(new ProcessBuilder("cp", "-r", p, copy.toString()).start().waitFor()).isZero();
            copies.add(copy.toString());
        }
        assertThat(new ProcessBuilder("chmod", "-R", "a+rX", directory.toString()).start().waitFor()).isZero();
        return String.join(File.pathSeparator, copies);
    }

    /** Starts behind another command, from these modules. */
    static CopyProcess start(List<String> prefix, String path, Object... arguments) throws IOException {
        return start(prefix, modules(List.of(), path), arguments);
    }

    private static List<String> modules(List<String> options, String path) {
        List<String> all = new ArrayList<>(options);
        all.addAll(CommandProcess.modules(path));
        all.addAll(CommandArchive.options(path));
        all.addAll(CommandProcess.module());
        return all;
    }

    /** Starts behind another command, a main class on a class path. */
    static CopyProcess startMain(List<String> prefix, String path, Class<?> main, Object... arguments)
            throws IOException {
        return start(prefix, List.of("--class-path", path, "--enable-native-access=ALL-UNNAMED", main.getName()),
                arguments);
    }

    private static CopyProcess start(List<String> prefix, List<String> what, Object... arguments) throws IOException {
        List<String> command = new ArrayList<>(prefix);
        // A shell starts background commands with SIGINT ignored, which children inherit: a JVM keeps that.
        command.addAll(List.of("env", "--default-signal=INT"));
        command.addAll(List.of(Jvm.JAVA, "-Xshare:auto",
                "-XX:+UseSerialGC", "-Xmx256m"));
        command.addAll(what);
        command.add("copy");
        for (Object a : arguments) {
            command.add(a.toString());
        }
        ProcessBuilder b = new ProcessBuilder(command);
        b.environment().put("VERBENA_DEBUG", "1");
        return new CopyProcess(b.start());
    }

    /** The same for small files, for which the best compiler of a JVM would only take time. */
    static CopyProcess startQuickly(List<String> prefix, String path, Object... arguments) throws IOException {
        return start(prefix, modules(List.of("-XX:TieredStopAtLevel=1"), path), arguments);
    }

    /** Starts a listener on a free port and waits until it listens. */
    static CopyProcess listen(Path directory, Object... more) throws IOException {
        List<Object> arguments = new ArrayList<>(List.of("--listen", directory, "--port", 0));
        arguments.addAll(Arrays.asList(more));
        CopyProcess p = copy(arguments.toArray());
        p.awaitPort();
        return p;
    }

    /** Creates a file or a process that a test may have to create again. */
    @FunctionalInterface
    interface Attempt {
        CopyProcess start() throws Exception;
    }

    /**
     * A copy of a file of {@code size} bytes into a directory, stopped in its middle: {@code verified} bytes have
     * arrived, and the rest does not arrive as long as the sender or {@code held} is stopped. A copy that ends before
     * it could be stopped is repeated.
     *
     * @param held the process to stop; null for the sender
     * @param attempt restores the directory, and starts the sender
     */
    static CopyProcess inTheMiddle(Path to, long verified, long size, @Nullable CopyProcess held, Attempt attempt)
            throws Exception {
        while (true) {
            CopyProcess sender = attempt.start();
            while (sender.isAlive() && CopyFiles.verified(to) < verified) {
                Thread.sleep(2);
            }
            CopyProcess stopped = held == null ? sender : held;
            if (sender.isAlive() && stopped.stop()) {
                long now = CopyFiles.verified(to); // some more may be in flight, but not half of the rest
                if (now >= verified && now < (verified + size) / 2) {
                    return sender;
                }
                stopped.signal("CONT");
            }
            sender.expect(0);
        }
    }

    /** The port that a listener told. */
    int awaitPort() {
        String line = err.await(Pattern.compile("listening on \\S+ \\S+:(\\d+), writing"));
        return Integer.parseInt(line.replaceAll(".*:(\\d+), writing.*", "$1"));
    }

    /** The address of a listener, as a sender names it. */
    String address() {
        return "127.0.0.1:" + awaitPort();
    }

    void awaitError(String regex) {
        String _ = err.await(Pattern.compile(regex));
    }

    /** Waits for the end and checks the exit code. */
    CopyProcess expect(int code) {
        assertThat(await()).as(() -> "exit code; stderr:\n" + err.text() + "stdout:\n" + out.text()).isEqualTo(code);
        return this;
    }

    /** Waits for the end. */
    int await() {
        try {
            if (!process.waitFor(180, TimeUnit.SECONDS)) {
                kill();
                throw new AssertionError("still running after 60 s; stderr:\n" + err.text());
            }
            out.join();
            err.join();
            return process.exitValue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    String out() {
        return out.text();
    }

    String err() {
        return err.text();
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** kill -9. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    void signal(String name) throws IOException, InterruptedException {
        assertThat(kill(name)).isZero();
    }

    private int kill(String name) throws IOException, InterruptedException {
        return new ProcessBuilder("kill", "-" + name, Long.toString(pid())).start().waitFor();
    }

    /** Stops all its threads; false if it has ended before. */
    boolean stop() throws IOException, InterruptedException {
        if (kill("STOP") != 0) {
            return false;
        }
        Await.until(Duration.ofSeconds(60), () -> !isAlive() || KernelThread.areStopped(pid()), () -> pid()
                + " does not stop");
        return isAlive();
    }

    @Override
    public void close() throws InterruptedException {
        kill();
    }

    /** What a process prints, read as it comes. */
    private static final class Lines {
        private final List<String> lines = new ArrayList<>();
        private final Thread thread;
        private boolean ended;

        Lines(BufferedReader reader) {
            thread = Thread.ofVirtual().start(() -> {
                try (reader) {
                    for (String l = reader.readLine(); l != null; l = reader.readLine()) {
                        add(l);
                    }
                } catch (IOException e) {
                    add(e.toString());
                } finally {
                    end();
                }
            });
        }

        private synchronized void add(String line) {
            lines.add(line);
            notifyAll();
        }

        private synchronized void end() {
            ended = true;
            notifyAll();
        }

        synchronized String await(Pattern pattern) {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (true) {
                for (String l : lines) {
                    if (pattern.matcher(l).find()) {
                        return l;
                    }
                }
                if (ended || System.nanoTime() > end) {
                    throw new AssertionError("no line like " + pattern + " in:\n" + String.join("\n", lines));
                }
                try {
                    wait(100);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }

        synchronized String text() {
            return lines.stream().map(l -> l + "\n").collect(Collectors.joining());
        }

        void join() throws InterruptedException {
            thread.join(30_000);
        }
    }
}
