// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_ACCEPT;
import static java.nio.channels.SelectionKey.OP_CONNECT;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import sun.nio.ch.DefaultSelectorProvider;
import sun.nio.ch.SelChImpl;

import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.VerbenaSocketOptions;
import org.verbena.sockets.stream.FallbackReason;

/** Verbena's channels at a selector of the JDK, as a program has it from before it was attached to. */
@Timeout(120)
@Isolated
class ForeignSelectorsTest {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final long QUIET_MILLIS = 50;
    private static final int BYTES = 3_000_000;

    /** The age of a connection, at least, when its handshake begins. */
    private static final long DELAY_NANOS = 1000 * Long.getLong("verbena.stream.delay", 2000);

    private Selector selector;

    @BeforeEach
    void open() throws IOException {
        selector = DefaultSelectorProvider.get().openSelector();
    }

    @AfterEach
    void close() throws IOException {
        selector.close();
    }

    private SelectionKey register(SelectableChannel channel, int ops) throws IOException {
        channel.configureBlocking(false);
        return channel.register(selector, ops);
    }

    /** What of {@code key} is ready; a selection may find that a doorbell had nothing behind it. */
    private int select(SelectionKey key) throws IOException {
        selector.selectedKeys().clear();
        while (selector.select() == 0) {
            assertThat(selector.selectedKeys()).isEmpty();
        }
        assertThat(selector.selectedKeys()).containsExactly(key);
        return key.readyOps();
    }

    private void assertNothingReady() throws IOException {
        assertThat(isNothingReady()).as("nothing is ready").isTrue();
    }

    private boolean isNothingReady() throws IOException {
        selector.selectedKeys().clear();
        long end = System.nanoTime() + QUIET_MILLIS * 1_000_000;
        for (int i = 0; System.nanoTime() < end; i++) {
            if (selector.select(QUIET_MILLIS) > 0) {
                return false;
            }
            assertThat(i).as("selections that find nothing").isLessThan(10);
        }
        return true;
    }

    /**
     * Writes until there is no room and the selector reports that; until then, buffers may grow and rings be replaced
     * by larger.
     *
     * @return bytes written
     */
    private long fill(SocketChannel channel) throws IOException {
        long sent = 0;
        for (int failedWrites = 0;;) {
            int n = channel.write(ByteBuffer.allocate(10_000));
            sent += n;
            if (n > 0) {
                failedWrites = 0;
            } else if (isNothingReady()) {
                return sent;
            } else {
                failedWrites++;
                assertThat(failedWrites).as("failed writes where room was reported").isLessThan(10);
            }
        }
    }

    private static void write(SocketChannel to, String text) throws IOException {
        ByteBuffer b = ByteBuffer.wrap(text.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        while (b.hasRemaining()) {
            to.write(b);
        }
    }

    private static String read(SocketChannel from, int most) throws IOException {
        ByteBuffer b = ByteBuffer.allocate(most);
        int n = from.read(b);
        return n < 0 ? "end" : new String(b.array(), 0, n, java.nio.charset.StandardCharsets.US_ASCII);
    }

    @ParameterizedTest
    @EnumSource(Carrier.class)
    void unreadBytesAreReadyAgain(Carrier carrier) throws Exception {
        try (Carrier.Pair p = carrier.connected()) {
            SelectionKey key = register(p.tested(), OP_READ);
            assertNothingReady();
            for (int i = 0; i < 50; i++) {
                write(p.peer(), "abc");
                for (String expected : new String[] {"a", "b", "c"}) {
                    assertThat(select(key)).isEqualTo(OP_READ);
                    assertThat(read(p.tested(), 1)).isEqualTo(expected);
                }
                assertThat(read(p.tested(), 1)).isEmpty();
                if (i < 3) {
                    assertNothingReady();
                }
            }
            write(p.peer(), "z");
            assertThat(select(key)).isEqualTo(OP_READ);
            key.interestOps(OP_WRITE);
            assertThat(select(key)).isEqualTo(OP_WRITE);
            key.interestOps(0);
            assertNothingReady();
            key.interestOps(OP_READ | OP_WRITE);
            assertThat(select(key)).isEqualTo(OP_READ | OP_WRITE);
            key.interestOps(OP_READ);
            assertThat(read(p.tested(), 1)).isEqualTo("z");
            p.peer().close();
            assertThat(select(key)).isEqualTo(OP_READ);
            assertThat(read(p.tested(), 1)).isEqualTo("end");
            assertThat(select(key)).isEqualTo(OP_READ);
        }
    }

    /** The thread sleeps in the selector until the other end comes to it. */
    @ParameterizedTest
    @EnumSource(Carrier.class)
    void sleepingSelectorIsWokenByBytesAndRoom(Carrier carrier) throws Exception {
        try (Carrier.Pair p = carrier.connected()) {
            SelectionKey key = register(p.tested(), OP_READ);
            for (int i = 0; i < 10; i++) {
                Thread later = Thread.ofPlatform().start(() -> {
                    try {
                        Thread.sleep(20);
                        write(p.peer(), "x");
                    } catch (IOException | InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
                assertThat(select(key)).isEqualTo(OP_READ);
                assertThat(read(p.tested(), 5)).isEqualTo("x");
                later.join();
            }
            key.interestOps(OP_WRITE);
            long all = fill(p.tested());
            Thread reader = Thread.ofPlatform().start(() -> {
                try {
                    Thread.sleep(20);
                    ByteBuffer b = ByteBuffer.allocate(50_000);
                    for (long left = all; left > 0;) {
                        left -= p.peer().read(b.clear());
                    }
                } catch (IOException | InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            assertThat(select(key)).isEqualTo(OP_WRITE);
            reader.join();
        }
    }

    /** Both ends at one selector of the JDK: all bytes arrive. */
    @ParameterizedTest
    @EnumSource(Carrier.class)
    void allBytesArrive(Carrier carrier) throws Exception {
        try (Carrier.Pair p = carrier.accepted()) {
            SelectionKey out = register(p.tested(), OP_WRITE);
            SelectionKey in = register(p.peer(), OP_READ);
            MessageDigest sent = MessageDigest.getInstance("SHA-256");
            MessageDigest got = MessageDigest.getInstance("SHA-256");
            Random random = new Random(7);
            ByteBuffer from = ByteBuffer.allocate(30_000).limit(0);
            ByteBuffer to = ByteBuffer.allocate(20_000);
            int left = BYTES;
            while (in.isValid()) {
                selector.select();
                if (selector.selectedKeys().remove(in) && in.isReadable()) {
                    int n = p.peer().read(to.clear());
                    if (n < 0) {
                        in.cancel();
                        continue;
                    }
                    got.update(to.array(), 0, n);
                }
                if (selector.selectedKeys().remove(out) && out.isWritable()) {
                    if (!from.hasRemaining() && left > 0) {
                        random.nextBytes(from.array());
                        from.clear().limit(Math.min(left, 1 + random.nextInt(from.capacity())));
                        left -= from.limit();
                        sent.update(from.array(), 0, from.limit());
                    }
                    p.tested().write(from);
                    if (left == 0 && !from.hasRemaining()) {
                        out.interestOps(0);
                        p.tested().shutdownOutput();
                    }
                }
            }
            assertThat(got.digest()).isEqualTo(sent.digest());
        }
    }

    /** As the JDK's HttpClient does it. */
    @Test
    void channelRegisteredBeforeConnectStaysWithTcp() throws Exception {
        try (VerbenaServerSocketChannel listener = VerbenaServerSocketChannel.open();
                VerbenaSocketChannel client = VerbenaSocketChannel.open()) {
            listener.bind(Carrier.anyPort());
            SelectionKey accepting = register(listener, OP_ACCEPT);
            SelectionKey key = register(client, OP_CONNECT);
            selector.selectNow();
            assertThat(client.connect(listener.getLocalAddress())).isFalse();
            for (int seen = 0; seen != (OP_CONNECT | OP_ACCEPT);) {
                selector.select();
                seen |= key.readyOps() | accepting.readyOps();
            }
            accepting.interestOps(0);
            assertThat(client.finishConnect()).isTrue();
            key.interestOps(OP_READ);
            try (VerbenaSocketChannel server = (VerbenaSocketChannel) listener.accept()) {
                for (int i = 0; i < 100; i++) {
                    write(server, "hello");
                    assertThat(select(key)).isEqualTo(OP_READ);
                    assertThat(read(client, 10)).isEqualTo("hello");
                    Thread.sleep(1);
                }
                assertThat(client.fallbackReason()).isEqualTo(FallbackReason.FOREIGN_SELECTOR.toString());
                assertThat(client.getOption(VerbenaSocketOptions.TRANSPORT)).isEqualTo("kernel");
                assertThat(server.isOutputByRing()).isFalse();
            }
        }
    }

    /** Registered at once after it was connected, before the handshake can be complete. */
    @Test
    void channelRegisteredBeforeTheHandshakeStaysWithTcp() throws Exception {
        try (VerbenaServerSocketChannel listener = VerbenaServerSocketChannel.open()) {
            listener.bind(Carrier.anyPort());
            for (int inTime = 0; inTime < 20;) {
                try (VerbenaSocketChannel client = VerbenaSocketChannel.open()) {
                    long start = System.nanoTime();
                    client.connect(listener.getLocalAddress());
                    SelectionKey key = register(client, OP_READ);
                    selector.selectNow();
                    boolean isInTime = System.nanoTime() - start < DELAY_NANOS; // else it may have been complete
                    try (SocketChannel server = listener.accept()) {
                        for (int n = 0; n < 20 || client.getOption(VerbenaSocketOptions.TRANSPORT).equals(
                                "undecided"); n++) {
                            write(server, "hello");
                            assertThat(select(key)).isEqualTo(OP_READ);
                            assertThat(read(client, 10)).isEqualTo("hello");
                            Thread.sleep(1);
                        }
                    }
                    if (isInTime) {
                        assertThat(client.fallbackReason()).isEqualTo(FallbackReason.FOREIGN_SELECTOR.toString());
                        inTime++;
                    }
                }
            }
        }
    }

    /** That a connected channel might be connected once more is no event, and nothing to spin for. */
    @ParameterizedTest
    @EnumSource(value = Carrier.class, names = {"TCP", "RING"})
    void connectInterestIsNotReadyOnceConnected(Carrier carrier) throws Exception {
        try (Carrier.Pair p = carrier.connected()) {
            SelectionKey key = register(p.tested(), OP_CONNECT);
            assertNothingReady();
            key.interestOps(OP_CONNECT | OP_READ);
            assertNothingReady();
            write(p.peer(), "x");
            assertThat(select(key)).isEqualTo(OP_READ);
            key.interestOps(OP_CONNECT);
            assertNothingReady();
            key.interestOps(OP_CONNECT | OP_WRITE);
            assertThat(select(key)).isEqualTo(OP_WRITE);
        }
    }

    /** Closed only after the selector has deregistered it: nothing else will end it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void deregisteredListenerIsClosedAtOnce(boolean selectorIsClosed) throws Exception {
        try (VerbenaServerSocketChannel listener = VerbenaServerSocketChannel.open()) {
            listener.bind(Carrier.anyPort());
            SocketAddress address = listener.getLocalAddress();
            forgotten(register(listener, OP_ACCEPT), selectorIsClosed);
            Path socket = socket((SelChImpl) listener);
            assertThat(sockets()).contains(socket);
            listener.close();
            assertThat(sockets()).doesNotContain(socket);
            try (ServerSocketChannel next = ServerSocketChannel.open()) {
                next.bind(address);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void deregisteredConnectingSocketIsClosedAtOnce(boolean selectorIsClosed) throws Exception {
        try (ServerSocketChannel listener = ServerSocketChannel.open().bind(Carrier.anyPort());
                VerbenaSocketChannel client = VerbenaSocketChannel.open()) {
            SelectionKey key = register(client, OP_CONNECT);
            assertThat(client.connect(listener.getLocalAddress())).isFalse();
            forgotten(key, selectorIsClosed);
            Path socket = socket((SelChImpl) client);
            assertThat(sockets()).contains(socket);
            client.close();
            assertThat(sockets()).doesNotContain(socket);
        }
    }

    /** The selector has asked for what there is, and then knows the channel no more, which is open. */
    private void forgotten(SelectionKey key, boolean selectorIsClosed) throws IOException {
        selector.selectNow();
        if (selectorIsClosed) {
            selector.close();
        } else {
            key.cancel();
            selector.selectNow();
        }
        assertThat(key.channel().isRegistered()).isFalse();
        assertThat(key.channel().isOpen()).isTrue();
    }

    private static Path socket(SelChImpl channel) throws IOException {
        return Files.readSymbolicLink(DESCRIPTORS.resolve(Integer.toString(channel.getFDVal())));
    }

    /** What the descriptors of this process stand for. */
    private static List<Path> sockets() throws IOException {
        List<Path> all = new ArrayList<>();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(DESCRIPTORS)) {
            for (Path descriptor : descriptors) {
                try {
                    all.add(Files.readSymbolicLink(descriptor));
                } catch (NoSuchFileException _) {
                    // another thread has closed it
                }
            }
        }
        return all;
    }

    /** The selector finds keys by descriptors: one that it knows must not be given to another channel. */
    @Test
    void refusedConnectionIsNotConfusedWithTheNext() throws Exception {
        try (SocketChannel bound = Carrier.unlistened();
                ServerSocketChannel listener = ServerSocketChannel.open().bind(Carrier.anyPort())) {
            SocketAddress refusing = bound.getLocalAddress();
            for (int i = 0; i < 20; i++) {
                VerbenaSocketChannel refused = VerbenaSocketChannel.open();
                SelectionKey key = register(refused, OP_CONNECT);
                selector.selectNow();
                refused.connect(refusing);
                assertThat(select(key)).isEqualTo(OP_CONNECT);
                assertThatThrownBy(refused::finishConnect).isInstanceOf(ConnectException.class);
                assertThat(refused.isOpen()).isFalse();
                try (VerbenaSocketChannel next = VerbenaSocketChannel.open()) {
                    SelectionKey nexts = register(next, OP_CONNECT);
                    next.connect(listener.getLocalAddress());
                    assertThat(select(nexts)).isEqualTo(OP_CONNECT);
                    assertThat(next.finishConnect()).isTrue();
                    listener.accept().close();
                }
                selector.selectNow();
                assertThat(selector.keys()).isEmpty();
            }
        }
    }
}
