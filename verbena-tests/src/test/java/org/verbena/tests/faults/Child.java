// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Pidfd;
import org.verbena.testkit.Await;
import org.verbena.testkit.Folders;
import org.verbena.testkit.Jvm;
import org.verbena.testkit.KernelThread;

/**
 * Another JVM of a fault test: talks in lines, see {@link Peer}, and is killed, stopped and continued by its own
 * handle. Unlike that of verbena-conformance it may run under other users, limits and namespaces, and may die.
 */
public final class Child implements AutoCloseable {
    /** Long enough for a loaded machine; reached only when a test fails. */
    static final Duration LIMIT = Duration.ofMinutes(2);

    /** A JVM for a program that is over soon. */
    static final List<String> JAVA = List.copyOf(Jvm.command("-Xmx256m"));
    /** What Verbena needs on a class path. */
    static final List<String> ACCESS = Jvm.CHANNELS_ON_CLASS_PATH;

    private static final int SIGCONT = 18;
    private static final int SIGSTOP = 19;
    private static final int SHOWN = 20;
    private static final String END = "\u0000end";

    private final String name;
    private final Path folder;
    private final Process process;
    private final Fd handle;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final CompletableFuture<String> errors;

    private Child(String name, Path folder, Process process) throws LinuxException {
        this.name = name;
        this.folder = folder;
        this.process = process;
        handle = Pidfd.open((int) process.pid());
        Thread.ofPlatform().daemon().name("lines of " + name).start(() -> {
            try (Stream<String> all = process.inputReader(StandardCharsets.UTF_8).lines()) {
                all.forEach(lines::add);
            } catch (java.io.UncheckedIOException killed) {
                // the end of the lines, as any other
            }
            lines.add(END);
        });
        errors = CompletableFuture.supplyAsync(
                () -> process.errorReader(StandardCharsets.UTF_8).lines().collect(Collectors.joining("\n")),
                task -> Thread.ofPlatform().daemon().start(task));
    }

    /** How to start a child. */
    public static final class Builder {
        private final Class<?> main;
        private final List<String> before = new ArrayList<>();
        private final List<String> options = new ArrayList<>();
        private final List<String> access = new ArrayList<>(ACCESS);
        private @Nullable String classPath;

        private Builder(Class<?> main) {
            this.main = main;
        }

        Builder withoutNativeAccess() {
            access.removeIf(a -> a.startsWith("--enable-native-access"));
            return this;
        }

        /** Nothing is granted to it, neither native access nor the JDK's own packages. */
        Builder withoutAccess() {
            access.clear();
            return this;
        }

        /** A command that starts the JVM, for instance {@code prlimit --nofile=64}. */
        Builder under(String... command) {
            before.addAll(List.of(command));
            return this;
        }

        public Builder option(String... jvmOptions) {
            options.addAll(List.of(jvmOptions));
            return this;
        }

        Builder classPath(String path) {
            classPath = path;
            return this;
        }

        public Child start(Object... arguments) throws IOException {
            List<String> command = new ArrayList<>(before);
            command.addAll(JAVA);
            command.addAll(access);
            command.addAll(options);
            command.addAll(classPath());
            command.add(main.getName());
            Arrays.stream(arguments).map(String::valueOf).forEach(command::add);
            Path folder = Files.createTempDirectory("verbena-fault");
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
            Process p = new ProcessBuilder(command).directory(folder.toFile()).start();
            return new Child(main.getSimpleName() + " " + p.pid(), folder, p);
        }

        /** An archive is for just this access, and is not for a JVM with an agent. */
        private List<String> classPath() {
            if (classPath != null) {
                return List.of("-cp", classPath);
            }
            return access.equals(ACCESS) && options.stream().noneMatch(o -> o.startsWith("-javaagent"))
                    ? ChildArchive.classPath()
                    : List.of("-cp", System.getProperty("java.class.path"));
        }
    }

    public static Builder of(Class<?> main) {
        return new Builder(main);
    }

    public static Child start(Class<?> main, Object... arguments) throws IOException {
        return of(main).start(arguments);
    }

    public long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Waits for a line that starts with {@code word} and answers the rest of it; other lines are passed over. */
    public String await(String word) throws InterruptedException {
        return line(word).substring(word.length()).trim();
    }

    /** Waits for a line that starts with one of two words and answers all of it. */
    String awaitEither(String word, String other) throws InterruptedException {
        return line(word, other);
    }

    private String line(String... words) throws InterruptedException {
        List<String> seen = new ArrayList<>();
        long end = System.nanoTime() + LIMIT.toNanos();
        while (true) {
            String line = lines.poll(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            String wanted = name + " did not say " + String.join(" or ", words);
            if (line == null) {
                throw new AssertionError(wanted + " within " + LIMIT + ", but " + seen);
            }
            if (line.equals(END)) {
                lines.add(END);
                throw new AssertionError(wanted + " before it ended: " + seen + "\n" + errors());
            }
            if (Arrays.stream(words).anyMatch(w -> line.equals(w) || line.startsWith(w + " "))) {
                return line;
            }
            seen.add(line);
        }
    }

    /** Whether it has said a line that starts with {@code word} and was not taken yet. */
    boolean has(String word) {
        return lines.stream().anyMatch(l -> l.startsWith(word));
    }

    /** Its last lines that were not taken yet. */
    List<String> lines() {
        List<String> all = List.copyOf(lines);
        return all.subList(Math.max(0, all.size() - SHOWN), all.size());
    }

    int awaitInt(String word) throws InterruptedException {
        return Integer.parseInt(await(word));
    }

    /** Sends it a line. */
    public Child tell(String line) throws IOException {
        OutputStream out = process.getOutputStream();
        out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
        return this;
    }

    /** {@code kill -9}; does not wait. */
    public void kill() {
        process.destroyForcibly();
    }

    /** {@code kill -STOP}; waits until all its threads stand still. */
    public void stop() throws IOException, InterruptedException {
        Pidfd.sendSignal(handle, SIGSTOP);
        Await.until(LIMIT, () -> KernelThread.areStopped(pid()), () -> name + " does not stop");
    }

    /** {@code kill -CONT}. */
    public void proceed() throws LinuxException {
        Pidfd.sendSignal(handle, SIGCONT);
    }

    /** What it wrote to standard error, and its exit code before; waits for its end. */
    String errors() {
        try {
            process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
            return "exit code " + process.exitValue() + "\n" + errors.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException | java.util.concurrent.ExecutionException
                | java.util.concurrent.TimeoutException e) {
            return "(standard error: " + e + ")";
        }
    }

    /** Waits until it is gone, whatever the code. */
    public int awaitExit() throws InterruptedException {
        if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError(name + " does not end");
        }
        return process.exitValue();
    }

    /** Tells it to end, and fails unless it does so in order, with neither a crash nor a Java exception. */
    public void end() throws IOException, InterruptedException {
        process.getOutputStream().close();
        int code = awaitExit();
        if (code != 0 || crashed()) {
            throw new AssertionError(name + (crashed() ? " crashed" : " failed") + ": " + errors());
        }
    }

    /** True if the JVM left an error file. */
    boolean crashed() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.anyMatch(f -> f.getFileName().toString().startsWith("hs_err"));
        }
    }

    @Override
    public void close() throws IOException, InterruptedException {
        process.destroyForcibly();
        awaitExit();
        handle.close();
        Folders.remove(folder);
    }

    @Override
    public String toString() {
        return name;
    }
}
