// SPDX-License-Identifier: Apache-2.0
package org.verbena.testkit;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** How tests start JVMs of their own: programs of the JDK, options, and what has to be granted to Verbena there. */
public final class Jvm {
    /** {@code java} of the JDK that runs. */
    public static final String JAVA = tool("java");

    private static final String NATIVE_ACCESS = "--enable-native-access=";
    private static final String UNNAMED = "ALL-UNNAMED";
    private static final String SOCKETS = "org.verbena.sockets";

    /**
     * Has a JVM map its archive of classes where it was made for. Else it maps it at a random address and rewrites all of its
     * pointers, which takes 15 to 30 ms of the processor.
     */
    static final List<String> ARCHIVE_IN_PLACE = List.of("-XX:+UnlockDiagnosticVMOptions",
            "-XX:ArchiveRelocationMode=0");

    /** What system calls need where Verbena is on the class path. */
    public static final String NATIVE_ON_CLASS_PATH = NATIVE_ACCESS + UNNAMED;
    /** What channels need where Verbena is on the class path. */
    public static final List<String> CHANNELS_ON_CLASS_PATH = Stream.concat(Stream.of(NATIVE_ON_CLASS_PATH), exports(
            UNNAMED, "sun.nio.ch", "sun.net")).toList();
    /** What channels need where Verbena is on the module path. */
    public static final List<String> CHANNELS_AS_MODULES = Stream.concat(Stream.of(NATIVE_ACCESS + "org.verbena.linux"),
            exports(SOCKETS, "sun.nio.ch", "sun.net")).toList();
    /** All that Verbena can use where it is on the module path, as the command has it. */
    public static final List<String> ALL_AS_MODULES = Stream.concat(CHANNELS_AS_MODULES.stream(), exports(SOCKETS,
            "jdk.internal.access", "jdk.internal.event")).toList();

    private Jvm() {}

    /** A program of the JDK that runs. */
    public static String tool(String name) {
        return Path.of(System.getProperty("java.home"), "bin", name).toString();
    }

    /** The folder or jar that a class comes from, for the class path of another JVM. */
    public static Path classesOf(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The beginning of a command for a program that is over soon, and so takes less of the processor: what follows may be added. */
    public static List<String> command(String... options) {
        List<String> command = commandOf(Path.of(JAVA));
        command.addAll(ARCHIVE_IN_PLACE);
        command.addAll(List.of(options));
        return command;
    }

    /** As the other, with a {@code java} that may be of another JDK. */
    public static List<String> commandOf(Path java, String... options) {
        List<String> command = new ArrayList<>(List.of(java.toString(), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(List.of(options));
        return command;
    }

    /** Options that export packages of the JDK's base module. */
    private static Stream<String> exports(String to, String... packages) {
        return Stream.of(packages).map(p -> "--add-exports=java.base/" + p + "=" + to);
    }
}
