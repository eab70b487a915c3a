// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.nio.file.Files;
import java.nio.file.Path;

import org.verbena.tests.apps.App;

/**
 * A server of HTTP that sends a file, and a client that keeps its connections.
 *
 * @param server whose, as its class in verbena-apps is called
 * @param client {@code jdk} or {@code jetty}
 * @param bytes of the file
 */
record Http(String name, String server, String client, int bytes) implements Benchmark {
    private static final int CONNECTIONS = 8;

    @Override
    public String what() {
        return "HTTP, server " + server + ", client " + client + ", responses of " + bytes + " B, " + CONNECTIONS
                + " connections";
    }

    @Override
    public void run(Run run) throws Exception {
        Path folder = Files.createDirectory(run.scratch().resolve("files"));
        Files.write(folder.resolve("file"), new byte[bytes]);
        try (App app = run.server().start("org.verbena.apps.http." + server + "Server", folder)) {
            run.measure(name, "requests", new App[] {app}, "http.HttpBench", client, "http://127.0.0.1:" + app.awaitInt(
                    "port") + "/file", CONNECTIONS, bytes);
            app.end();
        }
    }
}
