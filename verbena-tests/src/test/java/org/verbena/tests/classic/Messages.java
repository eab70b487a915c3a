// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.classic;

import static org.verbena.tests.classic.Behaviours.said;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/** Hosts and ports in exception messages: as much as jdk.includeInExceptions allows. */
final class Messages {
    private static final InetAddress HERE = InetAddress.getLoopbackAddress();

    private Messages() {}

    static void add(Behaviours b) {
        b.add("messages of classic sockets", Messages::classic);
        b.add("messages of channels", Messages::channels);
    }

    /** Ports differ each time. */
    private static String plain(String said, int port) {
        return said.replace(String.valueOf(port), "PORT");
    }

    private static Object classic() throws Exception {
        try (Socket nobody = Pair.bound()) {
            return classic(nobody.getLocalPort());
        }
    }

    private static Object classic(int port) throws Exception {
        List<Object> all = new ArrayList<>();
        for (int timeout : new int[] {0, 30_000}) {
            try (Socket s = new Socket()) {
                all.add(plain(said(() -> {
                    s.connect(new InetSocketAddress(HERE, port), timeout);
                    return "connected";
                }), port));
            }
            try (Socket s = new Socket()) {
                all.add(said(() -> {
                    s.connect(InetSocketAddress.createUnresolved("no.such.host.invalid", 80), timeout);
                    return "connected";
                }));
            }
        }
        all.add(plain(said(() -> new Socket(HERE, port)), port));
        all.add(plain(said(() -> new Socket("localhost", port)), port));
        try (ServerSocket taken = Pair.listen(); Socket s = new Socket()) {
            int its = taken.getLocalPort();
            all.add(plain(said(() -> new ServerSocket(its, 1, HERE)), its));
            all.add(plain(said(() -> {
                s.bind(taken.getLocalSocketAddress());
                return "bound";
            }), its));
        }
        return all;
    }

    private static Object channels() throws Exception {
        try (Socket nobody = Pair.bound()) {
            return channels(nobody.getLocalPort());
        }
    }

    private static Object channels(int port) throws Exception {
        List<Object> all = new ArrayList<>();
        InetSocketAddress refused = new InetSocketAddress(HERE, port);
        all.add(plain(said(() -> SocketChannel.open(refused)), port));
        try (SocketChannel c = SocketChannel.open()) {
            c.configureBlocking(false);
            all.add(plain(said(() -> {
                boolean done = c.connect(refused);
                while (!done) {
                    done = c.finishConnect();
                }
                return "connected";
            }), port));
        }
        try (SocketChannel c = SocketChannel.open()) {
            all.add(plain(said(() -> {
                c.socket().connect(refused, 30_000);
                return "connected";
            }), port));
        }
        try (ServerSocket taken = Pair.listen(); ServerSocketChannel l = ServerSocketChannel.open()) {
            int its = taken.getLocalPort();
            all.add(plain(said(() -> l.bind(taken.getLocalSocketAddress())), its));
        }
        return all;
    }
}
