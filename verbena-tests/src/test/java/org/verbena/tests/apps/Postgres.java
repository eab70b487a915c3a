// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import org.verbena.testkit.Await;

/** PostgreSQL with a cluster of its own in a temporary folder, at a port that is reserved for it. It runs outside Java. */
public final class Postgres implements AutoCloseable {
    private static final String USER = "postgres";

    private final Path scratch;
    private final Path data;
    private final Socket port = Machine.holdPort();
    private final App server;

    private Postgres(Path programs, Path scratch) throws IOException, InterruptedException {
        this.scratch = scratch;
        data = Files.createTempDirectory("verbena-postgres");
        Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxrwxrwx")); // its user makes a folder in it
        String cluster = data.resolve("cluster").toString();
        try (App init = asPostgres(programs.resolve("initdb").toString(), "-D", cluster, "-U", USER, "-A", "trust",
                "--no-sync", "-E", "UTF8", "--locale=C")) {
            init.awaitExit(0);
        }
        server = asPostgres(programs.resolve("postgres").toString(), "-D", cluster, "-h", "127.0.0.1", "-p", Integer
                .toString(port()), "-k", "", "-F", "-c", "max_connections=120");
    }

    /** Why it cannot be started here. */
    public static Optional<String> missing() throws IOException {
        return Machine.postgres().isPresent()
                ? Optional.empty()
                : Optional.of("there is no /usr/lib/postgresql (Debian: postgresql)");
    }

    /** Makes a cluster, starts it, and waits until it takes connections. */
    public static Postgres start(Path scratch) throws IOException, InterruptedException {
        Optional<Path> programs = Machine.postgres();
        Postgres p = new Postgres(programs.orElseThrow(), scratch);
        try {
            Machine.awaitPort(p.port(), p.server);
            Await.until(App.LIMIT, () -> p.server.errors().contains("ready to accept connections"), () -> "not ready");
            return p;
        } catch (Throwable t) {
            p.close();
            throw t;
        }
    }

    /** PostgreSQL does not run as root. */
    private App asPostgres(String... command) throws IOException {
        List<String> all = new ArrayList<>();
        if (System.getProperty("user.name").equals("root")) {
            all.addAll(List.of("runuser", "-u", USER, "--"));
        }
        all.addAll(List.of(command));
        return App.command(scratch, all.toArray(String[]::new));
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
        try (Stream<Path> files = Files.walk(data)) {
            files.sorted(Comparator.reverseOrder()).forEach(f -> f.toFile().delete());
        }
        if (Files.exists(data)) {
            throw new IOException(data + " is not empty");
        }
    }
}
