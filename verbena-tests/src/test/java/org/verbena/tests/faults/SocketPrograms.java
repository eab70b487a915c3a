// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.verbena.testkit.Jvm;
import org.verbena.tests.agent.AgentArchive;
import org.verbena.tests.agent.AgentJar;

/**
 * Starts {@link SocketPeer}, or another program, in separate processes, with the agent and without, and reads their
 * summaries.
 */
final class SocketPrograms {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path folder;
    private static final String AT_ONCE = "stream.earn=0";

    private final Path agent;
    private final Path program;
    private final Class<?> main;

    /** In a folder of the test, which every user may read from then on. */
    SocketPrograms(Path folder) throws IOException {
        this(folder, SocketPeer.class);
    }

    /** Another program, and its classes beside {@link Peer} and {@link PeerConnection}. */
    SocketPrograms(Path folder, Class<?> main, Class<?>... parts) throws IOException {
        this.main = main;
        this.folder = Files.createTempDirectory(folder, "programs");
        for (Path p : List.of(folder, this.folder)) {
            Files.setPosixFilePermissions(p, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        agent = this.folder.resolve("agent.jar"); // the folders of the build are closed to other users
        Files.copy(AgentJar.in(this.folder), agent);
        program = jar(this.folder.resolve("program.jar"), Stream.concat(Stream.of(main, PeerConnection.class,
                Peer.class),
                Stream.of(parts)).toArray(Class<?>[]::new));
    }

    /** The classes and those inside them: a class in a folder could not be loaded without a free descriptor. */
    private static Path jar(Path jar, Class<?>... classes) throws IOException {
        Path root = Jvm.classesOf(SocketPeer.class);
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(jar))) {
            for (Class<?> c : classes) {
                Path file = root.resolve(c.getName().replace('.', '/') + ".class");
                String name = file.getFileName().toString().replace(".class", "");
                List<Path> all = new ArrayList<>(List.of(file));
                try (var inner = Files.newDirectoryStream(file.getParent(), name + "$*.class")) {
                    inner.forEach(all::add);
                }
                for (Path f : all) {
                    zip.putNextEntry(new ZipEntry(root.relativize(f).toString()));
                    Files.copy(f, zip);
                }
            }
        }
        return jar;
    }

    /** Without Verbena. */
    Child.Builder plain() {
        return Child.of(main).withoutAccess().classPath(program.toString());
    }

    /** With the agent and its arguments, and rings from the first bytes on. */
    Child.Builder with(String arguments) {
        return with(agent, arguments.isEmpty() ? AT_ONCE : arguments + "," + AT_ONCE);
    }

    /** With another agent. */
    Child.Builder with(Path otherAgent, String arguments) {
        return plain().option(AgentArchive.options().toArray(String[]::new)).option("-javaagent:" + otherAgent + "="
                + arguments);
    }

    Path agent() {
        return agent;
    }

    /** A new file that any user's process may write its summary to. */
    Path summary() throws IOException {
        Path file = Files.createTempFile(folder, "summary", "");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
        return file;
    }

    /** Ends the process, and returns the summary of its sockets. */
    static JsonNode end(Child peer, Path summary) throws IOException, InterruptedException {
        peer.tell("exit");
        assertThat(peer.awaitExit()).as(peer + ": " + peer.errors()).isZero();
        assertThat(peer.crashed()).isFalse();
        return JSON.readTree(Files.readString(summary));
    }

    static long count(JsonNode summary, String group, String key) {
        return summary.get(group).path(key).asLong();
    }
}
