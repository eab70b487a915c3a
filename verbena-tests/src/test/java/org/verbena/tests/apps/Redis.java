// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** A redis-server without persistence, at a port that is reserved for it. It runs outside Java. */
public final class Redis implements AutoCloseable {
    private static final String PROGRAM = "redis-server";

    private final Socket port = Machine.holdPort();
    private final App server;

    private Redis(Path program, Path scratch, List<String> before) throws IOException {
        server = App.command(scratch, before, program.toString(), "--bind", "127.0.0.1", "--port", Integer.toString(
                port()),
                "--save", "", "--dir", scratch.toString());
    }

    /** Why it cannot be started here. */
    public static Optional<String> missing() {
        return Machine.find(PROGRAM).isPresent()
                ? Optional.empty()
                : Optional.of("there is no " + PROGRAM + " (Debian: " + PROGRAM + ")");
    }

    /** Starts it, and waits until it takes connections. */
    public static Redis start(Path scratch) throws IOException, InterruptedException {
        return start(scratch, List.of());
    }

    /** As the other, behind a command that starts it. */
    public static Redis start(Path scratch, List<String> before) throws IOException, InterruptedException {
        Optional<Path> program = Machine.find(PROGRAM);
        Redis r = new Redis(program.orElseThrow(), scratch, before);
        try {
            Machine.awaitPort(r.port(), r.server);
            return r;
        } catch (Throwable t) {
            r.server.close();
            r.port.close();
            throw t;
        }
    }

    public int port() {
        return port.getLocalPort();
    }

    /** Ends it in order. */
    @Override
    public void close() throws IOException, InterruptedException {
        try (port; server) {
            server.terminate(0);
        }
    }
}
