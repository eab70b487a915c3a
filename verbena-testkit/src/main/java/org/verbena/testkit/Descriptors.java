// SPDX-License-Identifier: Apache-2.0
package org.verbena.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** What a process has open, as the kernel shows it. */
public final class Descriptors {
    private Descriptors() {}

    /** What each descriptor of this process is, such as {@code /memfd:verbena-lanes (deleted)} or {@code socket:[4711]}. */
    public static List<String> targets() {
        return targets("self");
    }

    /** What each descriptor of a process is; empty for one that is closed meanwhile. */
    public static List<String> targets(String pid) {
        try (Stream<Path> all = Files.list(Path.of("/proc", pid, "fd"))) {
            return all.map(Descriptors::target).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** How many descriptors this process has. */
    public static long count() {
        return targets().size();
    }

    /** How many descriptors of this process have the text in what they are. */
    public static long count(String text) {
        return targets().stream().filter(t -> t.contains(text)).count();
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException closed) {
            return "";
        }
    }
}
