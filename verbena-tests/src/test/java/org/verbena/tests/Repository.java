// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The location of the sources. */
public final class Repository {
    private static final Set<String> BUILT = Set.of("target", ".git", ".mvn");

    private Repository() {}

    /** The folder that holds the whole project. */
    public static Path root() {
        Path p = Path.of("").toAbsolutePath();
        while (!Files.exists(p.resolve("verbena-verbs")) || !Files.exists(p.resolve("docs"))) {
            p = p.getParent();
        }
        return p;
    }

    /** Its files, without what is built. */
    public static List<Path> files() throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(root(), new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                return BUILT.contains(folder.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                found.add(file);
                return FileVisitResult.CONTINUE;
            }
        });
        return found;
    }
}
