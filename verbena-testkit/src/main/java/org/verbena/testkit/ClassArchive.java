// SPDX-License-Identifier: Apache-2.0
package org.verbena.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * An archive of loaded and linked classes that processes of tests start from, which takes half of the processor time of
 * a short one. Each kind has a folder in the folder of the build, where the first start that can use the archive
 * creates it from the classes that a training run loads.
 *
 * <p>The JVM silently ignores an archive that does not match.
 */
public final class ClassArchive {
    private static final int LONGEST_SECONDS = 120;

    private final Path folder;

    /** The archive of one kind of process. */
    public ClassArchive(String kind) {
        folder = target().resolve("class-archive").resolve(kind);
    }

    /** How to make an archive. */
    @FunctionalInterface
    public interface Making {
        /** Makes this file. */
        void make(Path archive) throws IOException, InterruptedException;
    }

    /** Options for a JVM that starts from an archive of {@link #dump}. */
    public static List<String> options(Path archive) {
        return options("-XX:SharedArchiveFile=", archive);
    }

    /** Options for a JVM that starts from an archive, and says nothing of it. */
    static List<String> options(String option, Path archive) {
        List<String> all = new ArrayList<>(Jvm.ARCHIVE_IN_PLACE);
        all.addAll(List.of(option + archive, "-Xlog:cds*=off", "-Xlog:aot*=off"));
        return all;
    }

    /** The folder of the build. */
    public static Path target() {
        return Jvm.classesOf(ClassArchive.class).resolveSibling("");
    }

    /** The folder of the archive and of its list of classes. */
    public Path folder() {
        return folder;
    }

    /** The archive for these files and this JDK; created if it is missing. */
    public Path of(List<Path> files, Making making) {
        try {
            Files.createDirectories(folder);
            Path archive = folder.resolve(name(files));
            // another JVM with tests may be about to create the same
            try (FileChannel c = FileChannel.open(folder.resolve("lock"), StandardOpenOption.CREATE,
                    StandardOpenOption.WRITE); FileLock _ = c.lock()) {
                if (!Files.exists(archive)) {
                    deleteOld();
                    Path made = folder.resolve("made");
                    making.make(made);
                    Files.move(made, archive, StandardCopyOption.ATOMIC_MOVE);
                }
            }
            return archive;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void deleteOld() throws IOException {
        try (Stream<Path> old = Files.list(folder)) {
            for (Path p : old.filter(f -> f.toString().endsWith(".archive")).toList()) {
                Files.delete(p);
            }
        }
    }

    private static String name(List<Path> files) throws IOException {
        StringBuilder s = new StringBuilder(System.getProperty("java.home") + Runtime.version());
        for (Path file : files) {
            s.append(file).append(Files.size(file)).append(Files.getLastModifiedTime(file));
        }
        return Integer.toHexString(s.toString().hashCode()) + ".archive";
    }

    /** The list of the classes of the archive, one a line; a training run writes it by {@code -XX:DumpLoadedClassList}. */
    public Path list() {
        return folder.resolve("classes");
    }

    /**
     * Makes an archive of the classes of the list.
     *
     * @param java the beginning of the command of the processes that will start from it
     * @param program what follows the options; nothing where all classes are the JDK's
     */
    public void dump(Path made, List<String> java, List<String> program) throws IOException, InterruptedException {
        run(java, List.of("-Xshare:dump", "-XX:SharedClassListFile=" + list(), "-XX:SharedArchiveFile=" + made),
                program);
    }

    /** Runs one step of the creation. */
    public void run(List<String> before, List<String> options, List<String> program)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(before);
        command.addAll(options);
        command.addAll(program);
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
