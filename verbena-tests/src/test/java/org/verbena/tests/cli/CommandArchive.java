// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import org.verbena.testkit.ClassArchive;

/** The archive of classes that commands of these tests start from; it has the classes that {@code devices} loads. */
final class CommandArchive {
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
        List<String> command = CommandProcess.module("devices");
        Path list = archive.folder().resolve("classes");
        archive.run(java, List.of("-XX:DumpLoadedClassList=" + list), command);
        archive.run(java, List.of("-Xshare:dump", "-XX:+AOTClassLinking", "-XX:SharedClassListFile=" + list,
                "-XX:SharedArchiveFile=" + made), command);
    }
}
