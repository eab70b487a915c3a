// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import org.verbena.tests.apps.App;

/** An echo server on Netty with one event loop, and a client on Netty, which asks again when it is answered. */
record NettyEcho(int connections) implements Benchmark {
    private static final int BYTES = 64;

    @Override
    public String name() {
        return "netty-echo-" + connections;
    }

    @Override
    public String what() {
        return "Netty, echo of " + BYTES + " B, connections: " + connections;
    }

    @Override
    public void run(Run run) throws Exception {
        try (App server = run.server().option("-Dthreads=1").start("org.verbena.apps.netty.EchoServer")) {
            run.measure(name(), "requests", new App[] {server}, "netty.EchoBench", server.awaitInt("port"), connections,
                    BYTES);
            server.end();
        }
    }
}
