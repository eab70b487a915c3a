// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Pidfd;
import org.verbena.testkit.Await;
import org.verbena.testkit.Jvm;
import org.verbena.testkit.KernelThread;
import org.verbena.testkit.Thorough;

/** A {@code verbena copy}, started from the compiled modules: in a process of its own, or in a {@link CommandHost}. */
final class CopyProcess implements AutoCloseable {
    private static final int LONGEST_SECONDS = 180;
    private static final int SIGSTOP = 19;

    private final CommandProcess.Running command;
    private final Lines out;
    private final Lines err;

    private CopyProcess(CommandProcess.Running command) {
        this.command = command;
        out = new Lines(CommandProcess.reader(command.out()));
        err = new Lines(CommandProcess.reader(command.err()));
    }

    /** Starts {@code verbena copy} with these arguments in a process of its own. */
    static CopyProcess copy(Object... arguments) throws IOException {
        return start(List.of(), modulePath(), arguments);
    }

    /** Starts a sender that does not have to have a process of its own. */
    static CopyProcess sender(Object... arguments) throws IOException {
        return Thorough.ON ? copy(arguments) : hosted(HostedCommand.Host.SENDERS, arguments);
    }

    /** Starts a copy in a host. */
    static CopyProcess hosted(HostedCommand.Host host, Object... arguments) throws IOException {
        return new CopyProcess(new HostedCommand(host, List.of(), Stream.concat(Stream.of("copy"), Arrays.stream(
                arguments).map(Object::toString)).toArray(String[]::new)));
    }

    /** The modules that the build has made. */
    static String modulePath() {
        return CommandProcess.modulePath();
    }

    /** The path of modules that every user can read: a copy in this directory, unless the archive of classes has one. */
    static String copyModules(Path directory) throws IOException, InterruptedException {
        return CommandArchive.isReadableByAll() ? modulePath() : copy(directory, modulePath());
    }

    /** Copies the modules and the tests to a directory that every user can read; answers the class path. */
    static String copyClassPath(Path directory) throws IOException, InterruptedException {
        return copy(directory, modulePath() + File.pathSeparator + Jvm.classesOf(CopyProcess.class));
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

    /** Starts from these modules, without an archive of classes, and with these options of the JVM's. */
    static CopyProcess startFrom(List<String> options, String path, Object... arguments) throws IOException {
        List<String> all = new ArrayList<>(options);
        all.addAll(CommandProcess.modules(path));
        all.addAll(CommandProcess.module());
        return start(List.of(), all, arguments);
    }

    private static List<String> modules(List<String> options, String path) {
        List<String> all = new ArrayList<>(options);
        all.addAll(CommandProcess.modules(path));
        all.addAll(CommandArchive.options(path));
        all.addAll(CommandProcess.module());
        return all;
    }

    /** Starts a main class on a class path, behind another command, with the C1 compiler only. */
    static CopyProcess startMain(List<String> prefix, String path, Class<?> main, Object... arguments)
            throws IOException {
        return start(prefix, List.of("-XX:TieredStopAtLevel=1", "--class-path", path,
                "--enable-native-access=ALL-UNNAMED", main.getName()), arguments);
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
        return new CopyProcess(new CommandProcess.Own(b.start()));
    }

    /**
     * Starts behind another command, from these modules, with the C1 compiler only: for small files C2 would take more time than it
     * saves.
     */
    static CopyProcess startQuickly(List<String> prefix, String path, Object... arguments) throws IOException {
        return start(prefix, modules(List.of("-XX:TieredStopAtLevel=1"), path), arguments);
    }

    /**
     * Starts a sender that is to be stopped in the middle of a file, behind another command. The worse compiler leaves more time for
     * that.
     */
    static CopyProcess startSlowly(List<String> prefix, String path, Object... arguments) throws IOException {
        return Thorough.ON ? start(prefix, path, arguments) : startQuickly(prefix, path, arguments);
    }

    /** Starts a listener on a free port, in a process of its own, and waits until it listens. */
    static CopyProcess listen(Path directory, Object... more) throws IOException {
        return listening(copy(listens(directory, more)));
    }

    /**
     * Starts a listener that does not have to have a process of its own. Without {@code --once} it goes on listening until the
     * host ends.
     */
    static CopyProcess listener(Path directory, Object... more) throws IOException {
        return Thorough.ON
                ? listen(directory, more)
                : listening(hosted(HostedCommand.Host.LISTENERS, listens(directory, more)));
    }

    private static Object[] listens(Path directory, Object... more) {
        return Stream.concat(Stream.of("--listen", directory, "--port", 0), Arrays.stream(more)).toArray();
    }

    private static CopyProcess listening(CopyProcess listener) {
        int _ = listener.awaitPort();
        return listener;
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
            int code = command.await(LONGEST_SECONDS);
            out.join();
            err.join();
            return code;
        } catch (TimeoutException e) {
            command.close();
            throw new AssertionError("still running after " + LONGEST_SECONDS + " s; stderr:\n" + err.text(), e);
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    String out() {
        return out.text();
    }

    String err() {
        return err.text();
    }

    /** That of a command that has one of its own. */
    private Process process() {
        return ((CommandProcess.Own) command).process();
    }

    long pid() {
        return process().pid();
    }

    boolean isAlive() {
        return process().isAlive();
    }

    /** kill -9. */
    void kill() throws InterruptedException {
        process().destroyForcibly().waitFor();
    }

    void signal(String name) throws IOException, InterruptedException {
        assertThat(kill(name)).isZero();
    }

    private int kill(String name) throws IOException, InterruptedException {
        return new ProcessBuilder("kill", "-" + name, Long.toString(pid())).start().waitFor();
    }

    /** Stops all its threads; false if it has ended before. */
    boolean stop() throws IOException {
        try (Fd handle = Pidfd.open((int) pid())) { // no other command takes time meanwhile
            Pidfd.sendSignal(handle, SIGSTOP);
        } catch (LinuxException ended) {
            return false;
        }
        Await.until(Duration.ofSeconds(60), () -> !isAlive() || KernelThread.areStopped(pid()), () -> pid()
                + " does not stop");
        return isAlive();
    }

    @Override
    public void close() throws InterruptedException {
        if (command instanceof CommandProcess.Own) {
            kill();
        } else {
            command.close();
        }
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
