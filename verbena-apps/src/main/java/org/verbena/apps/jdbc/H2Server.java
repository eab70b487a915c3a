// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.jdbc;

import org.h2.tools.Server;

import org.verbena.apps.Lines;

/** H2's server, which uses classic sockets, for databases in memory: {@code H2Server}. Prints {@code port}. */
public final class H2Server {
    private H2Server() {}

    /** Runs until its input ends. */
    public static void main(String[] none) throws Exception {
        System.setProperty("h2.bindAddress", "127.0.0.1");
        Server server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
        Lines.say("port", server.getPort());
        Lines.awaitEnd();
        server.stop();
    }
}
