// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Assumptions;

import org.verbena.linux.Errno;
import org.verbena.telemetry.SamplePoints;
import org.verbena.testkit.Finished;
import org.verbena.testkit.Jvm;
import org.verbena.verbs.Verbs;

/**
 * The libibverbs.so.1 and librdmacm.so.1 of the test resources, and programs that run with them: each variant in a
 * process of its own.
 */
final class MockLibrary {
    private static final List<String> SOURCES = List.of("mock.c", "mock_verbs.c", "mock_data.c", "mock_cm.c");

    private MockLibrary() {}

    /** Compiles the library; the test is skipped, with a line, where there is no gcc. */
    static Path compile(Path folder, String... options) throws Exception {
        needsGcc("makes a libibverbs for the test");
        Path library = folder.resolve("libibverbs.so.1");
        List<String> command = new ArrayList<>(List.of("gcc", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC",
                "-o", library.toString()));
        command.addAll(List.of(options));
        SOURCES.forEach(s -> command.add(resource("mock").resolve(s).toString()));
        Finished gcc = run(command, Map.of());
        assertThat(gcc.code()).as(gcc.output()).isZero();
        return library;
    }

    static void needsGcc(String why) throws Exception {
        try {
            if (run(List.of("gcc", "--version"), Map.of()).code() == 0) {
                return;
            }
        } catch (IOException absent) {
            // reported below
        }
        System.out.println("SKIPPED: gcc is not installed, which " + why);
        Assumptions.abort("no gcc");
    }

    static Path resource(String name) {
        try {
            return Path.of(MockLibrary.class.getResource("/" + name + "/mock.h").toURI()).getParent();
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    /** Runs a program on the class path, with a library in place of the installed one; null keeps that. */
    static Finished java(Class<?> program, Path library, Map<String, String> environment) throws Exception {
        return java(List.of("--enable-native-access=ALL-UNNAMED"), program, library, environment);
    }

    /** As above, with other options of the JVM. */
    static Finished java(List<String> options, Class<?> program, Path library, Map<String, String> environment)
            throws Exception {
        List<String> command = new ArrayList<>(List.of(Jvm.JAVA, "-XX:+UseSerialGC", "-Xmx256m",
                "-XX:-CreateCoredumpOnCrash"));
        command.addAll(options);
        if (library != null) {
            command.add("-Dverbena.ibverbs=" + library);
            if (options.stream().noneMatch(o -> o.startsWith("-Dverbena.rdmacm="))) {
                command.add("-Dverbena.rdmacm=" + library); // one file is both
            }
        }
        command.addAll(List.of("-cp", classPath(), program.getName()));
        return run(command, environment);
    }

    private static String classPath() {
        Stream<Path> folders = Stream.concat(Stream.of(resource("mock").getParent()), Stream.of(RdmaProvider.class,
                Verbs.class, SamplePoints.class, Errno.class, Assertions.class).map(Jvm::classesOf));
        return folders.map(Path::toString).collect(Collectors.joining(":"));
    }

    static Finished run(List<String> command, Map<String, String> environment) throws Exception {
        ProcessBuilder b = new ProcessBuilder(command);
        b.environment().putAll(environment);
        return Finished.run(b);
    }
}
