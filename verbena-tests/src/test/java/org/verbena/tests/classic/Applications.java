// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.classic;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.verbena.tests.classic.Behaviours.said;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.URI;
import java.net.URL;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.RMIClientSocketFactory;
import java.rmi.server.RMISocketFactory;
import java.rmi.server.UnicastRemoteObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import com.sun.net.httpserver.HttpServer;

/** Users of classic sockets: object streams, RMI, HTTP, proxies, a thousand virtual threads. */
final class Applications {
    private static final InetAddress HERE = InetAddress.getLoopbackAddress();
    private static final int MANY = 1000;
    private static final long LONGEST_NANOS = 50_000_000_000L;
    private static final int LONG_MILLIS = 50_000;

    private Applications() {}

    static void add(Behaviours b) {
        b.add("object streams", Applications::objects);
        b.add("RMI", Applications::rmi);
        b.add("HttpURLConnection", Applications::http);
        b.add("through a SOCKS 5 proxy", () -> socks(5, "none"));
        b.add("through a SOCKS 5 proxy with a password", () -> socks(5, "password"));
        b.add("through a SOCKS 4 proxy", () -> socks(4, "none"));
        b.add("a SOCKS proxy that refuses", () -> socks(5, "refuses"));
        b.add("through an HTTP proxy", Applications::httpProxy);
        b.add("a thousand virtual threads", Applications::thousand);
    }

    private static Object objects() throws Exception {
        try (Pair p = Pair.open()) {
            p.client().setTcpNoDelay(true);
            p.server().setTcpNoDelay(true);
            Thread echo = Thread.ofVirtual().start(() -> said(() -> {
                ObjectOutputStream out = new ObjectOutputStream(p.peerOut());
                ObjectInputStream in = new ObjectInputStream(p.peerIn());
                for (int i = 0; i < 100; i++) {
                    out.writeObject(in.readObject());
                    out.flush();
                }
                return "done";
            }));
            ObjectOutputStream out = new ObjectOutputStream(p.out());
            ObjectInputStream in = new ObjectInputStream(p.in());
            int same = 0;
            for (int i = 0; i < 100; i++) {
                Map<String, List<Integer>> sent = Map.of("numbers", List.of(i, i + 1), "none", List.of());
                out.writeObject(sent);
                out.flush();
                same += sent.equals(in.readObject()) ? 1 : 0;
            }
            echo.join();
            return same;
        }
    }

    /** A remote object. */
    interface Greeter extends Remote {
        /** Says hello. */
        String greet(String name, byte[] data) throws RemoteException;
    }

    /** Ensures that the connection uses the stream before RMI gets it, and keeps it. */
    private static final class Connected implements RMIClientSocketFactory, java.io.Serializable {
        private static final long serialVersionUID = 1;

        /** All that were made in this process. */
        private static final List<Socket> ALL = new ArrayList<>();

        @Override
        public Socket createSocket(String host, int port) throws IOException {
            Socket s = new Socket(host, port);
            synchronized (ALL) {
                ALL.add(s);
            }
            return s;
        }
    }

    private static Object rmi() throws Exception {
        Greeter here = (name, data) -> "hello " + name + " " + data.length;
        Greeter stub = (Greeter) UnicastRemoteObject.exportObject(here, 0, new Connected(),
                RMISocketFactory.getDefaultSocketFactory());
        Registry registry = LocateRegistry.createRegistry(0);
        String said = "";
        try {
            registry.bind("greeter", stub);
            Greeter there = (Greeter) registry.lookup("greeter");
            int calls = 0;
            boolean stream = false;
            long end = System.nanoTime() + LONGEST_NANOS;
            for (; System.nanoTime() - end < 0 && !(calls > 100 && stream); calls++) {
                said = there.greet("RMI", new byte[calls % 10 == 0 ? 100_000 : 10]);
                stream = isDecided(Connected.ALL.getLast());
                Thread.sleep(1);
            }
            Pair.count(Connected.ALL.getLast());
            return said.substring(0, 9) + " " + (calls > 100);
        } finally {
            UnicastRemoteObject.unexportObject(here, true);
            UnicastRemoteObject.unexportObject(registry, true);
        }
    }

    private static boolean isDecided(Socket s) throws IOException {
        return !Pair.transport(s).equals("undecided");
    }

    /** The client is a classic socket, the server a channel. */
    private static Object http() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(HERE, 0), 0);
        byte[] page = new byte[200_000];
        server.createContext("/", e -> {
            e.getRequestBody().readAllBytes();
            e.sendResponseHeaders(200, page.length);
            e.getResponseBody().write(page);
            e.close();
        });
        server.start();
        try {
            URL url = URI.create("http://" + HERE.getHostAddress() + ":" + server.getAddress().getPort() + "/").toURL();
            List<Object> all = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                HttpURLConnection c = (HttpURLConnection) url.openConnection();
                c.setConnectTimeout(LONG_MILLIS);
                c.setReadTimeout(LONG_MILLIS);
                c.setDoOutput(true);
                c.getOutputStream().write(new byte[1000 * i]);
                int got = c.getInputStream().readAllBytes().length;
                if (i % 10 == 0) {
                    all.add(c.getResponseCode() + " " + got);
                }
            }
            return all;
        } finally {
            server.stop(0);
        }
    }

    private static Object httpProxy() throws Exception {
        try (ServerSocket target = Pair.listen(); ServerSocket proxy = Pair.listen()) {
            Thread.ofVirtual().start(() -> said(() -> {
                try (Socket in = proxy.accept()) {
                    StringBuilder head = new StringBuilder();
                    while (!head.toString().endsWith("\r\n\r\n")) {
                        head.append((char) in.getInputStream().read());
                    }
                    in.getOutputStream().write("HTTP/1.1 200 here you are\r\n\r\n".getBytes(US_ASCII));
                    return relay(in, new Socket(HERE, target.getLocalPort()));
                }
            }));
            return talk(new Socket(new Proxy(Proxy.Type.HTTP, proxy.getLocalSocketAddress())), target);
        }
    }

    private static Object talk(Socket s, ServerSocket target) throws Exception {
        try (s) {
            s.setSoTimeout(LONG_MILLIS);
            s.connect(target.getLocalSocketAddress(), LONG_MILLIS);
            try (Socket peer = target.accept()) {
                new Pair(s, peer).agreed();
                byte[] data = new byte[300_000];
                Thread t = Thread.ofVirtual().start(() -> said(() -> peer.getInputStream().transferTo(peer
                        .getOutputStream())));
                Thread.ofVirtual().start(() -> said(() -> {
                    s.getOutputStream().write(data);
                    s.shutdownOutput();
                    return "";
                }));
                int back = s.getInputStream().readNBytes(data.length).length;
                t.join();
                return back + " " + (s.getPort() == target.getLocalPort()) + s.getSoTimeout() + s.isConnected();
            }
        } finally {
            s.close();
        }
    }

    private static Object socks(int version, String how) throws Exception {
        try (ServerSocket target = Pair.listen(); ServerSocket proxy = Pair.listen()) {
            Thread.ofVirtual().start(() -> said(() -> {
                try (Socket in = proxy.accept()) {
                    return serve(in, version, how, target.getLocalPort());
                }
            }));
            if (how.equals("password")) {
                java.net.Authenticator.setDefault(new java.net.Authenticator() {
                    @Override
                    protected java.net.PasswordAuthentication getPasswordAuthentication() {
                        return new java.net.PasswordAuthentication("me", "secret".toCharArray());
                    }
                });
            }
            Socket s = new Socket(new Proxy(Proxy.Type.SOCKS, proxy.getLocalSocketAddress()));
            return said(() -> talk(s, target)) + s.isClosed();
        }
    }

    /** A SOCKS server for one connection, according to RFC 1928 and 1929, and version 4 as far as clients try it. */
    private static Object serve(Socket client, int version, String how, int port) throws Exception {
        DataInputStream in = new DataInputStream(client.getInputStream());
        DataOutputStream out = new DataOutputStream(client.getOutputStream());
        int first = in.read();
        in.readNBytes(in.read());
        if (version == 4) { // an answer of version 4 to a greeting of version 5: the client tries that
            out.write(new byte[] {0, 91});
            out.flush();
            in.readNBytes(8);
            while (in.read() != 0) {
                // the user's name
            }
            out.write(new byte[] {0, 90, 0, 0, 0, 0, 0, 0});
            return relay(client, new Socket(HERE, port));
        }
        if (how.equals("password")) {
            out.write(new byte[] {5, 2});
            in.read();
            String name = new String(in.readNBytes(in.read()), US_ASCII);
            String password = new String(in.readNBytes(in.read()), US_ASCII);
            out.write(new byte[] {1, (byte) (name.equals("me") && password.equals("secret") ? 0 : 1)});
        } else {
            out.write(new byte[] {5, 0});
        }
        in.readNBytes(10);
        out.write(new byte[] {5, (byte) (how.equals("refuses") ? 5 : 0), 0, 1, 127, 0, 0, 1, 0, 80});
        return how.equals("refuses") ? first : relay(client, new Socket(HERE, port));
    }

    private static Object relay(Socket one, Socket other) throws Exception {
        try (one; other) {
            Thread back = Thread.ofVirtual().start(() -> said(() -> pass(other, one)));
            pass(one, other);
            back.join();
        }
        return "";
    }

    private static Object pass(Socket from, Socket to) throws IOException {
        byte[] part = new byte[8192];
        for (int n = from.getInputStream().read(part); n >= 0; n = from.getInputStream().read(part)) {
            to.getOutputStream().write(part, 0, n);
        }
        to.shutdownOutput();
        return "";
    }

    /** All wait at once, on few carriers: none may pin one. */
    private static Object thousand() throws Exception {
        CountDownLatch connected = new CountDownLatch(2 * MANY);
        AtomicInteger streams = new AtomicInteger();
        try (ServerSocket l = new ServerSocket(0, MANY, HERE);
                ExecutorService all = Executors
                        .newVirtualThreadPerTaskExecutor()) {
            SocketAddress there = l.getLocalSocketAddress();
            List<Future<Integer>> clients = new ArrayList<>();
            all.execute(() -> said(() -> {
                for (int i = 0; i < MANY; i++) {
                    Socket s = l.accept();
                    all.execute(() -> said(() -> {
                        connected.countDown();
                        try (s) {
                            return s.getInputStream().transferTo(s.getOutputStream());
                        }
                    }));
                }
                return 0;
            }));
            for (int i = 0; i < MANY; i++) {
                clients.add(all.submit(() -> {
                    try (Socket s = new Socket()) {
                        s.connect(there);
                        connected.countDown();
                        connected.await();
                        return echo(s, streams);
                    }
                }));
            }
            int bytes = 0;
            for (Future<Integer> c : clients) {
                bytes += c.get();
            }
            Pair.count(MANY, streams.get());
            return bytes;
        }
    }

    private static int echo(Socket s, AtomicInteger streams) throws Exception {
        int got = 0;
        for (int i = 0; i < 20; i++) {
            s.getOutputStream().write(new byte[100]);
            got += s.getInputStream().readNBytes(100).length;
        }
        for (long end = System.nanoTime() + LONGEST_NANOS; !isDecided(s) && System.nanoTime() - end < 0;) {
            s.getOutputStream().write(1);
            s.getInputStream().read();
            Thread.sleep(20);
        }
        streams.addAndGet(Pair.transport(s).equals("stream") ? 1 : 0);
        return got;
    }
}
