// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.classic;

import static org.verbena.tests.classic.Behaviours.said;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketImpl;
import java.nio.channels.SocketChannel;

/** Socket implementations of a program, on one side or on both, by constructor or by factory. */
@SuppressWarnings("deprecation") // factories still work
final class Factories {
    private static final InetAddress HERE = InetAddress.getLoopbackAddress();

    private Factories() {}

    static void add(Behaviours b) {
        b.add("the JDK's listener into an own implementation", () -> accepted(new Listener(null), new Own()));
        b.add("an own listener into the JDK's", () -> accepted(new Listener(new OwnImpl()), new Socket()));
        b.add("an own listener into the JDK's without a proxy",
                () -> accepted(new Listener(new OwnImpl()), new Socket(Proxy.NO_PROXY)));
        b.add("an own listener into an own implementation", () -> accepted(new Listener(new OwnImpl()), new Own()));
        b.add("the JDK's listener into the JDK's", () -> accepted(new Listener(null), new Socket()));
        b.add("an own listener without a factory", () -> {
            try (ServerSocket l = new Listener(new OwnImpl())) {
                return platform(said(l::accept));
            }
        });
        b.add("a factory for clients", Factories::clients);
        b.add("a factory for servers", Factories::servers);
    }

    /** A socket of the program's own. */
    private static final class Own extends Socket {
        Own() throws SocketException {
            super(new OwnImpl());
        }
    }

    /** A listener that accepts into a given socket. */
    private static final class Listener extends ServerSocket {
        /** @param own null for the JDK's */
        Listener(SocketImpl own) throws IOException {
            super(own == null ? platformImpl() : own);
            bind(new InetSocketAddress(HERE, 0));
        }

        /** The implementation that the JDK would have used. */
        private static SocketImpl platformImpl() {
            try {
                var method = SocketImpl.class.getDeclaredMethod("createPlatformSocketImpl", boolean.class);
                method.setAccessible(true); // the program is started with --add-opens for this
                return (SocketImpl) method.invoke(null, true);
            } catch (ReflectiveOperationException e) {
                throw new LinkageError("the JDK has changed", e);
            }
        }

        Socket accept(Socket into) throws IOException {
            implAccept(into);
            return into;
        }
    }

    private static String platform(String text) {
        return text.replaceAll("class (sun\\.nio\\.ch\\.Nio|org\\.verbena\\.sockets\\.nio\\.Stream)(Server)?SocketImpl",
                "the platform's");
    }

    private static Object accepted(Listener listener, Socket into) throws Exception {
        int made = OwnImpl.made();
        try (listener; into) {
            boolean own = listener.toString().contains("localport=1") && listener.getLocalPort() < 1000;
            Socket client = own ? new Own() : new Socket();
            try (client) {
                client.connect(listener.getLocalSocketAddress());
                String said = platform(said(() -> listener.accept(into).isConnected()));
                if (into.isConnected()) {
                    into.getOutputStream().write(7);
                    into.getOutputStream().flush();
                    said += client.getInputStream().read();
                }
                return said + " " + (OwnImpl.made() - made);
            }
        }
    }

    private static Object clients() throws Exception {
        Socket.setSocketImplFactory(OwnImpl::new);
        int made = OwnImpl.made();
        try (ServerSocket l = Pair.listen();
                SocketChannel c = SocketChannel.open(l.getLocalSocketAddress());
                Socket s = l.accept();
                ServerSocket own = new Listener(new OwnImpl())) {
            String first = (OwnImpl.made() - made) + s.getClass().getSimpleName();
            c.socket().getOutputStream().write(8);
            first += s.getInputStream().read();
            try (Socket client = new Socket(HERE, own.getLocalPort()); Socket peer = own.accept()) {
                peer.getOutputStream().write(9);
                return first + client.getInputStream().read() + " " + (OwnImpl.made() - made)
                        + said(() -> new Socket(HERE, l.getLocalPort())) + new Socket(Proxy.NO_PROXY)
                        + (OwnImpl.made() - made);
            }
        }
    }

    private static Object servers() throws Exception {
        ServerSocket.setSocketFactory(OwnImpl::new);
        int made = OwnImpl.made();
        try (ServerSocket l = Pair.listen();
                Socket client = new Socket(HERE, l.getLocalPort());
                Socket s = l.accept()) {
            s.getOutputStream().write(10);
            return client.getInputStream().read() + " " + (OwnImpl.made() - made);
        }
    }
}
