// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.util.Optional;

import org.verbena.tests.apps.App;
import org.verbena.tests.apps.Postgres;

/**
 * The JDBC driver of PostgreSQL, which uses classic sockets; the server itself is without Verbena.
 *
 * @param rows of each answer
 */
record PostgresQueries(String name, int connections, int rows) implements Benchmark {
    @Override
    public String what() {
        return "JDBC driver of PostgreSQL with a plain server, connections: " + connections + ", rows a query: " + rows;
    }

    @Override
    public Optional<String> missing() throws Exception {
        return Postgres.missing();
    }

    @Override
    public void run(Run run) throws Exception {
        try (Postgres server = Postgres.start(run.scratch(), run.placement().server())) {
            run.measure(name, "rows", new App[0], "jdbc.JdbcBench", server.url(), connections, rows,
                    "select generate_series(1, ?::int)");
        }
    }
}
