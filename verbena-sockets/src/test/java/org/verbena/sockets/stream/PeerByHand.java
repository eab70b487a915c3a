// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

import org.verbena.linux.SockDiag;
import org.verbena.linux.UnixSocket;
import org.verbena.testkit.Await;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;

/**
 * A TCP connection whose one end has the engine of this process, and whose other end does the handshake by hand,
 * message by message, as the end of another process would: with a session and a stream of its own.
 */
final class PeerByHand implements AutoCloseable {
    private static final int[] NO_DESCRIPTORS = {};

    /** The other process, with a number so low that it is the one to connect the session; for one after the other. */
    static final class Other implements AutoCloseable {
        private static final long NUMBER = 2;

        final Context context = Verbs.open("shm0");
        final Session session = new Session(context, 0, context.createCompletionChannel(), () -> {}, 1 << 26);
        private boolean connected;

        Other() throws IOException {}

        private void connect(int port) throws IOException {
            if (!connected) {
                connected = true;
                byte[] data = ByteBuffer.allocate(24).putInt(Sessions.MAGIC).putLong(NUMBER)
                        .putLong(session.header().address()).putInt(session.header().rkey()).array();
                Connection made = context.connectionManager().connect(session.queuePair(),
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                        ConnectionParameters.builder().privateData(data).build());
                ByteBuffer answer = ByteBuffer.wrap(made.privateData());
                session.connected(made, answer.getLong(12), answer.getInt(20));
            }
        }

        @Override
        public void close() throws IOException {
            session.close();
            context.close();
        }
    }

    final Other process;
    final RingStream real;
    final RingStream own;
    final SocketChannel realTcp;
    final SocketChannel ownTcp;
    private final Stream.Role role;
    private final String name;
    private final long cookie;
    private final long accepted;
    private final UnixSocket listener;
    private UnixSocket toEngine;
    private Link link;
    private Offer offer;
    boolean offered;

    /** @param role of the end that has the engine */
    PeerByHand(Other process, Stream.Role role) throws IOException {
        this.process = process;
        this.role = role;
        try (ServerSocketChannel server = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)); SockDiag diag = SockDiag.open()) {
            SocketChannel client = SocketChannel.open(server.getLocalAddress());
            SocketChannel taken = server.accept();
            client.configureBlocking(false);
            taken.configureBlocking(false);
            InetSocketAddress first = (InetSocketAddress) client.getLocalAddress();
            InetSocketAddress second = (InetSocketAddress) client.getRemoteAddress();
            cookie = diag.find(first, second).orElseThrow().cookie();
            accepted = diag.find(second, first).orElseThrow().cookie();
            name = "verbena-stream-" + Long.toHexString(cookie);
            boolean serves = role == Stream.Role.SERVER;
            realTcp = serves ? taken : client;
            ownTcp = serves ? client : taken;
            own = new RingStream(ownTcp, serves ? Stream.Role.CLIENT : Stream.Role.SERVER, null, false);
            listener = serves ? UnixSocket.listen(name, 4) : null;
            real = (RingStream) Stream.of(realTcp, role);
        }
    }

    /** The two are connected, and the server has sent HELLO if it is the one with the engine. */
    void meet() throws Exception {
        if (listener != null) {
            toEngine = listener.accept();
            hearHello();
        } else {
            toEngine = connectToEngine();
        }
    }

    /** One more connection to the name where the client with the engine waits. */
    UnixSocket connectToEngine() throws InterruptedException {
        UnixSocket[] made = new UnixSocket[1];
        Await.until("the name", () -> {
            try {
                made[0] = UnixSocket.connect(name);
                return true;
            } catch (IOException notYet) {
                return false;
            }
        });
        return made[0];
    }

    private void hearHello() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = arena.allocate(HandshakeMessage.BYTES, 8);
            assertThat(toEngine.receive(message, NO_DESCRIPTORS)).isEqualTo(HandshakeMessage.BYTES);
            HandshakeMessage.Hello hello = HandshakeMessage.hello(message, HandshakeMessage.BYTES);
            assertThat(hello.cookie()).isEqualTo(cookie);
            assertThat(hello.accepted()).isEqualTo(accepted);
            process.connect(hello.port());
        }
    }

    /** Sends HELLO, and receives the client's, which only answers. */
    void hello() throws IOException {
        sendHello(toEngine, HandshakeMessage.VERSION, accepted);
        if (role == Stream.Role.CLIENT) {
            hearHello();
        }
    }

    void sendHello(UnixSocket to, int version, long ofAccepted) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = arena.allocate(HandshakeMessage.BYTES, 8);
            HandshakeMessage.put(message, new HandshakeMessage.Hello(version, 0, Other.NUMBER, cookie, 1, ofAccepted));
            message.set(ValueLayout.JAVA_INT, 12, version);
            assertThat(to.send(message, 0, HandshakeMessage.BYTES, NO_DESCRIPTORS)).isZero();
        }
    }

    /** Says HELLO of that version, and does not wait for an answer. */
    void hello(int version) {
        sendHello(toEngine, version, accepted);
    }

    void garbage(int length) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = arena.allocate(HandshakeMessage.BYTES, 8);
            message.fill((byte) 0x5a);
            assertThat(toEngine.send(message, 0, length, NO_DESCRIPTORS)).isZero();
        }
    }

    /** Until the other side has hung up. */
    void awaitEnd(UnixSocket on) {
        try (Arena arena = Arena.ofConfined()) {
            assertThat(on.receive(arena.allocate(HandshakeMessage.BYTES, 8), NO_DESCRIPTORS)).isZero();
        }
    }

    void hearOffer() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = arena.allocate(HandshakeMessage.BYTES, 8);
            assertThat(toEngine.receive(message, NO_DESCRIPTORS)).isEqualTo(HandshakeMessage.BYTES);
            offer = HandshakeMessage.offer(message, HandshakeMessage.BYTES);
            assertThat(offer.isOfPeer(process.session)).isTrue();
        }
    }

    void offer() throws IOException {
        link = Link.create(process.session, own);
        assertThat(own.prepare(link)).isTrue();
        offered = true;
        sendOffer(toEngine, link.offer());
    }

    static void sendOffer(UnixSocket to, Offer what) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = arena.allocate(HandshakeMessage.BYTES, 8);
            HandshakeMessage.put(message, what);
            assertThat(to.send(message, 0, HandshakeMessage.BYTES, NO_DESCRIPTORS)).isZero();
        }
    }

    void hangUp() {
        if (toEngine != null) {
            toEngine.close();
        }
    }

    /** As the protocol has it: rings if both offers are made, and otherwise TCP. */
    boolean decide() {
        own.takeLink();
        if (offered && offer != null) {
            own.completeHandshake(offer);
            return true;
        }
        own.fallBack(FallbackReason.NO_SESSION);
        return false;
    }

    @Override
    public void close() throws Exception {
        real.close(false);
        realTcp.close();
        own.close(false);
        ownTcp.close();
        hangUp();
        if (listener != null) {
            listener.close();
        }
        if (link != null) {
            if (offer != null) {
                Await.until("memory let go", link::isLetGo);
            }
            link.release();
        }
        Link ofReal = real.link();
        if (ofReal != null) {
            Await.until("a number given back", () -> !ofReal.session.streams().all().contains(real));
        }
    }
}
