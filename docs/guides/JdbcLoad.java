// SPDX-License-Identifier: Apache-2.0
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;

/** Queries one row again and again over one connection: "URL SECONDS". */
public class JdbcLoad {
    public static void main(String[] args) throws Exception {
        if (args.length != 2) {
            System.err.println("usage: JdbcLoad jdbc:… SECONDS");
            System.exit(2);
        }
        try (Connection connection = DriverManager.getConnection(args[0]);
                PreparedStatement query = connection.prepareStatement("select 1")) {
            for (int i = 0; i < Integer.parseInt(args[1]); i++) {
                long end = System.nanoTime() + 1_000_000_000L;
                int rows = 0;
                for (; System.nanoTime() < end; rows++) {
                    try (ResultSet one = query.executeQuery()) {
                        one.next();
                    }
                }
                System.out.println(rows + " queries in a second");
            }
        }
    }
}
