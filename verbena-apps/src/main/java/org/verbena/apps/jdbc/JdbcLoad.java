// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.jdbc;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

import org.verbena.apps.Data;
import org.verbena.apps.Lines;

/**
 * Bytes into PostgreSQL and back: {@code JdbcLoad PORT CONNECTIONS ROWS}. The server computes the hashes that are
 * compared. Pauses before it closes them, and prints {@code done CONNECTIONS}.
 */
public final class JdbcLoad {
    private static final int[] SIZES = {1, 8191, 65_536, 5_000_000};

    private JdbcLoad() {}

    /** Runs until each hash was compared. */
    public static void main(String[] args) throws Exception {
        String url = "jdbc:postgresql://127.0.0.1:" + args[0] + "/postgres?user=postgres&socketTimeout=60";
        int rows = Integer.parseInt(args[2]);
        List<Connection> connections = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            connections.add(DriverManager.getConnection(url));
        }
        for (int i = 0; i < connections.size(); i++) {
            values(connections.get(i), i);
        }
        copy(connections.getFirst(), rows);
        timeOut(connections.getLast());
        Lines.pause();
        for (Connection c : connections) {
            c.close();
        }
        Lines.say("done", connections.size());
    }

    private static void values(Connection c, long seed) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(
                "select encode(sha256(v), 'hex'), v from (select ?::bytea as v) t")) {
            for (int size : SIZES) {
                byte[] value = Data.bytes(seed + size, size);
                s.setBytes(1, value);
                try (ResultSet r = s.executeQuery()) {
                    r.next();
                    check("sent", Data.hash(value), r.getString(1));
                    check("received", Data.hash(value), Data.hash(r.getBytes(2)));
                }
            }
        }
    }

    /** COPY in and out, and rows by a cursor. */
    private static void copy(Connection c, int rows) throws Exception {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < rows; i++) {
            text.append(i).append('\t').append(HexFormat.of().formatHex(Data.bytes(i, 40))).append('\n');
        }
        byte[] in = text.toString().getBytes(StandardCharsets.US_ASCII);
        try (Statement s = c.createStatement()) {
            s.execute("create temporary table t (id int primary key, v text)");
            CopyManager copy = c.unwrap(PGConnection.class).getCopyAPI();
            check("rows", Integer.toString(rows), Long.toString(copy.copyIn("copy t from stdin",
                    new ByteArrayInputStream(in))));
            ByteArrayOutputStream out = new ByteArrayOutputStream(in.length);
            copy.copyOut("copy (select * from t order by id) to stdout", out);
            check("copied", Data.hash(in), Data.hash(out.toByteArray()));
        }
        c.setAutoCommit(false);
        StringBuilder read = new StringBuilder(in.length);
        try (Statement s = c.createStatement()) {
            s.setFetchSize(1000);
            try (ResultSet r = s.executeQuery("select id, v from t order by id")) {
                while (r.next()) {
                    read.append(r.getInt(1)).append('\t').append(r.getString(2)).append('\n');
                }
            }
        }
        c.setAutoCommit(true);
        check("fetched", Data.hash(in), Data.hash(read.toString().getBytes(StandardCharsets.US_ASCII)));
    }

    /** A query that is cancelled over a second connection of the driver leaves the first one usable. */
    private static void timeOut(Connection c) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.setQueryTimeout(1);
            try {
                s.execute("select pg_sleep(30)");
                throw new IllegalStateException("a query of 30 s was not cancelled after 1 s");
            } catch (SQLException e) {
                check("cancelled", "57014", e.getSQLState());
            }
        }
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("select 42")) {
            r.next();
            check("afterwards", "42", r.getString(1));
        }
    }

    private static void check(String what, String wanted, String came) {
        if (!wanted.equals(came)) {
            throw new IllegalStateException(what + ": " + came + " instead of " + wanted);
        }
    }
}
