// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The command line of a JVM that runs {@code verbena} with the same Java, code and options as this one. */
public final class OwnJvm {
    private static final String ARCHIVE = "-XX:SharedArchiveFile=";

    /** The class of the command's {@code main}. */
    private static final String MAIN = "org.verbena.cli.Main";

    private static final String NATIVE_ACCESS = "--enable-native-access=";

    private OwnJvm() {}

    /** With more options of the JVM's; the list can be added to, and what {@code verbena} is to do comes last. */
    public static List<String> command(List<String> options, List<String> arguments) {
        List<String> c = new ArrayList<>();
        c.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        c.addAll(inherited());
        // Serial: its threads sleep unless it collects, and nothing here makes garbage.
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
        String sockets = module.isNamed() ? "org.verbena.sockets" : "ALL-UNNAMED";
        for (String p : List.of("sun.nio.ch", "sun.net", "jdk.internal.access", "jdk.internal.event")) {
            c.add("--add-exports=java.base/" + p + "=" + sockets);
        }
        if (module.isNamed()) {
            c.addAll(List.of(nativeAccess(), "--module", module.getName() + "/" + MAIN));
        } else {
            c.addAll(List.of("--enable-native-access=ALL-UNNAMED", MAIN));
        }
        c.addAll(arguments);
        return c;
    }

    /** As of this JVM: an archive of classes is for just the modules that it was made with. */
    private static String nativeAccess() {
        String[] words = ProcessHandle.current().info().arguments().orElse(new String[0]);
        return Arrays.stream(words).filter(a -> a.startsWith(NATIVE_ACCESS)).findFirst()
                .orElse(NATIVE_ACCESS + "org.verbena.linux");
    }

    /** Options of this JVM that do not say where code is, which collector to use or whom to attach. */
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
