// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;

import org.junit.jupiter.api.Assumptions;

import org.verbena.testkit.Await;

/** Resources of this machine: ports, programs. */
public final class Machine {
    private Machine() {}

    /**
     * A port for a program that cannot choose one itself and report it. It is reserved while this is open: the program
     * may listen there, since it sets {@code SO_REUSEADDR} too, and the kernel gives it to no program that requests any
     * port.
     */
    static Socket holdPort() throws IOException {
        Socket s = new Socket();
        s.setReuseAddress(true);
        s.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        return s;
    }

    /** Waits until a program takes connections. */
    static void awaitPort(int port, App app) throws IOException {
        Await.until(App.LIMIT, () -> {
            if (!app.isAlive()) {
                throw new AssertionError(app + " has ended: " + app.errors());
            }
            try (Socket s = new Socket()) {
                s.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                return true;
            } catch (IOException notYet) {
                return false;
            }
        }, () -> app + " does not listen at " + port);
    }

    /** A program by name. */
    public static Optional<Path> find(String name) {
        return Stream.concat(Arrays.stream(System.getenv("PATH").split(":", -1)), Stream.of("/usr/sbin", "/usr/bin"))
                .map(d -> Path.of(d, name)).filter(Files::isExecutable).findFirst();
    }

    /** The newest PostgreSQL's folder of programs. */
    static Optional<Path> postgres() throws IOException {
        Path all = Path.of("/usr/lib/postgresql");
        try (Stream<Path> versions = Files.isDirectory(all) ? Files.list(all) : Stream.empty()) {
            return versions.map(v -> v.resolve("bin")).filter(b -> Files.isExecutable(b.resolve("initdb")))
                    .max(java.util.Comparator.comparing(b -> b.getParent().getFileName().toString()));
        }
    }

    /** The program, or nothing and a line of output. */
    static Optional<Path> need(String test, String program, String debianPackage) {
        Optional<Path> found = find(program);
        if (found.isEmpty()) {
            skip(test, "there is no " + program + " (Debian: " + debianPackage + ")");
        }
        return found;
    }

    /** Aborts a test for which something is missing, with a line of output. */
    static void assumePresent(String test, Optional<String> missing) {
        missing.ifPresent(m -> {
            skip(test, m);
            Assumptions.abort(m);
        });
    }

    private static void skip(String test, String why) {
        System.out.println(test + ": skipped, " + why);
    }
}
