// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.openjdk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.verbena.testkit.Finished;

/** The C libraries that some of OpenJDK's tests call, built with the machine's own compiler. */
final class Natives {
    private Natives() {}

    /** Builds those that are not there yet. */
    static void build(Path tests, Path folder) throws IOException, InterruptedException {
        Files.createDirectories(folder);
        library(tests, tests.resolve("lib/jdk/test/lib/thread/libVThreadPinner.c"), folder);
        library(tests, tests.resolve("jdk/java/net/Socket/libNativeThread.c"), folder);
        library(tests, tests.resolve(
                "jdk/java/nio/channels/spi/SelectorProvider/inheritedChannel/libInheritedChannel.c"),
                folder);
    }

    private static void library(Path tests, Path source, Path folder) throws IOException, InterruptedException {
        Path library = folder.resolve(source.getFileName().toString().replaceAll("\\.c$", ".so"));
        if (Files.exists(library)) {
            return;
        }
        Path include = Path.of(System.getProperty("java.home"), "include");
        Finished gcc;
        try {
            gcc = Finished.run("gcc", "-shared", "-fPIC", "-w", "-I", tests.resolve("lib/native").toString(),
                    "-I",
                    include.toString(), "-I", include.resolve("linux").toString(), "-o", library.toString(),
                    source.toString());
        } catch (IOException e) {
            System.out.println("tests that call C will fail, there is no gcc: " + e.getMessage());
            return;
        }
        if (gcc.code() != 0) {
            throw new IOException("gcc does not compile " + source + ": " + gcc.output());
        }
    }
}
