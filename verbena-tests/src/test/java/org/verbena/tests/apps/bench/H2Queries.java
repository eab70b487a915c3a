// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import org.verbena.tests.apps.App;

/**
 * H2 as a server with a database in memory, and its JDBC driver, both of which use classic sockets.
 *
 * @param rows of each answer
 */
record H2Queries(String name, int connections, int rows) implements Benchmark {
    @Override
    public String what() {
        return "H2 as a server, connections: " + connections + ", rows a query: " + rows;
    }

    @Override
    public void run(Run run) throws Exception {
        try (App server = run.server().start("org.verbena.apps.jdbc.H2Server")) {
            run.measure(name, "rows", new App[] {server}, "jdbc.JdbcBench", "jdbc:h2:tcp://127.0.0.1:" + server
                    .awaitInt(
                            "port") + "/mem:bench", connections, rows, "select x from system_range(1, ?)");
            server.end();
        }
    }
}
