// SPDX-License-Identifier: Apache-2.0
package org.verbena.testkit;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * The {@link ClassArchive} of processes with this JVM's class path. There is none of folders of classes: it takes those of
 * the tests' own module from a jar made for that, and there is no archive where the build has made no jars of the modules, or the
 * tests run elsewhere, as in the machines of the lab. Safe for use by several threads.
 */
public final class ClassPathArchive {
    private static final String TESTS = "tests.jar";
    private static final String CLASS_PATH = System.getProperty("java.class.path");
    /** Surefire's has an empty entry at its end. */
    private static final List<Path> ENTRIES = Arrays.stream(CLASS_PATH.split(File.pathSeparator, -1)).filter(e -> !e
            .isEmpty()).map(Path::of).toList();

    private final ClassArchive archive;
    private final List<String> java;
    private final List<String> training;
    private List<String> options = List.of();

    /**
     * The archive of one kind of process.
     *
     * @param kind its name, a folder's
     * @param java the beginning of the command of all processes that start from it
     * @param training a class with a main method that loads what the processes need, and its arguments
     */
    public ClassPathArchive(String kind, List<String> java, String... training) {
        archive = new ClassArchive(kind);
        this.java = List.copyOf(java);
        this.training = List.of(training);
    }

    /** True in a build of the tree that has made jars of the other modules. */
    public static boolean isPossible() {
        Path own = Path.of("target").toAbsolutePath();
        return ENTRIES.stream().filter(Files::isDirectory).allMatch(e -> e.startsWith(own))
                && Files.exists(ClassArchive.target().resolveSibling("pom.xml"));
    }

    /** Options with this JVM's class path and, if it is possible, the archive, which is created if it is missing. */
    public synchronized List<String> classPath() {
        if (options.isEmpty()) {
            options = isPossible() ? make() : List.of("-cp", CLASS_PATH);
        }
        return options;
    }

    private List<String> make() {
        Path file = archive.of(files(), this::make);
        List<String> all = new ArrayList<>(ClassArchive.options("-XX:AOTCache=", file));
        all.addAll(List.of("-cp", path()));
        return all;
    }

    private static List<Path> files() {
        List<Path> all = new ArrayList<>();
        for (Path entry : ENTRIES) {
            if (Files.isDirectory(entry)) {
                all.addAll(filesOf(entry));
            } else if (Files.exists(entry)) {
                all.add(entry);
            }
        }
        return all;
    }

    private static List<Path> filesOf(Path folder) {
        try (Stream<Path> found = Files.walk(folder)) {
            return found.filter(Files::isRegularFile).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path tests() {
        return archive.folder().resolve(TESTS);
    }

    private String path() {
        return ENTRIES.stream().map(e -> Files.isDirectory(e) ? tests() : e).distinct().map(Path::toString).collect(
                Collectors.joining(File.pathSeparator));
    }

    private void make(Path made) throws IOException, InterruptedException {
        pack(ENTRIES.stream().filter(Files::isDirectory).toList(), tests());
        Path configuration = archive.folder().resolve("configuration");
        List<String> program = new ArrayList<>(List.of("-cp", path()));
        program.addAll(training);
        archive.run(java, List.of("-XX:AOTMode=record", "-XX:AOTConfiguration=" + configuration), program);
        archive.run(java, List.of("-XX:AOTMode=create", "-XX:AOTConfiguration=" + configuration, "-XX:AOTCache="
                + made), program);
        Files.delete(configuration);
    }

    /** Of files of the same name the first folder's is taken, as the class path has it. */
    private static void pack(List<Path> folders, Path jar) throws IOException {
        Set<String> names = new HashSet<>();
        try (OutputStream out = Files.newOutputStream(jar); ZipOutputStream zip = new ZipOutputStream(out)) {
            for (Path folder : folders) {
                for (Path f : filesOf(folder)) {
                    String name = folder.relativize(f).toString();
                    if (names.add(name)) {
                        zip.putNextEntry(new ZipEntry(name));
                        Files.copy(f, zip);
                    }
                }
            }
        }
    }
}
