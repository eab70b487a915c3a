// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.compat;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * The agent of a later version, made from this one and its sources: it uses the next version of the handshake between
 * two ends, and announces features that this one does not know.
 */
public final class NextAgent {
    private static final String IN_JAR = "META-INF/modules/org.verbena.sockets/";

    private NextAgent() {}

    /**
     * Makes it.
     *
     * @param agent this version's
     * @param oldest version of the handshake that the later one still supports; this one uses 1
     * @param folder for it, where nothing else is
     */
    public static Path make(Path agent, int oldest, Path folder) throws IOException {
        Path classes = new StreamPatch(folder).replace("HandshakeMessage", " VERSION = 1;", " VERSION = 2;")
                .replace("HandshakeMessage", " OLDEST = 1;", " OLDEST = " + oldest + ";")
                .replace("Handshake", "HandshakeMessage\\.VERSION,\\s+HandshakeMessage\\.FEATURES,",
                        "HandshakeMessage.VERSION, -1L,")
                .compile("HandshakeMessage", "Handshake");
        return copy(agent, classes, folder.resolve("verbena-agent.jar"));
    }

    /** A copy of the agent in which classes are replaced. */
    private static Path copy(Path agent, Path classes, Path jar) throws IOException {
        int replaced = 0;
        try (ZipFile from = new ZipFile(agent.toFile());
                OutputStream file = Files.newOutputStream(jar);
                ZipOutputStream to = new ZipOutputStream(file)) {
            for (ZipEntry e : Collections.list(from.entries())) {
                if (e.isDirectory()) {
                    continue;
                }
                to.putNextEntry(new ZipEntry(e.getName()));
                Path other = classes.resolve(e.getName().replace(IN_JAR, ""));
                if (e.getName().startsWith(IN_JAR + StreamPatch.STREAM) && Files.exists(other)) {
                    Files.copy(other, to);
                    replaced++;
                } else {
                    try (InputStream in = from.getInputStream(e)) {
                        in.transferTo(to);
                    }
                }
            }
        }
        assertThat(replaced).as("classes that were replaced").isGreaterThanOrEqualTo(3); // the messages, HELLO, the handshake
        return jar;
    }
}
