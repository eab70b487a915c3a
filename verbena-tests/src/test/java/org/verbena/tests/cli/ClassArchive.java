// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The archive of loaded and linked classes that commands of these tests start from: with it a short one takes a fifth to a third
 * less processor time. Made in the folder of the build by the first start that can use it, of what {@code devices} loads.
 *
 * <p>The JVM passes over an archive that does not fit, without a word.
 */
final class ClassArchive {
    private static final int LONGEST_SECONDS = 120;

    private ClassArchive() {}

    private static final class Own {
        static final List<String> OPTIONS = make();
    }

    /** True if what the build has made are jars: there is no archive of folders of classes. */
    static boolean isPossible() {
        return jars(CommandProcess.modulePath()).allMatch(Files::isRegularFile);
    }

    /** Options to start with from these modules; none if the archive is not of them. */
    static List<String> options(String modulePath) {
        return modulePath.equals(CommandProcess.modulePath()) && isPossible() ? Own.OPTIONS : List.of();
    }

    private static Stream<Path> jars(String modulePath) {
        return Arrays.stream(modulePath.split(File.pathSeparator, -1)).map(Path::of);
    }

    private static List<String> make() {
        try {
            Path folder = Files.createDirectories(target().resolve("class-archive"));
            Path archive = folder.resolve(name());
            // another JVM with tests may be about to make the same
            try (FileChannel c = FileChannel.open(folder.resolve("lock"), StandardOpenOption.CREATE,
                    StandardOpenOption.WRITE); FileLock _ = c.lock()) {
                if (!Files.exists(archive)) {
                    make(folder, archive);
                }
            }
            return List.of("-Xshare:auto", "-Xlog:cds*=off", "-Xlog:aot*=off", "-XX:SharedArchiveFile=" + archive);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Path target() {
        return Path.of(ClassArchive.class.getProtectionDomain().getCodeSource().getLocation().getPath()).getParent();
    }

    /** Of an archive of these jars and this JDK. */
    private static String name() throws IOException {
        StringBuilder s = new StringBuilder(System.getProperty("java.home") + Runtime.version());
        for (Path jar : jars(CommandProcess.modulePath()).toList()) {
            s.append(jar).append(Files.size(jar)).append(Files.getLastModifiedTime(jar));
        }
        return Integer.toHexString(s.toString().hashCode()) + ".jsa";
    }

    private static void make(Path folder, Path archive) throws IOException, InterruptedException {
        try (Stream<Path> old = Files.list(folder)) {
            for (Path p : old.filter(f -> f.toString().endsWith(".jsa")).toList()) {
                Files.delete(p);
            }
        }
        Path list = folder.resolve("classes");
        Path made = folder.resolve("made");
        run(folder, "-XX:DumpLoadedClassList=" + list);
        run(folder, "-Xshare:dump", "-XX:+AOTClassLinking", "-XX:SharedClassListFile=" + list,
                "-XX:SharedArchiveFile=" + made);
        Files.move(made, archive, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void run(Path folder, String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(CommandProcess.java(CommandProcess.modulePath()));
        command.addAll(List.of(options));
        command.addAll(CommandProcess.module("devices"));
        Path log = folder.resolve("log");
        Process p = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        if (!p.waitFor(LONGEST_SECONDS, TimeUnit.SECONDS)) {
            p.destroyForcibly();
            throw new IOException("still running after " + LONGEST_SECONDS + " seconds: " + command);
        }
        if (p.exitValue() != 0) {
            throw new IOException(command + " ended with " + p.exitValue() + ":\n" + Files.readString(log));
        }
    }
}
