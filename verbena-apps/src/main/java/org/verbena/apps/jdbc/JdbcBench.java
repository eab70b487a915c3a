// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import org.verbena.apps.Rate;

/**
 * Rows a second that a database answers with: {@code JdbcBench URL CONNECTIONS ROWS QUERY WARM-UP-MILLIS MILLIS PACE}, see
 * {@link Rate}. The query has one parameter, the number of rows, and answers with integers.
 */
public final class JdbcBench {
    private JdbcBench() {}

    /** Runs for the time given. */
    public static void main(String[] args) throws Exception {
        int rows = Integer.parseInt(args[2]);
        List<Connection> connections = new ArrayList<>();
        List<Rate.Work> all = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            Connection c = DriverManager.getConnection(args[0]);
            connections.add(c);
            PreparedStatement s = c.prepareStatement(args[3]);
            all.add(() -> ask(s, rows));
        }
        new Rate(args).of(all);
        for (Connection c : connections) {
            c.close();
        }
    }

    private static int ask(PreparedStatement s, int rows) throws SQLException {
        s.setInt(1, rows);
        int came = 0;
        try (ResultSet r = s.executeQuery()) {
            while (r.next()) {
                came++;
            }
        }
        if (came != rows) {
            throw new IllegalStateException(came + " rows instead of " + rows);
        }
        return rows;
    }
}
