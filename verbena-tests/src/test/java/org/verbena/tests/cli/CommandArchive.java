// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.verbena.testkit.ClassArchive;

/** The archive of classes that commands of these tests start from. */
final class CommandArchive {
    /** Their classes are in it. */
    private static final List<List<String>> TRAINING = Stream.of("devices", "doctor --json",
            "perf write-lat send-lat --size=8 --duration=5ms --warm-up=2ms --json")
            .map(line -> CommandProcess.module(line.split(" ", -1))).toList();

    private CommandArchive() {}

    private static final class Own {
        static final List<String> OPTIONS = make();
    }

    /** True if the build has created jars: there is no archive of folders of classes. */
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
        ClassArchive archive = new ClassArchive("commands");
        Path file = archive.of(jars(CommandProcess.modulePath()).toList(), made -> make(archive, made));
        return List.of("-Xshare:auto", "-Xlog:cds*=off", "-Xlog:aot*=off", "-XX:SharedArchiveFile=" + file);
    }

    private static void make(ClassArchive archive, Path made) throws IOException, InterruptedException {
        List<String> java = CommandProcess.java(CommandProcess.modulePath());
        Path lists = Files.createTempDirectory(archive.folder(), "lists");
        for (List<String> command : TRAINING) {
            // a list for each process, for some start others with their options
            archive.run(java, List.of("-XX:DumpLoadedClassList=" + lists.resolve("%p")), command);
        }
        Path list = archive.folder().resolve("classes");
        Files.write(list, merged(lists));
        archive.run(java, List.of("-Xshare:dump", "-XX:+AOTClassLinking", "-XX:SharedClassListFile=" + list,
                "-XX:SharedArchiveFile=" + made), TRAINING.getFirst());
    }

    /**
     * Each class once, and then the lines about them. Identifiers differ between the lists, and only classes of other loaders
     * need one.
     */
    private static List<String> merged(Path lists) throws IOException {
        Set<String> classes = new LinkedHashSet<>();
        Set<String> uses = new LinkedHashSet<>();
        try (Stream<Path> all = Files.list(lists)) {
            for (Path list : all.sorted().toList()) {
                String lines = Files.readString(list);
                // a process that was killed has written a part of its last line
                for (String line : lines.substring(0, lines.lastIndexOf('\n') + 1).lines().toList()) {
                    if (line.startsWith("@")) {
                        uses.add(line);
                    } else if (!line.startsWith("#") && !line.contains(" source: ")) {
                        classes.add(line.replaceFirst(" id: .*", ""));
                    }
                }
                Files.delete(list);
            }
        }
        Files.delete(lists);
        return Stream.concat(classes.stream(), uses.stream()).toList();
    }
}
