// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.verbena.tests.ClassArchive;

/**
 * The archive of classes that a {@link Child} starts from. There is none of folders of classes: it takes those of the tests from a
 * jar made for that, and is not there where the build has made no jars of the modules.
 */
final class ChildArchive {
    private static final String TESTS = "tests.jar";

    private ChildArchive() {}

    private static final class Own {
        static final List<String> OPTIONS = isPossible()
                ? make()
                : List.of("-cp", System.getProperty(
                        "java.class.path"));
    }

    /** Options with the class path of this JVM's, and the archive. */
    static List<String> classPath() {
        return Own.OPTIONS;
    }

    /** True if what the build has made of the modules are jars. */
    static boolean isPossible() {
        return modules().allMatch(Files::isRegularFile);
    }

    private static Stream<Path> all() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1)).map(Path::of);
    }

    private static Stream<Path> modules() {
        return all().filter(p -> p.toString().matches(
                ".*/verbena-(linux|telemetry|verbs|shm|roce|rdmacore|sockets|erm|testkit)\\b.*"));
    }

    private static Stream<Path> folders() {
        return all().filter(Files::isDirectory);
    }

    private static List<Path> classes() {
        List<Path> files = new ArrayList<>();
        for (Path folder : folders().toList()) {
            try (Stream<Path> found = Files.walk(folder)) {
                found.filter(Files::isRegularFile).sorted().forEach(files::add);
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }
        return files;
    }

    private static List<String> make() {
        ClassArchive archive = new ClassArchive("children");
        List<Path> files = new ArrayList<>(classes());
        modules().forEach(files::add);
        Path file = archive.of(files, made -> make(archive, made));
        List<Path> path = path(archive);
        all().filter(p -> !Files.isDirectory(p) && !path.contains(p)).forEach(path::add);
        return List.of("-XX:AOTCache=" + file, "-Xlog:cds*=off", "-Xlog:aot*=off", "-cp", join(path));
    }

    /** What the archive is of; any class path that it is for begins with it. */
    private static List<Path> path(ClassArchive archive) {
        List<Path> path = new ArrayList<>(List.of(archive.folder().resolve(TESTS)));
        modules().forEach(path::add);
        return path;
    }

    private static String join(List<Path> path) {
        return path.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    private static void make(ClassArchive archive, Path made) throws IOException, InterruptedException {
        Files.deleteIfExists(archive.folder().resolve(TESTS));
        for (Path folder : folders().toList()) {
            Users.pack(folder, archive.folder().resolve(TESTS));
        }
        List<String> java = new ArrayList<>(Child.JAVA);
        java.addAll(Child.ACCESS);
        Path configuration = archive.folder().resolve("configuration");
        List<String> program = List.of("-cp", join(path(archive)), ArchiveTraining.class.getName());
        archive.run(java, List.of("-XX:AOTMode=record", "-XX:AOTConfiguration=" + configuration), program);
        archive.run(java, List.of("-XX:AOTMode=create", "-XX:AOTConfiguration=" + configuration, "-XX:AOTCache="
                + made), program);
        Files.delete(configuration);
    }
}
