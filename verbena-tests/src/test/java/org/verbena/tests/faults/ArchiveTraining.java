// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A process whose classes are stored in the archive that children start from: queue pairs, channels and remote memory
 * at work.
 */
final class ArchiveTraining {
    private static final String HOST = "127.0.0.1";

    private ArchiveTraining() {}

    /** Executes the commands of a peer. */
    @FunctionalInterface
    private interface Ear {
        String hear(String... words) throws Exception;
    }

    public static void main(String[] none) throws Exception {
        Peer.begin();
        ToolPeer passive = new ToolPeer();
        ToolPeer active = new ToolPeer();
        connect(passive::step, active::step, "listen");
        passive.step("receives", "1");
        require("STATUS 0", active.step("send", "64"));
        require("STATUS 0", active.step("write", "64", "1"));

        ErmPeer server = new ErmPeer();
        ErmPeer client = new ErmPeer();
        connect(server::obey, client::obey, "listen", HOST);
        String from = last(client.obey("allocate", "4096"));
        require("REMOTE " + from, server.obey("remote"));
        String to = last(server.obey("register", "4096"));
        require("REMOTE " + to, client.obey("remote"));
        client.obey("fill", from, "1");
        require("STATUS 0", client.obey("copy", from, to, "4096"));
        require("COPIED " + to, server.obey("copied"));
        require("SAME", server.obey("check", to, "1"));
        server.obey("deregister", to);
        client.obey("close");
        server.obey("closed");
        Peer.say("READY");
        System.exit(0);
    }

    private static void connect(Ear server, Ear client, String... listen) throws Exception {
        String port = last(server.hear(listen));
        CompletableFuture<String> accepted = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                accepted.complete(server.hear("accept"));
            } catch (Exception e) {
                accepted.completeExceptionally(e);
            }
        });
        require("CONNECTED", listen.length > 1 ? client.hear("connect", HOST, port) : client.hear("connect", port));
        require("ACCEPTED", accepted.get(60, TimeUnit.SECONDS));
    }

    private static String last(String answer) {
        return answer.substring(answer.lastIndexOf(' ') + 1);
    }

    private static void require(String wanted, String said) {
        if (!said.startsWith(wanted)) {
            throw new AssertionError(said + " and not " + wanted);
        }
    }
}
