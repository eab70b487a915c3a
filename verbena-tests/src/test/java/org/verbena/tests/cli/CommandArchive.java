// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.verbena.testkit.ClassArchive;

/**
 * The archive of classes that commands of these tests start from. Jars are copied for it to where every user can read them:
 * commands of another user have the same module path, without which there is no archive for them.
 */
final class CommandArchive {
    /** Their classes are in it, and those of both ends of a copy. */
    private static final List<List<String>> TRAINING = Stream.of("doctor --json",
            "perf write-lat send-lat --size=8 --duration=5ms --warm-up=2ms --json")
            .map(line -> CommandProcess.module(line.split(" ", -1))).toList();

    /** The modules that the build has made, and what they need. */
    private static final List<Path> BUILT = Arrays.stream(System.getProperty("java.class.path").split(
            File.pathSeparator, -1)).filter(p -> p.matches(
                    ".*verbena-(linux|telemetry|verbs|shm|roce|rdmacore|xdp|stack|sockets|erm|cli)\\b.*|.*/(picocli|HdrHistogram|jackson|jline|jspecify)[^/]*"))
            .map(Path::of).toList();

    /**
     * Uses of classes that would make the dump link some of picocli. Their files have Java 5's format: an archive has such classes
     * only unlinked.
     */
    private static final Pattern LINKING = Pattern.compile("@(cp|lambda-proxy) .*picocli|@cp org/verbena/cli/");

    private CommandArchive() {}

    private static final class Own {
        static final ClassArchive ARCHIVE = new ClassArchive("commands");
        static final List<Path> JARS = IntStream.range(0, BUILT.size())
                // the name of an automatic module comes from its file, which keeps its name
                .mapToObj(i -> ARCHIVE.folder().resolve("modules/" + i).resolve(BUILT.get(i).getFileName())).toList();
        static final List<String> OPTIONS = ClassArchive.options(ARCHIVE.of(BUILT, CommandArchive::make));
    }

    /** True if the build has created jars: there is no archive of folders of classes. */
    static boolean isPossible() {
        return BUILT.stream().allMatch(Files::isRegularFile);
    }

    /** What commands start from: the modules that the archive is of, if there is one. */
    static List<Path> modules() {
        return isPossible() ? Own.JARS : BUILT;
    }

    /** Options to start with from these modules; none if the archive is not of them. */
    static List<String> options(String modulePath) {
        return isPossible() && modulePath.equals(CommandProcess.modulePath()) ? Own.OPTIONS : List.of();
    }

    /** True if processes of every user can read it, and the modules. */
    static boolean isReadableByAll() {
        return isPossible() && isReadableByAll(Own.JARS.getFirst().getParent());
    }

    /** True if processes of every user can read what is in a folder. */
    static boolean isReadableByAll(Path folder) {
        try {
            for (Path p = folder.toAbsolutePath(); p != null; p = p.getParent()) {
                if (!Files.getPosixFilePermissions(p).contains(PosixFilePermission.OTHERS_EXECUTE)) {
                    return false;
                }
            }
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void make(Path made) throws IOException, InterruptedException {
        ClassArchive archive = Own.ARCHIVE;
        for (int i = 0; i < BUILT.size(); i++) {
            Path copy = Own.JARS.get(i);
            Files.createDirectories(copy.getParent());
            Files.copy(BUILT.get(i), copy, StandardCopyOption.REPLACE_EXISTING);
        }
        TestUser.run("chmod", "-R", "a+rX", archive.folder().toString());
        String modules = CommandProcess.joined(Own.JARS);
        List<String> java = CommandProcess.java(modules);
        Path lists = Files.createTempDirectory(archive.folder(), "lists");
        // a list for each process, for some start others with their options
        String option = "-XX:DumpLoadedClassList=" + lists.resolve("%p");
        for (List<String> command : TRAINING) {
            archive.run(java, List.of(option), command);
        }
        Path copied = Files.createTempDirectory(archive.folder(), "copied");
        Path file = Files.createTempFile(archive.folder(), "file", "");
        try (CopyProcess listener = CopyProcess.startFrom(List.of(option), modules, "--listen", copied, "--port", 0,
                "--once", "--json");
                CopyProcess sender = CopyProcess.startFrom(List.of(option), modules, "--json", file, listener
                        .address())) {
            sender.expect(0);
            listener.expect(0);
        } finally {
            Files.deleteIfExists(copied.resolve(file.getFileName()));
            Files.delete(copied);
            Files.delete(file);
        }
        Files.write(archive.list(), merged(lists));
        archive.dump(made, java, CommandProcess.module("--version"));
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
                        if (!LINKING.matcher(line).lookingAt()) {
                            uses.add(line);
                        }
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
