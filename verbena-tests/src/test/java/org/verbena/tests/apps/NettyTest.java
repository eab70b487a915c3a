// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.verbena.testkit.Thorough;
import org.verbena.tests.AppsLane;
import org.verbena.tests.apps.App.By;

/** Netty's NIO transport: an echo server and its client, which compares hashes. */
@AppsLane
class NettyTest {
    private static final String SERVER = "org.verbena.apps.netty.EchoServer";
    private static final String CLIENT = "org.verbena.apps.netty.EchoClient";

    @TempDir static Path dir;

    private static App server(By by, Object... keys) throws Exception {
        return App.java(dir, by).start(SERVER, keys);
    }

    private static void echo(App server, App client) throws Exception {
        client.go(client, server).await("done");
        client.awaitExit(0);
        server.end();
    }

    @Test
    void thousandConnectionsUseRings() throws Exception {
        useRings(1000, Thorough.ON ? 80_000 : 10_000, 4000);
    }

    @Thorough
    @ParameterizedTest
    @CsvSource({"1, 64000000, 65536", "100, 800000, 20000"})
    void fewerConnectionsUseRings(int connections, long bytes, int message) throws Exception {
        useRings(connections, bytes, message);
    }

    private static void useRings(int connections, long bytes, int message) throws Exception {
        try (App server = server(By.VERBENA);
                App client = App.java(dir, By.VERBENA).start(CLIENT, server.awaitInt("port"), connections, bytes,
                        message)) {
            echo(server, client);
            server.summary().byRing();
            client.summary().byRing();
        }
    }

    /** No settings: the timeout is the default one. */
    @Test
    void defaultTransportStaysUnlessConfigured() throws Exception {
        try (App server = App.java(dir, By.VERBENA).withDefaults().start(SERVER);
                App client = App.java(dir, By.VERBENA).withDefaults().start(CLIENT, server.awaitInt("port"), 10,
                        Thorough.ON ? 8_000_000 : 2_000_000, 16_384)) {
            echo(server, client);
            server.summary().byRing();
            client.summary().byRing();
        }
    }

    @ParameterizedTest
    @CsvSource({"VERBENA, PLAIN", "PLAIN, VERBENA"})
    void plainJavaEndIsServed(By serverBy, By clientBy) throws Exception {
        try (App server = App.java(dir, serverBy).withPlainPeers().start(SERVER);
                App client = App.java(dir, clientBy).withPlainPeers().start(CLIENT, server.awaitInt("port"), 20,
                        1_000_000, 10_000)) {
            echo(server, client);
            (serverBy == By.VERBENA ? server : client).summary().byTcp(20, 0);
        }
    }

    @Test
    void tlsUsesRings() throws Exception {
        Path keys = Keys.make(dir).store();
        try (App server = server(By.VERBENA, keys);
                App client = App.java(dir, By.VERBENA).start(CLIENT, server.awaitInt("port"), 4, Thorough.ON
                        ? 4_000_000
                        : 2_000_000, 16_384,
                        keys)) {
            echo(server, client);
            server.summary().byRing();
            client.summary().byRing();
        }
    }

    @Test
    void killedServerIsNoticed() throws Exception {
        try (App server = server(By.VERBENA);
                App client = App.java(dir, By.VERBENA).start(CLIENT, server.awaitInt("port"), 10, 4_000_000_000L,
                        65_536)) {
            client.go(client, server).await("connected");
            Thread.sleep(Thorough.ON ? 1500 : 300); // in the midst of it
            server.kill();
            long start = System.nanoTime();
            assertThat(client.await("failed")).matches("0 missing .*(closed when|reset|Broken pipe).*");
            long millis = (System.nanoTime() - start) / 1_000_000;
            System.out.println("NettyTest: all connections of a killed server had failed after " + millis + " ms");
            // The kernel ends TCP when the process ends, and each selector waits for that: no end notices late. Getting
            // a processor takes longer, since the remaining bytes of the rings are read and hashed first. So the limit
            // is no promise.
            assertThat(millis).as("ms until all connections had failed").isLessThan(60_000);
            client.awaitExit(1);
        }
    }
}
