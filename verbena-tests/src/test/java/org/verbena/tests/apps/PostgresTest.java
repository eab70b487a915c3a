// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import java.nio.file.Path;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.tests.AppsLane;
import org.verbena.tests.apps.App.By;

/** The JDBC driver of PostgreSQL, which uses classic sockets, and a server that the test starts. */
@AppsLane
class PostgresTest {
    private static final int CONNECTIONS = 20;

    @TempDir static Path dir;
    private static Postgres server;

    @BeforeAll
    static void startServer() throws Exception {
        Machine.assumePresent("PostgresTest", Postgres.missing());
        server = Postgres.start(dir);
    }

    @AfterAll
    static void stopServer() throws Exception {
        if (server != null) {
            server.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void driverWorksUnderVerbena(By by) throws Exception {
        try (App client = App.java(dir, by).withPlainPeers().start("org.verbena.apps.jdbc.JdbcLoad", server.port(),
                CONNECTIONS, 20_000)) {
            client.go(client).await("done");
            client.awaitExit(0);
            if (by == By.VERBENA) {
                // All are open until they are decided; the connection that cancels a query is short.
                client.summary().byTcp(CONNECTIONS, 1);
            }
        }
    }
}
