// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.classic;

import static org.verbena.tests.classic.Behaviours.said;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

import jdk.net.ExtendedSocketOptions;

import org.verbena.tests.classic.Behaviours.Threads;

/** States, ends and options of sockets, and the errors of invalid calls. */
final class States {
    private static final InetAddress HERE = InetAddress.getLoopbackAddress();

    private States() {}

    static void add(Behaviours b) {
        b.add("a socket's states", States::states);
        b.add("a server socket's states", States::serverStates);
        b.add("calls of a closed socket", States::closed);
        b.add("calls of a closed server socket", States::closedServer);
        b.add("what cannot be connected", States::refused);
        b.add("what cannot be bound", States::unbindable);
        b.add("a bound socket connects", States::bound);
        b.add("nothing and out of bounds", States::bounds);
        b.add("half-close", States::halfClose);
        b.add("the end is found again after a close", States::endAgain);
        b.add("reset", States::reset);
        b.add("unread data reset the peer", States::unread);
        b.add("available", States::available);
        b.add("urgent data without OOBINLINE", States::urgent);
        b.add("urgent data in line", States::urgentInline);
        b.add("options of a socket", () -> options(new Socket()));
        b.add("options of a connection", () -> {
            try (Pair p = Pair.open()) {
                return options(p.client()) + " " + options(p.server());
            }
        });
        b.add("options of a server socket", States::serverOptions);
        b.add("options that are not", States::wrongOptions);
        b.add("an accepted socket of the program's own class", States::ownClass);
        b.inThreads("much data both ways", States::much);
        b.add("sockets that are lost are closed", States::lost);
    }

    private static String state(Socket s) {
        return List.of(s.isBound(), s.isConnected(), s.isClosed(), s.isInputShutdown(), s.isOutputShutdown(),
                s.getPort() > 0, s.getLocalPort() > 0, String.valueOf(s.getInetAddress()),
                String.valueOf(s.getLocalAddress()), s.getRemoteSocketAddress() == null,
                s.getLocalSocketAddress() == null, s.toString().replaceAll("port=[1-9]\\d*", "port=N"),
                String.valueOf(s.getChannel())).toString();
    }

    private static Object states() throws Exception {
        List<Object> all = new ArrayList<>();
        try (Socket s = new Socket()) {
            all.add(state(s));
            all.add(said(s::getInputStream));
            all.add(said(s::getOutputStream));
            all.add(said(() -> run(s::shutdownInput)));
            s.bind(new InetSocketAddress(HERE, 0));
            all.add(state(s));
            all.add(said(() -> run(() -> s.bind(null))));
            s.close();
            all.add(state(s));
        }
        try (Pair p = Pair.open()) {
            all.add(state(p.client()));
            all.add(state(p.server()));
            all.add(said(() -> run(() -> p.client().connect(p.client().getRemoteSocketAddress()))));
            p.close();
            all.add(state(p.client()));
        }
        return all;
    }

    private static String state(ServerSocket s) {
        return List.of(s.isBound(), s.isClosed(), s.getLocalPort() > 0, String.valueOf(s.getInetAddress()),
                s.getLocalSocketAddress() == null, s.toString().replaceAll("port=[1-9]\\d*", "port=N")).toString();
    }

    private static Object serverStates() throws Exception {
        List<Object> all = new ArrayList<>();
        try (ServerSocket s = new ServerSocket()) {
            all.add(state(s));
            all.add(said(s::accept));
            s.bind(null);
            all.add(state(s));
            all.add(said(() -> run(() -> s.bind(null))));
            s.close();
            all.add(state(s));
        }
        try (ServerSocket s = new ServerSocket(0, 1, HERE)) {
            all.add(state(s));
        }
        return all;
    }

    private static Object closed() throws Exception {
        List<Object> all = new ArrayList<>();
        Pair p = Pair.open();
        InputStream in = p.in();
        OutputStream out = p.out();
        p.close();
        all.add(said(() -> in.read()));
        all.add(said(() -> in.read(new byte[0])));
        all.add(said(in::available));
        all.add(said(() -> run(() -> out.write(1))));
        all.add(said(() -> run(() -> out.write(new byte[0]))));
        for (Socket s : new Socket[] {p.client(), closed(new Socket())}) {
            all.add(said(s::getInputStream));
            all.add(said(s::getOutputStream));
            all.add(said(() -> run(s::shutdownInput)));
            all.add(said(() -> run(s::shutdownOutput)));
            all.add(said(() -> run(() -> s.sendUrgentData(1))));
            all.add(said(s::getSoTimeout));
            all.add(said(() -> s.getOption(StandardSocketOptions.SO_RCVBUF)));
            all.add(said(s::getTrafficClass));
            all.add(said(() -> run(() -> s.setTcpNoDelay(true))));
            all.add(said(() -> run(() -> s.bind(null))));
            all.add(said(() -> run(() -> s.connect(new InetSocketAddress(HERE, 1)))));
            s.close();
        }
        return all;
    }

    private static Socket closed(Socket s) throws IOException {
        s.close();
        return s;
    }

    private static Object closedServer() throws Exception {
        List<Object> all = new ArrayList<>();
        ServerSocket s = Pair.listen();
        s.close();
        all.add(said(s::accept));
        all.add(said(s::getSoTimeout));
        all.add(said(() -> run(() -> s.bind(null))));
        all.add(said(() -> s.getOption(StandardSocketOptions.SO_RCVBUF)));
        return all;
    }

    private static Object refused() throws Exception {
        try (Socket nobody = Pair.bound()) {
            return refused(nobody.getLocalPort());
        }
    }

    private static Object refused(int port) throws Exception {
        List<Object> all = new ArrayList<>();
        for (int timeout : new int[] {0, 30_000}) {
            try (Socket s = new Socket()) {
                all.add(said(() -> run(() -> s.connect(new InetSocketAddress(HERE, port), timeout))) + s.isClosed());
            }
            try (Socket s = new Socket()) {
                all.add(said(() -> run(() -> s.connect(InetSocketAddress.createUnresolved("no.such.host", 80),
                        timeout)))
                        + s.isClosed());
            }
        }
        all.add(said(() -> new Socket(HERE, port)));
        all.add(said(() -> run(() -> new Socket().connect(null))));
        all.add(said(() -> run(() -> new Socket().connect(new InetSocketAddress(HERE, port), -1))));
        return all;
    }

    private static Object unbindable() throws Exception {
        List<Object> all = new ArrayList<>();
        try (ServerSocket l = Pair.listen(); ServerSocket other = new ServerSocket(); Socket s = new Socket()) {
            all.add(said(() -> new ServerSocket(l.getLocalPort(), 1, HERE)));
            all.add(said(() -> run(() -> other.bind(l.getLocalSocketAddress()))));
            other.bind(null);
            all.add(other.isBound());
            all.add(said(() -> run(() -> s.bind(l.getLocalSocketAddress()))));
            all.add(said(() -> run(() -> s.bind(new InetSocketAddress("192.0.2.1", 0)))));
            all.add(s.isBound());
        }
        return all;
    }

    private static Object bound() throws Exception {
        try (ServerSocket l = new ServerSocket(0); Socket s = new Socket()) {
            s.bind(new InetSocketAddress(HERE, 0));
            int port = s.getLocalPort();
            s.connect(new InetSocketAddress(HERE, l.getLocalPort()));
            try (Socket peer = l.accept()) {
                new Pair(s, peer).agreed();
                return (port == peer.getPort()) + " " + (port == s.getLocalPort()) + state(s) + state(peer);
            }
        }
    }

    private static Object bounds() throws Exception {
        try (Pair p = Pair.open()) {
            return List.of(p.in().read(new byte[0]), said(() -> p.in().read(new byte[2], 1, 2)),
                    said(() -> p.in().read(null, 0, 1)), said(() -> run(() -> p.out().write(new byte[2], 2, 1))),
                    said(() -> run(() -> p.out().write(null, 0, 1))), said(() -> run(() -> p.out().write(
                            new byte[0]))));
        }
    }

    private static Object halfClose() throws Exception {
        try (Pair p = Pair.open()) {
            List<Object> all = new ArrayList<>();
            OutputStream out = p.out();
            out.write(3);
            p.client().shutdownOutput();
            all.add(said(() -> run(() -> out.write(1))));
            all.add(said(p::out));
            all.add(said(() -> run(p.client()::shutdownOutput)));
            all.add(Arrays.toString(p.peerIn().readAllBytes()));
            p.peerOut().write(4);
            all.add(p.in().read());
            InputStream in = p.in();
            p.peerOut().write(5);
            Thread.sleep(20);
            p.client().shutdownInput();
            all.add(in.read());
            all.add(in.available());
            all.add(said(p::in));
            all.add(said(() -> run(p.client()::shutdownInput)));
            all.add(state(p.client()));
            return all;
        }
    }

    private static Object endAgain() throws Exception {
        try (Pair p = Pair.open()) {
            InputStream in = p.in();
            p.server().close();
            int first = in.read();
            p.client().close();
            return first + " " + in.read() + " " + said(in::available);
        }
    }

    private static Object reset() throws Exception {
        try (Pair p = Pair.open()) {
            List<Object> all = new ArrayList<>();
            p.server().setSoLinger(true, 0);
            p.server().close();
            Thread.sleep(30);
            InputStream in = p.in();
            all.add(said(() -> in.read()));
            all.add(said(() -> in.read()));
            all.add(said(in::available));
            all.add(said(() -> run(() -> p.out().write(1))));
            p.client().close();
            all.add(said(() -> in.read()));
            return all;
        }
    }

    private static Object unread() throws Exception {
        try (Pair p = Pair.open()) {
            p.out().write(new byte[100]);
            awaitAvailable(p.peerIn(), 100);
            p.server().close();
            return said(() -> p.in().read());
        }
    }

    private static Object available() throws Exception {
        try (Pair p = Pair.open()) {
            int none = p.in().available();
            p.peerOut().write(new byte[1000]);
            awaitAvailable(p.in(), 1000);
            int all = p.in().available();
            long rest = 1000 - p.in().skip(400);
            return none + " " + all + " " + rest + " " + p.in().available();
        }
    }

    private static void awaitAvailable(InputStream in, int bytes) throws Exception {
        for (long end = System.nanoTime() + 30_000_000_000L; in.available() < bytes && System.nanoTime() - end < 0;) {
            Thread.sleep(1);
        }
    }

    private static Object urgent() throws Exception {
        try (Pair p = Pair.open()) {
            p.client().sendUrgentData(1);
            p.out().write(2);
            return p.peerIn().read() + " " + p.server().getOOBInline();
        }
    }

    private static Object urgentInline() throws Exception {
        try (Pair p = Pair.open()) {
            p.server().setOOBInline(true);
            for (int i = 0; i < 10; i++) {
                p.out().write(i);
                p.client().sendUrgentData(100 + i);
            }
            List<Object> all = new ArrayList<>(List.of(Arrays.toString(p.peerIn().readNBytes(20)),
                    p.peerIn().available()));
            p.server().setOOBInline(false);
            p.client().sendUrgentData(1);
            p.out().write(2);
            all.add(p.peerIn().read());
            p.client().setOOBInline(true);
            p.server().sendUrgentData(3);
            p.peerOut().write(4);
            all.add(Arrays.toString(p.in().readNBytes(2)));
            return all;
        }
    }

    private static String options(Socket s) throws Exception {
        TreeMap<String, Object> all = new TreeMap<>();
        try (s) {
            for (SocketOption<?> o : s.supportedOptions()) {
                if (!o.name().matches(
                        "VERBENA_.*|SO_BINDTODEVICE|SO_ZEROCOPY|SO_INCOMING_NAPI_ID|SO_(RCV|SND)BUF|TCP_QUICKACK")) {
                    all.put(o.name(), said(() -> s.getOption(o)));
                }
            }
            s.setSoLinger(true, 7);
            s.setSoTimeout(70);
            s.setTcpNoDelay(true);
            s.setKeepAlive(true);
            s.setReuseAddress(true);
            s.setOOBInline(true);
            s.setTrafficClass(8);
            s.setSendBufferSize(65536);
            s.setReceiveBufferSize(65536);
            s.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 77);
            return all + " " + List.of(s.getSoLinger(), s.getSoTimeout(), s.getTcpNoDelay(), s.getKeepAlive(),
                    s.getReuseAddress(), s.getOOBInline(), s.getTrafficClass(), s.getSendBufferSize(),
                    s.getReceiveBufferSize(), s.getOption(ExtendedSocketOptions.TCP_KEEPIDLE));
        }
    }

    private static Object serverOptions() throws Exception {
        TreeMap<String, Object> all = new TreeMap<>();
        try (ServerSocket s = new ServerSocket()) {
            for (SocketOption<?> o : s.supportedOptions()) {
                if (!o.name().matches("VERBENA_.*|SO_BINDTODEVICE|SO_ZEROCOPY|SO_INCOMING_NAPI_ID")) {
                    all.put(o.name(), said(() -> s.getOption(o)));
                }
            }
            s.setSoTimeout(70);
            s.setReuseAddress(false);
            s.setReceiveBufferSize(65536);
            s.setOption(StandardSocketOptions.IP_TOS, 8);
            return all + " " + List.of(s.getSoTimeout(), s.getReuseAddress(), s.getReceiveBufferSize(),
                    s.getOption(StandardSocketOptions.IP_TOS), said(() -> s.setOption(StandardSocketOptions.SO_LINGER,
                            1)),
                    said(() -> s.getOption(StandardSocketOptions.TCP_NODELAY)));
        }
    }

    private record Unknown(String name, Class<String> type) implements SocketOption<String> {}

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object wrongOptions() throws Exception {
        try (Socket s = new Socket()) {
            return List.of(said(() -> s.setOption(new Unknown("UNKNOWN", String.class), "x")),
                    said(() -> s.getOption(StandardSocketOptions.IP_MULTICAST_TTL)),
                    said(() -> s.setOption((SocketOption) StandardSocketOptions.SO_RCVBUF, "x")),
                    said(() -> s.setOption(StandardSocketOptions.SO_RCVBUF, -1)),
                    said(() -> s.setOption(StandardSocketOptions.IP_TOS, 1000)),
                    said(() -> s.setOption(StandardSocketOptions.SO_RCVBUF, null)),
                    said(() -> run(() -> s.setSoTimeout(-1))), said(() -> run(() -> s.setSendBufferSize(0))),
                    said(() -> run(() -> s.setTrafficClass(256))), said(() -> run(() -> s.setSoLinger(true, -1))),
                    said(() -> Set.copyOf(s.supportedOptions()).contains(StandardSocketOptions.IP_MULTICAST_TTL)));
        }
    }

    /** A program may accept into a socket that it has created, with options set; the socket may even be bound. */
    private static Object ownClass() throws Exception {
        class Own extends Socket {}
        class Server extends ServerSocket {
            Server() throws IOException {
                super(0, 50, HERE);
            }

            @Override
            public Socket accept() throws IOException {
                Own own = new Own();
                own.setSoTimeout(60);
                implAccept(own);
                return own;
            }
        }
        try (Server l = new Server(); Socket c = new Socket(HERE, l.getLocalPort()); Socket s = l.accept()) {
            new Pair(c, s).agreed();
            return s.getClass().getSimpleName() + s.getSoTimeout() + said(() -> s.getInputStream().read());
        }
    }

    private static Object much(Threads t) throws Exception {
        try (Pair p = Pair.open()) {
            byte[] data = new byte[5_000_000];
            new java.util.Random(1).nextBytes(data);
            var to = t.start(() -> {
                p.out().write(data);
                p.client().shutdownOutput();
                return "written";
            });
            var back = t.start(() -> p.peerIn().transferTo(p.peerOut()) + said(() -> run(p.server()::shutdownOutput)));
            return Arrays.equals(p.in().readAllBytes(), data) + " " + to.said() + " " + back.said();
        }
    }

    /** Sockets of the JDK are closed once they are unreachable; so must these be. */
    private static Object lost() throws Exception {
        Socket kept = lose();
        for (long end = System.nanoTime() + 30_000_000_000L; System.nanoTime() - end < 0;) {
            System.gc();
            Thread.sleep(20);
            kept.setSoTimeout(1);
            if (said(() -> kept.getInputStream().read()).equals("-1")) {
                return "closed";
            }
        }
        return "not closed";
    }

    private static Socket lose() throws Exception {
        Pair p = Pair.open();
        p.out().write(1);
        p.peerIn().read();
        return p.server();
    }

    /** What throws. */
    @FunctionalInterface
    private interface Action {
        void run() throws Exception;
    }

    private static Object run(Action action) throws Exception {
        action.run();
        return "done";
    }
}
