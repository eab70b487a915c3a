// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.util.Optional;

import org.verbena.tests.apps.App;
import org.verbena.tests.apps.Redis;

/**
 * A client of Redis, SET and GET in turn; redis-server itself is without Verbena.
 *
 * @param client its load, a class in verbena-apps
 * @param pipelined commands under way at a time on each connection
 */
record RedisCommands(String name, String client, int connections, int pipelined) implements Benchmark {
    private static final int BYTES = 100;

    @Override
    public String what() {
        return client + " with a plain redis-server, values of " + BYTES + " B, connections: " + connections
                + ", commands at a time: " + pipelined;
    }

    @Override
    public Optional<String> missing() {
        return Redis.missing();
    }

    @Override
    public void run(Run run) throws Exception {
        try (Redis redis = Redis.start(run.scratch(), run.placement().server())) {
            run.measure(name, "commands", new App[0], "redis." + client + "Bench", redis.port(), connections, pipelined,
                    BYTES);
        }
    }
}
