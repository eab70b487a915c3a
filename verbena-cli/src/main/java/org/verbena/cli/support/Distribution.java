// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The folder that this command runs from: its jars in {@code lib}, the agent, and the documents. */
public final class Distribution {
    private Distribution() {}

    /**
     * The folder. In a source tree each build has one of its own, which goes some time after the next build; the name that is
     * answered there is the link to the last one.
     */
    public static Path folder() throws IOException {
        Path jar;
        try {
            jar = Path.of(Distribution.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IOException(e);
        }
        Path folder = jar.resolve("../..").normalize();
        Path last = folder.resolveSibling("dist");
        return Files.isSymbolicLink(last) && Files.isSameFile(last, folder) ? last : folder;
    }

    /** The agent's jar. */
    public static Path agent() throws IOException {
        return folder().resolve("agent/verbena-agent.jar");
    }
}
