// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.Socket;
import java.nio.file.Path;
import java.util.Optional;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.tests.AppsLane;
import org.verbena.tests.apps.App.By;

/** A client of Redis that uses Netty, and redis-server. */
@AppsLane
class RedisTest {
    @TempDir static Path dir;

    @Test
    void clientWorksUnderVerbena() throws Exception {
        Optional<Path> redis = Machine.need("RedisTest", "redis-server", "redis-server");
        assumeTrue(redis.isPresent());
        try (Socket held = Machine.holdPort();
                App server = App.command(dir, redis.get().toString(), "--bind", "127.0.0.1", "--port", Integer.toString(
                        held.getLocalPort()), "--save", "", "--dir", dir.toString())) {
            int port = held.getLocalPort();
            Machine.awaitPort(port, server);
            try (App client = App.java(dir, By.VERBENA).withPlainPeers().start("org.verbena.apps.redis.RedisLoad", port,
                    5)) {
                client.go(client).await("done");
                client.awaitExit(0);
                client.summary().byTcp(5, 0);
            }
            server.terminate(0);
        }
    }
}
