// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** The command line of a JVM that runs {@code verbena} with the same Java, code and options as this one. */
public final class OwnJvm {
    private static final String ARCHIVE = "-XX:SharedArchiveFile=";

    /** The class of the command's {@code main}. */
    private static final String MAIN = "org.verbena.cli.Main";

    private static final String NATIVE_ACCESS = "--enable-native-access=";

    private OwnJvm() {}

    /** With additional JVM options; the list is mutable, and the arguments of {@code verbena} come last. */
    public static List<String> command(List<String> options, List<String> arguments) {
        List<String> c = new ArrayList<>();
        c.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        c.addAll(inherited());
        // Serial: its threads sleep unless it collects, and nothing here creates garbage.
        c.addAll(List.of("-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto"));
        c.addAll(options);
        String modulePath = System.getProperty("jdk.module.path", "");
        String classPath = System.getProperty("java.class.path", "");
        if (!classPath.isEmpty()) {
            c.addAll(List.of("--class-path", classPath));
        }
        if (!modulePath.isEmpty()) {
            c.addAll(List.of("--module-path", modulePath));
        }
        Module module = OwnJvm.class.getModule();
        for (String option : launchers()) {
            if (!module.isNamed()) {
                c.add(option.substring(0, option.lastIndexOf('=') + 1) + "ALL-UNNAMED");
            } else if (option.startsWith(NATIVE_ACCESS)) {
                c.add(nativeAccess(option));
            } else {
                c.add(option);
            }
        }
        c.addAll(module.isNamed() ? List.of("--module", module.getName() + "/" + MAIN) : List.of(MAIN));
        c.addAll(arguments);
        return c;
    }

    /** The options that {@code bin/verbena} gives a JVM, each for a module of the command or several. */
    private static List<String> launchers() {
        try (InputStream in = Objects.requireNonNull(OwnJvm.class.getResourceAsStream("/jvm.options"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException("a resource of the command cannot be read: jvm.options", e);
        }
    }

    /** The modules of this JVM: an archive of classes is valid only for the modules that it was made with. */
    private static String nativeAccess(String otherwise) {
        String[] words = ProcessHandle.current().info().arguments().orElse(new String[0]);
        return Arrays.stream(words).filter(a -> a.startsWith(NATIVE_ACCESS)).findFirst().orElse(otherwise);
    }

    /** Options of this JVM, except those for the location of code, the collector or agents. */
    private static List<String> inherited() {
        List<String> kept = new ArrayList<>();
        for (String a : ProcessHandle.current().info().arguments().orElse(new String[0])) {
            if (a.equals("-m") || a.startsWith("--module=") || a.equals("--module") || a.equals("-jar")
                    || a.equals(MAIN)) {
                break;
            }
            boolean collector = a.startsWith("-XX:+Use") && a.endsWith("GC");
            boolean archive = a.equals("-XX:+AutoCreateSharedArchive")
                    || (a.startsWith(ARCHIVE) && !Files.isReadable(Path.of(a.substring(ARCHIVE.length()))));
            if ((a.startsWith("-X") || a.startsWith("-D")) && !collector && !archive) {
                kept.add(a);
            }
        }
        return kept;
    }
}
