// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.compat;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

import org.verbena.tests.Repository;

/** The stream sources of this version, modified and compiled. */
final class StreamPatch {
    /** The path of the classes in the jar and below the folder of {@link #compile}. */
    static final String STREAM = "org/verbena/sockets/stream/";

    private final Path folder;
    private final SourcePatch sources;

    /** @param folder for it, which is empty */
    StreamPatch(Path folder) throws IOException {
        this.folder = folder;
        Files.createDirectories(folder.resolve("added"));
        sources = SourcePatch.of(Repository.root().resolve("verbena-sockets/src/main/java"), folder.resolve("added"),
                folder.resolve("sources"), "org.verbena.sockets.stream");
    }

    /** Replaces the one match of a regular expression. */
    StreamPatch replace(String type, String regex, String by) {
        sources.replace(type, regex, by);
        return this;
    }

    /** Compiles the modified classes; returns their folder. */
    Path compile(String... types) {
        Path classes = folder.resolve("classes");
        List<Path> classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(Path::of).toList();
        List<Path> files = Arrays.stream(types).map(t -> sources.root().resolve(STREAM + t + ".java")).toList();
        assertThat(Jars.compile(files, List.of(), classPath, classes)).isEmpty();
        return classes;
    }
}
