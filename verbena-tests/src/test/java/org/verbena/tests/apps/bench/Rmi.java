// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import org.verbena.tests.apps.App;

/**
 * RMI, which uses classic sockets: calls that take an array and return it.
 *
 * @param parallel threads that call, each of which has a connection
 * @param bytes of the array
 */
record Rmi(String name, int parallel, int bytes) implements Benchmark {
    @Override
    public String what() {
        return "RMI, calls with " + bytes + " B each way from " + parallel + " threads";
    }

    @Override
    public void run(Run run) throws Exception {
        try (App server = run.server().start("org.verbena.apps.rmi.RmiServer")) {
            int port = server.awaitInt("port");
            server.await("bound");
            run.measure(name, "calls", new App[] {server}, "rmi.RmiBench", port, parallel, bytes);
            server.end();
        }
    }
}
