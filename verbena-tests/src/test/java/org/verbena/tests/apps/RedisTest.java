// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import java.nio.file.Path;

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
        Machine.assumePresent("RedisTest", Redis.missing());
        try (Redis server = Redis.start(dir);
                App client = App.java(dir, By.VERBENA).withPlainPeers().start("org.verbena.apps.redis.RedisLoad", server
                        .port(), 5)) {
            client.go(client).await("done");
            client.awaitExit(0);
            client.summary().byTcp(5, 0);
        }
    }
}
