// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.testkit.Await;
import org.verbena.tests.AppsLane;
import org.verbena.tests.apps.App.By;

/** The JDBC driver of PostgreSQL, which uses classic sockets, and a server that the test starts. */
@AppsLane
class PostgresTest {
    private static final String USER = "postgres";
    private static final int CONNECTIONS = 20;

    @TempDir static Path dir;
    private static Path data;
    private static App server;
    private static Socket port;

    /** PostgreSQL does not run as root. */
    private static App asPostgres(String... command) throws Exception {
        List<String> all = new ArrayList<>();
        if (System.getProperty("user.name").equals("root")) {
            all.addAll(List.of("runuser", "-u", USER, "--"));
        }
        all.addAll(List.of(command));
        return App.command(dir, all.toArray(String[]::new));
    }

    @BeforeAll
    static void startServer() throws Exception {
        Optional<Path> bin = Machine.postgres();
        if (bin.isEmpty()) {
            System.out.println("PostgresTest: skipped, there is no /usr/lib/postgresql (Debian: postgresql)");
        }
        assumeTrue(bin.isPresent());
        data = Files.createTempDirectory("verbena-postgres");
        Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxrwxrwx")); // its user makes a folder in it
        String cluster = data.resolve("cluster").toString();
        try (App init = asPostgres(bin.get().resolve("initdb").toString(), "-D", cluster, "-U", USER, "-A", "trust",
                "--no-sync", "-E", "UTF8", "--locale=C")) {
            init.awaitExit(0);
        }
        port = Machine.holdPort();
        server = asPostgres(bin.get().resolve("postgres").toString(), "-D", cluster, "-h", "127.0.0.1", "-p", Integer
                .toString(port.getLocalPort()), "-k", "", "-F", "-c", "max_connections=120");
        Machine.awaitPort(port.getLocalPort(), server);
        Await.until(App.LIMIT, () -> server.errors().contains("ready to accept connections"), () -> "not ready");
    }

    /** runuser passes the signal on. */
    @AfterAll
    static void stopServer() throws Exception {
        if (server != null) {
            try (App stopped = server) {
                stopped.terminate(0, 143);
            }
        }
        if (port != null) {
            port.close();
        }
        if (data != null) {
            try (Stream<Path> files = Files.walk(data)) {
                files.sorted(java.util.Comparator.reverseOrder()).forEach(f -> f.toFile().delete());
            }
            assertThat(data).doesNotExist();
        }
    }

    @ParameterizedTest
    @EnumSource
    void driverWorksUnderVerbena(By by) throws Exception {
        try (App client = App.java(dir, by).withPlainPeers().start("org.verbena.apps.jdbc.JdbcLoad", port
                .getLocalPort(), CONNECTIONS, 20_000)) {
            client.go(client).await("done");
            client.awaitExit(0);
            if (by == By.VERBENA) {
                // All are open until they are decided; the connection that cancels a query is short.
                client.summary().byTcp(CONNECTIONS, 1);
            }
        }
    }
}
