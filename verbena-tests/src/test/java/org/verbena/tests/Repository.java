// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests;

import java.nio.file.Files;
import java.nio.file.Path;

/** The location of the sources. */
public final class Repository {
    private Repository() {}

    /** The folder that holds the whole project. */
    public static Path root() {
        Path p = Path.of("").toAbsolutePath();
        while (!Files.exists(p.resolve("verbena-verbs")) || !Files.exists(p.resolve("docs"))) {
            p = p.getParent();
        }
        return p;
    }
}
