// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import org.verbena.testkit.Await;
import org.verbena.testkit.Folders;

/** PostgreSQL with a cluster of its own in a temporary folder, at a port that is reserved for it. It runs outside Java. */
public final class Postgres implements AutoCloseable {
    private static final String USER = "postgres";

    private final Path data;
    private final Socket port;
    private final App server;

    private Postgres(Path data, Socket port, App server) {
        this.data = data;
        this.port = port;
        this.server = server;
    }

    /** Why it cannot be started here. */
    public static Optional<String> missing() throws IOException {
        return Machine.postgres().isPresent()
                ? Optional.empty()
                : Optional.of("there is no /usr/lib/postgresql (Debian: postgresql)");
    }

    /** Makes a cluster, starts it, and waits until it takes connections. */
    public static Postgres start(Path scratch) throws IOException, InterruptedException {
        return start(scratch, List.of());
    }

    /** As the other, behind a command that starts it. */
    public static Postgres start(Path scratch, List<String> before) throws IOException, InterruptedException {
        Path programs = Machine.postgres().orElseThrow();
        Path data = Files.createTempDirectory("verbena-postgres");
        Socket port = Machine.holdPort();
        try {
            Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxrwxrwx")); // its user makes a folder in it
            Path cluster = data.resolve("cluster");
            try (App init = asPostgres(scratch, before, programs.resolve("initdb"), "-D", cluster, "-U", USER, "-A",
                    "trust",
                    "--no-sync", "-E", "UTF8", "--locale=C")) {
                init.awaitExit(0);
            }
            App server = asPostgres(scratch, before, programs.resolve("postgres"), "-D", cluster, "-h", "127.0.0.1",
                    "-p", port
                            .getLocalPort(), "-k", "", "-F", "-c", "max_connections=120");
            try {
                Machine.awaitPort(port.getLocalPort(), server);
                Await.until(App.LIMIT, () -> server.errors().contains("ready to accept connections"),
                        () -> "not ready");
                return new Postgres(data, port, server);
            } catch (Throwable t) {
                server.close();
                throw t;
            }
        } catch (Throwable t) {
            port.close();
            Folders.remove(data);
            throw t;
        }
    }

    /** PostgreSQL does not run as root. */
    private static App asPostgres(Path scratch, List<String> before, Object... command) throws IOException {
        boolean root = System.getProperty("user.name").equals("root");
        Stream<String> user = root ? Stream.of("runuser", "-u", USER, "--") : Stream.empty();
        return App.command(scratch, before, Stream.concat(user, Stream.of(command).map(Object::toString)).toArray(
                String[]::new));
    }

    public int port() {
        return port.getLocalPort();
    }

    /** For the JDBC driver. */
    public String url() {
        return "jdbc:postgresql://127.0.0.1:" + port() + "/postgres?user=" + USER + "&socketTimeout=60";
    }

    /** Ends it in order, and removes the cluster. runuser passes the signal on. */
    @Override
    public void close() throws IOException, InterruptedException {
        try (port; server) {
            server.terminate(0, 143);
        }
        Folders.remove(data);
    }
}
