// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.openjdk;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.ClassArchive;
import org.verbena.testkit.Jvm;

/**
 * The archive of the classes of the JDK, JUnit and Verbena that programs on our channels start from, which takes a quarter less of
 * the processor. Their class path has to begin with the jars of the archive.
 */
final class ProgramArchive {
    private ProgramArchive() {}

    /** A test whose classes are in the archive. */
    static final class Training {
        @Test
        void connectionIsAccepted() throws IOException {
            try (Selector selector = Selector.open();
                    ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress
                            .getLoopbackAddress(), 0));
                    SocketChannel _ = SocketChannel.open(server.getLocalAddress())) {
                server.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
                selector.select();
            }
        }
    }

    /**
     * Options that start from it.
     *
     * @param jvm options of the programs
     * @param jars the beginning of their class path
     * @param folders more of it, with this class
     * @return nothing where the class path has no jars of Verbena
     */
    static List<String> options(List<String> jvm, String jars, String folders) {
        List<Path> files = Arrays.stream(jars.split(File.pathSeparator, -1)).map(Path::of).toList();
        if (files.stream().noneMatch(f -> f.getFileName().toString().startsWith("verbena-"))) {
            return List.of();
        }
        ClassArchive archive = new ClassArchive("openjdk");
        return ClassArchive.options(archive.of(files, made -> make(archive, made, jvm, jars, folders)));
    }

    private static void make(ClassArchive archive, Path made, List<String> jvm, String jars, String folders)
            throws IOException, InterruptedException {
        List<String> java = Jvm.command(jvm.toArray(String[]::new));
        archive.run(java, List.of("-XX:DumpLoadedClassList=" + archive.list()), List.of("-cp", jars + File.pathSeparator
                + folders, SessionFirst.class.getName(), JUnitMain.class.getName(), Training.class.getName()));
        try (Stream<String> lines = Files.lines(archive.list())) {
            List<String> ofJars = lines.filter(line -> !line.contains(" source: ")).toList();
            Files.write(archive.list(), ofJars);
        }
        archive.dump(made, java, List.of("-cp", jars));
    }
}
