// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

import org.verbena.verbs.spi.VerbsProvider;

/**
 * Which provider a linkage error is about: {@link java.util.ServiceLoader} lets such an error through as it is, and
 * that names the missing class, not the provider that needs it. Only the class path needs this; a module's providers
 * are checked when it is resolved.
 */
final class UnlinkedProvider {
    private UnlinkedProvider() {}

    /**
     * Loads every class that a service file names once more and returns the first that fails with the same words and is
     * not among the problems yet.
     */
    static Optional<String> nameOf(LinkageError error, List<String> problems) {
        ClassLoader loader = Verbs.class.getClassLoader();
        try {
            for (URL file : Collections.list(loader.getResources("META-INF/services/" + VerbsProvider.class
                    .getName()))) {
                try (BufferedReader in = new BufferedReader(
                        new InputStreamReader(file.openStream(), StandardCharsets.UTF_8))) {
                    Optional<String> found = in.lines().map(line -> line.replaceFirst("#.*", "").strip())
                            .filter(name -> !name.isEmpty() && failsWith(error, name, loader)).map("provider "::concat)
                            .filter(name -> problems.stream().noneMatch(p -> p.startsWith(name + " "))).findFirst();
                    if (found.isPresent()) {
                        return found;
                    }
                }
            }
        } catch (IOException | UncheckedIOException e) {
            // A file that cannot be read has no name to give; the error itself is reported all the same.
        }
        return Optional.empty();
    }

    private static boolean failsWith(LinkageError error, String className, ClassLoader loader) {
        try {
            Class.forName(className, false, loader);
        } catch (LinkageError e) {
            return e.toString().equals(error.toString());
        } catch (ClassNotFoundException e) {
            return false;
        }
        return false;
    }
}
