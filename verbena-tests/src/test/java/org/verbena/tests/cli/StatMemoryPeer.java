// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;

import org.verbena.erm.CopyFlags;
import org.verbena.erm.EventType;
import org.verbena.erm.LocalRegion;
import org.verbena.erm.RemoteMemory;
import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.tests.faults.Peer;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.WcStatus;

/**
 * A child with both ends of a connection and their remote memory: the end that connected copies as much as it is told.
 */
public final class StatMemoryPeer {
    static final long BYTES = 1 << 20;
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int WRITABLE = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;

    private final RemoteMemory from;
    private final RemoteMemory to;
    private final LocalRegion source;
    private LocalRegion target;

    private StatMemoryPeer(SocketChannel client, SocketChannel server) throws Exception {
        RemoteMemory.of(client);
        to = RemoteMemory.of(server, LONG).orElseThrow(() -> new IllegalStateException(RemoteMemory.whyNot(server)));
        from = RemoteMemory.of(client, LONG).orElseThrow(() -> new IllegalStateException(RemoteMemory.whyNot(client)));
        source = from.allocate(BYTES, AccessFlags.LOCAL_WRITE, 0);
        target = offer();
    }

    private LocalRegion offer() throws Exception {
        LocalRegion region = to.allocate(BYTES, WRITABLE, 0);
        event(from, EventType.REGION_ADDED);
        return region;
    }

    /** Waits for the test, line by line. */
    public static void main(String[] args) throws Exception {
        Peer.begin();
        try (ServerSocketChannel listener = VerbenaServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            SocketChannel client = VerbenaSocketChannel.open();
            client.connect(listener.getLocalAddress());
            SocketChannel server = listener.accept();
            StatMemoryPeer p = new StatMemoryPeer(client, server);
            Peer.say("CLIENT " + client.getLocalAddress());
            Peer.say("SERVER " + server.getLocalAddress());
            while (true) {
                String[] words = Peer.hear().split(" ", -1);
                switch (words[0]) {
                    case "write" -> p.copy(true, Integer.parseInt(words[1]), Long.parseLong(words[2]));
                    case "read" -> p.copy(false, Integer.parseInt(words[1]), Long.parseLong(words[2]));
                    case "offer" -> p.target = p.offer();
                    case "take" -> {
                        p.target.close();
                        event(p.from, EventType.REGION_REMOVED);
                    }
                    case "close" -> {
                        if (words[1].equals("client")) {
                            client.close();
                            event(p.to, EventType.CLOSED);
                        } else {
                            server.close();
                        }
                    }
                    default -> throw new IllegalArgumentException(words[0]);
                }
                Peer.say("DONE");
            }
        }
    }

    private void copy(boolean write, int copies, long bytes) throws Exception {
        for (int i = 0; i < copies; i++) {
            int error = write
                    ? from.copies().copy(source.id(), 0, target.id(), 0, bytes, CopyFlags.REMOTE_COMPLETION, i)
                    : from.copies().copy(target.id(), 0, source.id(), 0, bytes, CopyFlags.NONE, i);
            if (error != 0) {
                throw new IllegalStateException("error " + error);
            }
            while (!from.copies().poll()) {
                from.await(RemoteMemory.COMPLETIONS, LONG);
            }
            if (from.copies().status() != WcStatus.SUCCESS) {
                throw new IllegalStateException(WcStatus.toString(from.copies().status()));
            }
            if (write) {
                event(to, EventType.COPIED);
            }
        }
    }

    private static void event(RemoteMemory memory, int type) throws InterruptedException {
        while (!memory.events().poll()) {
            memory.await(RemoteMemory.EVENTS, LONG);
        }
        if (memory.events().type() != type) {
            throw new IllegalStateException(EventType.toString(memory.events().type()));
        }
    }
}
