// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.sockets.SocketObjectType;
import org.verbena.sockets.SocketState;
import org.verbena.testkit.Await;
import org.verbena.testkit.Jvm;
import org.verbena.testkit.Thorough;
import org.verbena.tests.agent.AgentArchive;
import org.verbena.verbs.RemoteProcess;
import org.verbena.verbs.VerbsException;

/** An application in a separate process, under Verbena or not. Its output is kept; it is ended by its handle. */
public final class App implements AutoCloseable {
    /** The implementation of its sockets. */
    public enum By {
        VERBENA,
        PLAIN
    }

    /** Long enough for a loaded machine; reached only when a test fails. */
    static final Duration LIMIT = Duration.ofSeconds(90);

    /** The handshake timeout if both ends have Verbena: as long as a loaded machine may take to start a process. */
    private static final int PATIENCE_MILLIS = 30_000;
    /** The handshake timeout if the other end is plain and never appears; shorter than the pauses of all programs. */
    private static final int SHORT_PATIENCE_MILLIS = 200;

    private static final Duration LOOK = Duration.ofMillis(20);

    private static final String END = "\u0000end";
    private static final int SHOWN = 40;

    private final String name;
    private final Path folder;
    private final By by;
    private final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final List<String> seen = new ArrayList<>();

    private App(String name, Path folder, By by, Process process) {
        this.name = name + " " + process.pid();
        this.folder = folder;
        this.by = by;
        this.process = process;
        Thread.ofPlatform().daemon().name("lines of " + name).start(() -> {
            try (Stream<String> all = process.inputReader(StandardCharsets.UTF_8).lines()) {
                all.forEach(lines::add);
            } catch (UncheckedIOException killed) {
                // the end of the lines, like any other
            }
            lines.add(END);
        });
    }

    /** Starts a Java program of verbena-apps, or of its dependencies. */
    public static final class Java {
        private final Path scratch;
        private final By by;
        private final List<String> options = new ArrayList<>();
        private List<String> before = List.of();
        private List<String> jvm = Thorough.ON
                ? List.of("-XX:+UseSerialGC", "-Xmx512m")
                : List.of("-XX:+UseSerialGC", "-Xmx512m", "-XX:TieredStopAtLevel=1");
        private String patience = ",stream.patience=" + PATIENCE_MILLIS;
        private String wait = "";
        /** Few of the tests' connections would earn rings, and those that do would begin with TCP. */
        private String earn = ",stream.earn=0";
        private List<String> archive;

        Java(Path scratch, By by) {
            this.scratch = scratch;
            this.by = by;
            archive = by == By.VERBENA ? AgentArchive.options() : List.of();
        }

        /** Behind a command that starts it, for instance taskset. */
        public Java behind(List<String> command) {
            before = command;
            return this;
        }

        /** For a program that ends before the best compiler of a JVM would pay off. */
        public Java quickStart() {
            return option("-XX:TieredStopAtLevel=1");
        }

        /** With these JVM options instead of those for a small program. */
        public Java jvm(String... instead) {
            jvm = List.of(instead);
            return this;
        }

        /** For a program that is to detect that its peers are plain, while it is connected. */
        Java withPlainPeers() {
            patience = ",stream.patience=" + SHORT_PATIENCE_MILLIS;
            return this;
        }

        /** With the patience of Verbena's default. */
        Java withDefaults() {
            patience = "";
            return this;
        }

        /** As users start it: all is Verbena's default, and there is no archive of classes. */
        public Java asUsersDo() {
            earn = "";
            archive = List.of();
            return withDefaults();
        }

        /** For a program that cannot pause between its first byte and many: rings carry everything if they can. */
        Java fromTheFirstByte() {
            wait = ",stream.wait=" + PATIENCE_MILLIS;
            return this;
        }

        public Java option(String... jvmOptions) {
            options.addAll(List.of(jvmOptions));
            return this;
        }

        public App start(String main, Object... arguments) throws IOException {
            Path folder = Files.createTempDirectory(scratch, "app");
            List<String> c = new ArrayList<>(before);
            c.add(java());
            c.addAll(jvm);
            c.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
            if (by == By.VERBENA) {
                c.addAll(archive);
                c.add("-javaagent:" + Applications.agent() + "=quiet" + earn + patience + wait + ",summary=" + folder
                        .resolve("summary"));
            }
            c.addAll(options);
            c.addAll(List.of("-cp", Applications.classPath(), main));
            Arrays.stream(arguments).map(String::valueOf).forEach(c::add);
            return App.start(main.substring(main.lastIndexOf('.') + 1), folder, by, c);
        }
    }

    public static Java java(Path scratch, By by) {
        return new Java(scratch, by);
    }

    /** A program that is not written in Java. */
    public static App command(Path scratch, String... command) throws IOException {
        return command(scratch, List.of(), command);
    }

    /** The same behind another command that starts it, for instance taskset. */
    static App command(Path scratch, List<String> before, String... command) throws IOException {
        List<String> all = new ArrayList<>(before);
        all.addAll(List.of(command));
        return start(Path.of(command[0]).getFileName().toString(), Files.createTempDirectory(scratch, "app"), By.PLAIN,
                all);
    }

    private static App start(String name, Path folder, By by, List<String> command) throws IOException {
        ProcessBuilder b = new ProcessBuilder(command).directory(folder.toFile())
                .redirectError(folder.resolve("err").toFile());
        b.environment().remove("JAVA_TOOL_OPTIONS");
        b.environment().remove("JDK_JAVA_OPTIONS");
        return new App(name + (by == By.VERBENA ? " under Verbena" : ""), folder, by, b.start());
    }

    private static String java() {
        return Jvm.JAVA;
    }

    public long pid() {
        return process.pid();
    }

    Path folder() {
        return folder;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Waits for a line that begins with {@code word}, and answers what follows the word. */
    public String await(String word) throws InterruptedException, IOException {
        return await(word, Duration.ZERO);
    }

    /** As {@link #await(String)}, of a program that works for some time before it says so. */
    public String await(String word, Duration works) throws InterruptedException, IOException {
        Duration limit = LIMIT.plus(works);
        String line = next(limit, word);
        if (line == null) {
            throw new AssertionError(name + " did not say " + word + " within " + limit + said());
        }
        return line.substring(word.length()).trim();
    }

    private @Nullable String next(Duration limit, String word) throws InterruptedException, IOException {
        long end = System.nanoTime() + limit.toNanos();
        while (true) {
            String line = lines.poll(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            if (line == null) {
                return null;
            }
            if (line.equals(END)) {
                lines.add(END);
                process.waitFor(5, TimeUnit.SECONDS);
                throw new AssertionError(name + " ended and did not say " + word + said());
            }
            seen.add(line);
            if (line.equals(word) || line.startsWith(word + " ")) {
                return line;
            }
        }
    }

    /** All lines until its end, which must be an orderly one. */
    public List<String> rest() throws IOException, InterruptedException {
        return rest(Duration.ZERO);
    }

    /** As {@link #rest()}, of a program that may work for some time without a line. */
    public List<String> rest(Duration works) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>();
        String line;
        while ((line = lines.poll(LIMIT.plus(works).toSeconds(), TimeUnit.SECONDS)) != null && !line.equals(END)) {
            seen.add(line);
            all.add(line);
        }
        awaitExit(0);
        return all;
    }

    /** At its pause: it continues when the transport of each connection under Verbena is decided. */
    App go(App... ends) throws IOException, InterruptedException {
        await("paused");
        for (App end : ends) {
            if (end.by == By.VERBENA) {
                end.awaitDecided();
            }
        }
        return tell("go");
    }

    /** Waits until it has connections, and the transport of all is decided. */
    void awaitDecided() throws VerbsException {
        List<String> states = new ArrayList<>();
        Await.until(LIMIT, () -> {
            Await.during(LOOK);
            states.clear();
            try (RemoteProcess p = RemoteProcess.open(pid())) {
                p.objects(0).stream().filter(o -> o.type() == SocketObjectType.CONNECTION).forEach(o -> states.add(o
                        .state()));
            } catch (VerbsException e) {
                if (e.errno() != Errno.ENOENT && e.errno() != Errno.ETIMEDOUT) { // has just started, or is stopped
                    throw e;
                }
            }
            return !states.isEmpty() && !states.contains(SocketState.toString(SocketState.HANDSHAKE));
        }, () -> name + " has connections that are undecided: " + states);
    }

    /** What it reads. */
    OutputStream input() {
        return process.getOutputStream();
    }

    public int awaitInt(String word) throws InterruptedException, IOException {
        return Integer.parseInt(await(word));
    }

    App tell(String line) throws IOException {
        OutputStream out = process.getOutputStream();
        out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
        return this;
    }

    /** {@code kill -9}; waits until it is gone. */
    void kill() throws InterruptedException, IOException {
        process.destroyForcibly();
        exit();
    }

    /** SIGTERM, after which it must end with one of these codes. */
    public void terminate(int... codes) throws IOException, InterruptedException {
        process.toHandle().destroy();
        awaitExit(codes);
    }

    /** Closes its input, after which it must end in order. */
    public void end() throws IOException, InterruptedException {
        process.getOutputStream().close();
        awaitExit(0);
    }

    public void awaitExit(int... codes) throws IOException, InterruptedException {
        int code = exit();
        if (Arrays.stream(codes).noneMatch(c -> c == code) || crashed()) {
            throw new AssertionError(name + " ended with " + code + (crashed() ? ", a crash" : "") + said());
        }
    }

    private int exit() throws InterruptedException, IOException {
        if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError(name + " does not end" + said());
        }
        return process.exitValue();
    }

    private boolean crashed() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.anyMatch(f -> f.getFileName().toString().startsWith("hs_err"));
        }
    }

    /** Its standard error. */
    String errors() throws IOException {
        return Files.readString(folder.resolve("err"));
    }

    private String said() throws IOException {
        List<String> err = errors().lines().toList();
        return ": " + seen.subList(Math.max(0, seen.size() - SHOWN), seen.size()) + "\n"
                + String.join("\n", err.subList(0, Math.min(err.size(), SHOWN)));
    }

    /** The traffic of its sockets; it has ended normally. */
    Summary summary() throws IOException {
        if (by == By.PLAIN) {
            throw new IllegalStateException(name + " is not under Verbena");
        }
        return Summary.read(name, folder.resolve("summary"));
    }

    @Override
    public void close() throws IOException, InterruptedException {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        exit();
    }

    @Override
    public String toString() {
        return name;
    }

    /** A class path of folders and of all jars in folders. */
    static String path(Path... parts) {
        return String.join(File.pathSeparator, Arrays.stream(parts).map(Path::toString).toList());
    }
}
