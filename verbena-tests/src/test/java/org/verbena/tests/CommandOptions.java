// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;

/** What the command's JVM is given, from the file that has it: {@code verbena-cli/src/main/dist/jvm.options}. */
public final class CommandOptions {
    private static final String EXPORT = "--add-exports=";

    private CommandOptions() {}

    /** All options, for Verbena on the module path. */
    public static List<String> all() {
        try {
            return Files.readAllLines(Repository.root().resolve("verbena-cli/src/main/dist/jvm.options"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Those that let modules call native code, one option. */
    public static String nativeAccess() {
        return all().stream().filter(o -> o.startsWith("--enable-native-access=")).findFirst().orElseThrow();
    }

    /** Those that export packages of the JDK. */
    public static List<String> exports() {
        return all().stream().filter(o -> o.startsWith(EXPORT)).toList();
    }

    /** The same for Verbena on the class path. */
    public static List<String> exportsOnClassPath() {
        return exports().stream().map(o -> o.substring(0, o.lastIndexOf('=') + 1) + "ALL-UNNAMED").toList();
    }
}
