// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.VerbenaSocketOptions;

/**
 * A child whose thread "waiter" answers each byte of another one, {@code blocking}, by a {@code selector}, or by one with a {@code listener},
 * too; or it selects bytes that it does not read, {@code ready}. The other one asks again when the waiter has had time to sleep.
 */
final class WaitPeer {
    private static final int IDLE_CONNECTIONS = 20;
    private static final int ASLEEP_MILLIS = 1;
    /** The JDK's, or that of a property. */
    private static final SelectorProvider PROVIDER = SelectorProvider.provider();

    private final List<SocketChannel> peers = new ArrayList<>();
    private final List<SocketChannel> waiters = new ArrayList<>();
    private final AtomicLong rounds = new AtomicLong();

    private WaitPeer() {}

    public static void main(String[] args) throws Exception {
        Peer.begin();
        SystemCalls.allow();
        WaitPeer peer = new WaitPeer();
        peer.connect(args[0].equals("blocking") ? 1 : 1 + IDLE_CONNECTIONS);
        peer.start(args[0]);
        Peer.say("READY");
        while (true) {
            Peer.hear();
            Peer.say("ROUNDS " + peer.rounds);
        }
    }

    private void connect(int count) throws Exception {
        try (ServerSocketChannel server = PROVIDER.openServerSocketChannel()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            for (int i = 0; i < count; i++) {
                SocketChannel peer = PROVIDER.openSocketChannel();
                peer.connect(server.getLocalAddress());
                SocketChannel waiter = server.accept();
                ask(peer, waiter); // both directions change to rings with the next bytes
                for (SocketChannel end : List.of(peer, waiter)) {
                    while (end instanceof VerbenaSocketChannel c && !c.getOption(VerbenaSocketOptions.TRANSPORT).equals(
                            "stream")) {
                        Thread.sleep(1);
                    }
                }
                ask(peer, waiter);
                peers.add(peer);
                waiters.add(waiter);
            }
        }
    }

    private static void ask(SocketChannel peer, SocketChannel waiter) throws IOException {
        peer.write(ByteBuffer.allocate(1));
        waiter.read(ByteBuffer.allocate(1));
        waiter.write(ByteBuffer.allocate(1));
        peer.read(ByteBuffer.allocate(1));
    }

    private void start(String what) {
        run("waiter", () -> {
            switch (what) {
                case "blocking" -> answer();
                case "selector" -> select(true);
                case "listener" -> selectBesideListener();
                default -> select(false);
            }
        });
        run("peer", () -> {
            ByteBuffer one = ByteBuffer.allocateDirect(1);
            if (what.equals("ready")) {
                peers.getFirst().write(one);
            } else {
                while (true) {
                    peers.getFirst().write(one.clear());
                    peers.getFirst().read(one.clear());
                    Thread.sleep(ASLEEP_MILLIS);
                }
            }
        });
    }

    private void answer() throws IOException {
        ByteBuffer one = ByteBuffer.allocateDirect(1);
        while (true) {
            answer(waiters.getFirst(), one);
        }
    }

    private void answer(SocketChannel waiter, ByteBuffer one) throws IOException {
        waiter.read(one.clear());
        waiter.write(one.flip());
        rounds.incrementAndGet();
    }

    private void select(boolean answers) throws IOException {
        try (Selector selector = PROVIDER.openSelector()) {
            select(selector, answers);
        }
    }

    private void selectBesideListener() throws IOException {
        try (Selector selector = PROVIDER.openSelector();
                ServerSocketChannel listener = PROVIDER.openServerSocketChannel()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            listener.configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
            select(selector, true);
        }
    }

    private void select(Selector selector, boolean answers) throws IOException {
        ByteBuffer one = ByteBuffer.allocateDirect(1);
        for (SocketChannel waiter : waiters) {
            waiter.configureBlocking(false);
            waiter.register(selector, SelectionKey.OP_READ);
        }
        while (true) {
            selector.select();
            for (SelectionKey key : selector.selectedKeys()) {
                if (answers) {
                    answer((SocketChannel) key.channel(), one);
                } else {
                    rounds.incrementAndGet();
                }
            }
            selector.selectedKeys().clear();
        }
    }

    @FunctionalInterface
    private interface Work {
        void run() throws Exception;
    }

    private static void run(String name, Work work) {
        Thread.ofPlatform().daemon().name(name).start(() -> {
            try {
                work.run();
            } catch (Exception e) {
                e.printStackTrace(); // the test prints it when this process has ended
                Runtime.getRuntime().halt(1);
            }
        });
    }
}
