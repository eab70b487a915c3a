// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.spi.Native;
import org.verbena.testkit.Finished;
import org.verbena.testkit.Jvm;

/** The error of a program whose JVM denies native access. */
class NativeAccessTest {
    private static final String PROGRAM = """
            import org.verbena.linux.*;
            class Denied {
                interface Call { void run() throws Throwable; }
                static void say(Call call) {
                    try { call.run(); System.out.println("no exception"); }
                    catch (Throwable t) { System.out.println(t.getClass().getSimpleName() + ": " + t.getMessage()); }
                }
                public static void main(String[] args) {
                    for (int i = 0; i < 2; i++) {
                        say(() -> Memfd.create("x", 1));
                        say(Eventfd::create);
                        say(Sys::monotonicNanos);
                        say(Sys::pageSize);
                        say(() -> Mapping.anonymous(1));
                        say(Sys::requireNativeAccess);
                    }
                    System.out.println(Errno.describe(12));
                }
            }
            """;

    @Test
    void deniedAccessIsOneSentence(@TempDir Path dir) throws Exception {
        Path source = Files.writeString(dir.resolve("Denied.java"), PROGRAM);
        Path classes = Jvm.classesOf(Native.class);
        String output = Finished.run(Jvm.JAVA, "--illegal-native-access=deny", "-cp", classes.toString(), source
                .toString()).output();
        String sentence = "IllegalCallerException: Verbena cannot make system calls because native access is denied;"
                + " start java with --enable-native-access=ALL-UNNAMED";
        assertThat(output.lines().filter(sentence::equals).count()).as(output).isEqualTo(12);
        assertThat(output).endsWith("ENOMEM (Cannot allocate memory)\n");
    }
}
