// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import org.verbena.tests.apps.App;

/** ZooKeeper on its NIO transport, whose nodes are read. */
record Keeper(String name, int connections) implements Benchmark {
    private static final int BYTES = 100;

    @Override
    public String what() {
        return "ZooKeeper, reads of " + BYTES + " B, connections: " + connections;
    }

    @Override
    public void run(Run run) throws Exception {
        try (App server = run.server().start("org.verbena.apps.zookeeper.KeeperServer", run.scratch().resolve(
                "data"))) {
            run.measure(name, "reads", new App[] {server}, "zookeeper.KeeperBench", server.awaitInt("port"),
                    connections,
                    BYTES);
            server.end();
        }
    }
}
