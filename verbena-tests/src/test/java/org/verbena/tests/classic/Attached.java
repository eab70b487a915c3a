// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.classic;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * A program that has sockets before the agent is attached; after each line of input it prints the transport of these
 * and of new ones.
 */
final class Attached {
    private Attached() {}

    public static void main(String[] args) throws Exception {
        try (ServerSocket before = Pair.listen(); Pair old = Pair.open()) {
            System.out.println("ready");
            while (System.in.read() >= 0) {
                try (Socket client = new Socket(before.getInetAddress(), before.getLocalPort());
                        Socket accepted = before.accept();
                        Pair fresh = Pair.open()) {
                    System.out.println("old connection " + talk(old) + ", old listener " + talk(new Pair(client,
                            accepted))
                            + ", new " + talk(fresh));
                }
            }
        }
    }

    private static String talk(Pair p) throws IOException {
        p.out().write(42);
        p.peerOut().write(p.peerIn().read());
        return (p.in().read() == 42 ? "" : "broken ") + Pair.transport(p.server());
    }
}
