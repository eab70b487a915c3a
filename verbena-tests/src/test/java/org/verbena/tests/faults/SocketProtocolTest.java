// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.LinuxException;
import org.verbena.linux.SockDiag;
import org.verbena.linux.UnixSocket;
import org.verbena.testkit.Await;
import org.verbena.testkit.TcpTable;

/**
 * An unchanged program under the agent whose other end, this test by the kernel's sockets and the protocol in
 * docs/stream.md, sends handshake messages that no present Verbena sends. The bytes of the program are complete, and it
 * counts the reason.
 */
class SocketProtocolTest {
    private static final String NAME = "verbena-stream-";
    private static final long MAGIC = 0x4d41_4552_5453_4256L; // VBSTREAM
    private static final int HELLO = 1;
    private static final int OFFER = 2;
    private static final int BYTES = 64;
    private static final int[] NONE = {};

    /** The messages of the other end. */
    private enum Says {
        /** A HELLO of a version from before the first. */
        TOO_OLD("other_version") {
            @Override
            void to(Talk t) throws LinuxException {
                t.say(HELLO, 0);
            }
        },
        /** A newer version, with unknown features; it leaves when it receives the old one. */
        NEWER_AND_LEAVES("other_version") {
            @Override
            void to(Talk t) throws LinuxException {
                t.say(HELLO, 77);
                t.hear();
            }
        },
        /** A message of a future type. */
        UNKNOWN_TYPE("other_version") {
            @Override
            void to(Talk t) throws LinuxException {
                t.say(9, 2);
            }
        },
        /** An OFFER with invalid fields. */
        SENSELESS_OFFER("other_version") {
            @Override
            void to(Talk t) throws LinuxException {
                t.put(OFFER, 1);
                t.message.set(ValueLayout.JAVA_INT, 36, 12_345);
                t.send(BYTES);
            }
        },
        /** A HELLO that ends early. */
        CUT_OFF("bad_peer") {
            @Override
            void to(Talk t) throws LinuxException {
                t.put(HELLO, 1);
                t.send(BYTES - 1);
            }
        },
        /** Not a message. */
        GARBAGE("bad_peer") {
            @Override
            void to(Talk t) throws LinuxException {
                new Random(1).ints(BYTES / 4).forEach(i -> t.message.setAtIndex(ValueLayout.JAVA_INT, i & 15, i));
                t.send(BYTES);
            }
        },
        /** It names another connection. */
        OTHER_CONNECTION("bad_peer") {
            @Override
            void to(Talk t) throws LinuxException {
                t.put(HELLO, 1);
                t.message.set(ValueLayout.JAVA_LONG, 32, t.cookie + 1);
                t.send(BYTES);
            }
        },
        /** Nothing, and it leaves. */
        NOTHING("no_session") {
            @Override
            void to(Talk t) {}
        },
        /** A process that accepts no session at the port that it names. */
        NOWHERE("no_session") {
            @Override
            void to(Talk t) throws LinuxException {
                t.say(HELLO, 1);
                t.hear();
            }
        },
        /** A process to which the program would have to connect. */
        NOBODY("no_session") {
            @Override
            void to(Talk t) throws LinuxException {
                t.put(HELLO, 1);
                t.message.set(ValueLayout.JAVA_LONG, 24, -1L); // the highest number
                t.send(BYTES);
                t.hear();
                assertThat(t.socket.receive(t.message, NONE)).isZero();
            }
        };

        final String counted;

        Says(String counted) {
            this.counted = counted;
        }

        abstract void to(Talk t) throws LinuxException;
    }

    /** The messages of one handshake, from the other end. */
    private static final class Talk implements AutoCloseable {
        final Arena arena = Arena.ofConfined();
        final MemorySegment message = arena.allocate(2 * BYTES, 8);
        final UnixSocket socket;
        final long cookie;
        private final long accepted;
        private boolean heard;

        /** @param cookie of the client's end; the other is the server's */
        Talk(UnixSocket socket, long cookie, long accepted) {
            this.socket = socket;
            this.cookie = cookie;
            this.accepted = accepted;
        }

        void put(int type, int version) {
            message.fill((byte) 0);
            message.set(ValueLayout.JAVA_LONG, 0, MAGIC);
            message.set(ValueLayout.JAVA_INT, 8, type);
            message.set(ValueLayout.JAVA_INT, 12, version);
            message.set(ValueLayout.JAVA_LONG, 16, type == HELLO && version > 1 ? -1 : 0);
            message.set(ValueLayout.JAVA_LONG, 24, 42); // a low number: so it is the one that connects
            message.set(ValueLayout.JAVA_LONG, 32, cookie);
            message.set(ValueLayout.JAVA_INT, 40, 1);
            message.set(ValueLayout.JAVA_LONG, 48, accepted);
        }

        void say(int type, int version) throws LinuxException {
            put(type, version);
            send(BYTES);
        }

        void send(int length) {
            assertThat(socket.send(message, 0, length, NONE)).isZero();
        }

        /** The program's HELLO, once. */
        void hear() throws LinuxException {
            if (heard) {
                return;
            }
            heard = true;
            int n = socket.receive(message, NONE);
            assertThat(n).isEqualTo(BYTES);
            assertThat(message.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(MAGIC);
            assertThat(message.get(ValueLayout.JAVA_INT, 8)).isEqualTo(HELLO);
        }

        @Override
        public void close() {
            socket.close();
            arena.close();
        }
    }

    @TempDir static Path dir;
    private static SocketPrograms programs;

    private final List<AutoCloseable> open = new ArrayList<>();
    private Path summary;
    private Child peer;
    private String[] ports;

    @BeforeAll
    static void prepare() throws Exception {
        programs = new SocketPrograms(dir);
    }

    @BeforeEach
    void start() throws Exception {
        summary = programs.summary();
        peer = programs.with("quiet,stream.patience=20000,summary=" + summary).option(
                "-DfirstConnection=false").start();
        ports = peer.await("PORTS").split(" ", -1);
    }

    @AfterEach
    void endAll() throws Exception {
        for (AutoCloseable c : open.reversed()) {
            c.close();
        }
        peer.close();
    }

    private <T extends AutoCloseable> T opened(T what) {
        open.add(what);
        return what;
    }

    private static long cookie(InetSocketAddress own, InetSocketAddress other) throws LinuxException {
        try (SockDiag diag = SockDiag.open()) {
            return diag.find(own, other).orElseThrow().cookie();
        }
    }

    private static InetSocketAddress here(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    /** Connects until the backlog of unaccepted connections is full. */
    private int fill(int port) throws IOException {
        for (int n = 0;; n++) {
            try {
                opened(new Socket()).connect(here(port), 300);
            } catch (SocketTimeoutException full) {
                return n;
            }
        }
    }

    /** The local port of a socket that is about to be connected to a port. */
    private static int awaitConnecting(int port) throws IOException {
        AtomicInteger found = new AtomicInteger();
        Await.until("a pending connection to " + port, () -> {
            TcpTable.ends().stream().filter(e -> e.peerPort() == port && e.state() == TcpTable.SYN_SENT).forEach(
                    e -> found.set(e.port()));
            return found.get() != 0;
        });
        return found.get();
    }

    /** Sent bytes are echoed. */
    private static void assertEcho(Socket s, int bytes) throws IOException {
        byte[] out = new byte[bytes];
        new Random(bytes).nextBytes(out);
        OutputStream to = s.getOutputStream();
        InputStream from = s.getInputStream();
        for (int i = 0; i < bytes; i += 1000) {
            to.write(out, i, 1000);
            assertThat(from.readNBytes(1000)).isEqualTo(Arrays.copyOfRange(out, i, i + 1000));
        }
    }

    /** The echo of what the program sends, until it ends. */
    private static Thread echoing(Socket s) {
        return Thread.ofPlatform().daemon().start(() -> {
            try (s) {
                s.getInputStream().transferTo(s.getOutputStream());
            } catch (IOException ended) {
                // the program will report it
            }
        });
    }

    private void assertCountedAll() throws Exception {
        Map<String, Integer> counted = new TreeMap<>();
        SocketPrograms.end(peer, summary).get("fallbacks").properties()
                .forEach(e -> counted.put(e.getKey(), e.getValue().asInt()));
        Map<String, Integer> meant = new TreeMap<>();
        for (Says s : Says.values()) {
            meant.merge(s.counted, 1, Integer::sum);
        }
        assertThat(counted).isEqualTo(meant);
    }

    /** The program has accepted, and looks for the client's name. */
    @Test
    void clientsViolatingTheProtocolAreHandled() throws Exception {
        for (Says what : Says.values()) {
            try (Socket client = new Socket()) {
                client.connect(here(Integer.parseInt(ports[0])));
                long cookie = cookie(here(client.getLocalPort()), here(client.getPort()));
                try (UnixSocket name = UnixSocket.listen(NAME + Long.toHexString(cookie), 4)) {
                    peer.tell("accept nio").await("ACCEPTED");
                    try (Talk t = new Talk(name.accept(), cookie,
                            cookie(here(client.getPort()), here(client.getLocalPort())))) {
                        t.hear();
                        what.to(t);
                    }
                    assertEcho(client, 50_000);
                    assertThat(peer.tell("decide accepted").await("DECIDED")).as(what.name()).isEqualTo("kernel");
                    assertEcho(client, 50_000);
                }
            }
        }
        assertCountedAll();
    }

    /** The program has connected, and waits at its name. */
    @Test
    void serversViolatingTheProtocolAreHandled() throws Exception {
        try (ServerSocket listener = new ServerSocket()) {
            listener.bind(here(0));
            for (Says what : Says.values()) {
                peer.tell("connect it classic " + listener.getLocalPort()).await("CONNECTED");
                Socket server = opened(listener.accept());
                long cookie = cookie(here(server.getPort()), here(server.getLocalPort()));
                UnixSocket[] name = new UnixSocket[1];
                Await.until(Child.LIMIT, () -> {
                    try {
                        name[0] = UnixSocket.connect(NAME + Long.toHexString(cookie));
                        return true;
                    } catch (LinuxException notYet) {
                        return false;
                    }
                }, () -> "no listener at the name");
                echoing(server);
                try (Talk t = new Talk(name[0], cookie,
                        cookie(here(server.getLocalPort()), here(server.getPort())))) {
                    what.to(t);
                }
                assertThat(peer.tell("agree it").await("AGREED")).as(what.name()).isEqualTo("kernel");
                peer.tell("talk it 100000").await("TALKED");
                peer.tell("close it").await("CLOSED");
            }
        }
        assertCountedAll();
    }

    /** Another process had the name first: before the connection, for which no room was left at first. */
    @Test
    void foreignOwnerOfTheNameIsHandled() throws Exception {
        try (ServerSocket listener = new ServerSocket()) {
            listener.bind(here(0), 1);
            int port = listener.getLocalPort();
            int others = fill(port);
            peer.tell("connect it nio " + port);
            opened(UnixSocket.listen(NAME + Long.toHexString(cookie(here(awaitConnecting(port)), here(port))), 4));
            for (int i = 0; i < others; i++) {
                opened(listener.accept());
            }
            Socket server = opened(listener.accept());
            peer.await("CONNECTED");
            echoing(server);
            assertThat(peer.tell("agree it").await("AGREED")).isEqualTo("kernel");
            peer.tell("talk it 100000").await("TALKED");
            peer.tell("close it").await("CLOSED");
        }
        assertThat(SocketPrograms.count(SocketPrograms.end(peer, summary), "fallbacks", "name_taken")).isOne();
    }
}
