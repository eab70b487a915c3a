// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.verbena.testkit.KernelThread;

class UnixSocketTest {
    private static final int[] NONE = {};

    private final Arena arena = Arena.ofShared();
    private final MemorySegment out = arena.allocate(4096, 8);
    private final MemorySegment in = arena.allocate(4096, 8);

    @AfterEach
    void close() {
        arena.close();
    }

    private static String name(String what) {
        return "verbena-test-" + what + "-" + ProcessHandle.current().pid() + "-" + System.nanoTime();
    }

    @Test
    void connectsAcceptsAndKnowsThePeer() throws Exception {
        String name = name("accept");
        try (UnixSocket listener = UnixSocket.listen(name, 8)) {
            listener.setNonBlocking(true);
            assertThat(listener.accept()).isNull();
            try (UnixSocket client = UnixSocket.connect(name);
                    UnixSocket server = listener.accept()) {
                assertThat(server).isNotNull();
                PeerCredentials credentials = server.peerCredentials();
                assertThat(credentials.pid()).isEqualTo(Sys.pid());
                assertThat(credentials.uid()).isEqualTo(Sys.uid());
                assertThat(client.peerCredentials()).isEqualTo(credentials);
                out.set(ValueLayout.JAVA_LONG, 8, 99);
                assertThat(client.send(out, 8, 8, NONE)).isZero();
                assertThat(client.send(out, 0, 1, NONE)).isZero();
                assertThat(server.receive(in, NONE)).isEqualTo(8);
                assertThat(in.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(99);
                assertThat(server.receive(in, NONE)).as("messages keep their bounds").isEqualTo(1);
                assertThat(server.receivedFds()).isZero();
                client.shutdown();
                assertThat(server.receive(in, NONE)).as("end of file").isZero();
                assertThat(server.send(out, 0, 1, NONE)).isEqualTo(Errno.EPIPE);
            }
        }
    }

    @Test
    void namesAreExclusiveAndVanish() throws Exception {
        String name = name("exclusive");
        MemfdTest.assertErrno(Errno.ECONNREFUSED, () -> UnixSocket.connect(name));
        try (UnixSocket listener = UnixSocket.listen(name, 1)) {
            assertThat(listener).hasToString("UnixSocket[" + listener.fd() + "]");
            MemfdTest.assertErrno(Errno.EADDRINUSE, () -> UnixSocket.listen(name, 1));
        }
        MemfdTest.assertErrno(Errno.ECONNREFUSED, () -> UnixSocket.connect(name));
        UnixSocket.listen(name, 1).close();
    }

    @Test
    void aFullBacklogIsEagain() throws Exception {
        String name = name("backlog");
        List<UnixSocket> clients = new ArrayList<>();
        try (UnixSocket listener = UnixSocket.listen(name, 1)) {
            assertThatThrownBy(() -> {
                for (int i = 0; i < 10; i++) {
                    clients.add(UnixSocket.connect(name));
                }
            }).isInstanceOfSatisfying(LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EAGAIN));
            assertThat(clients).isNotEmpty();
            UnixSocket accepted = listener.accept();
            assertThat(accepted).isNotNull();
            accepted.close();
        } finally {
            clients.forEach(UnixSocket::close);
        }
    }

    @Test
    void refusesWrongNames() throws Exception {
        for (String wrong : new String[] {"", "x".repeat(108), "ü".repeat(54), "a\0b"}) {
            assertThatThrownBy(() -> UnixSocket.listen(wrong, 1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> UnixSocket.connect(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> UnixSocket.listen("x", 0)).isInstanceOf(IllegalArgumentException.class);
        String longest = (name("long") + "x".repeat(107)).substring(0, 107);
        try (UnixSocket listener = UnixSocket.listen(longest, 1);
                UnixSocket client = UnixSocket.connect(longest)) {
            assertThat(client.peerCredentials().pid()).isEqualTo(Sys.pid());
            assertThat(listener.fd().isClosed()).isFalse();
        }
    }

    @Test
    void passesDescriptors() throws Exception {
        UnixSocket[] pair = UnixSocket.pair();
        try (Fd memory = Memfd.create("passed-one", 4096);
                Fd event = Eventfd.create();
                UnixSocket a = pair[0];
                UnixSocket b = pair[1]) {
            assertThat(a.send(out, 0, 4, new int[] {memory.value(), event.value()})).isZero();
            int[] fds = new int[4];
            assertThat(b.receive(in, fds)).isEqualTo(4);
            assertThat(b.receivedFds()).isEqualTo(2);
            assertThat(b.excessFds()).isZero();
            try (Fd memory2 = Fd.of(fds[0]);
                    Fd event2 = Fd.of(fds[1])) {
                assertThat(memory2.value()).isNotEqualTo(memory.value());
                Mapping.map(memory, 0, 4096, true).segment().set(ValueLayout.JAVA_INT, 0, 3);
                assertThat(Mapping.map(memory2, 0, 4096, true).segment().get(ValueLayout.JAVA_INT, 0)).isEqualTo(3);
                Eventfd.signal(event2);
                assertThat(Eventfd.drain(event)).isEqualTo(1);
            }
            assertThat(a.send(out, 0, 1, NONE)).isZero();
            assertThat(b.receive(in, fds)).isEqualTo(1);
            assertThat(b.receivedFds()).isZero();
        }
        assertThat(Proc.openFds("passed-one")).isZero();
    }

    @Test
    void excessDescriptorsAreClosed() throws Exception {
        UnixSocket[] pair = UnixSocket.pair();
        try (Fd memory = Memfd.create("passed-many", 1);
                UnixSocket a = pair[0];
                UnixSocket b = pair[1]) {
            int[] most = new int[UnixSocket.MAX_FDS];
            Arrays.fill(most, memory.value());
            assertThat(a.send(out, 0, 4, most)).isZero();
            int[] fds = new int[3];
            assertThat(b.receive(in, fds)).isEqualTo(4);
            assertThat(b.receivedFds()).isEqualTo(3);
            assertThat(b.excessFds()).isEqualTo(25);
            assertThat(Proc.openFds("passed-many")).isEqualTo(4);
            for (int fd : fds) {
                Fd.of(fd).close();
            }
            assertThat(a.send(out, 0, 4, most)).isZero();
            assertThat(b.receive(in.asSlice(0, 3), new int[28])).as("too long").isEqualTo(-Errno.EMSGSIZE);
            assertThat(b.receivedFds()).isZero();
            assertThat(Proc.openFds("passed-many")).isEqualTo(1);
            assertThat(a.send(out, 0, 4, new int[] {1_000_000_000})).isEqualTo(Errno.EBADF);
            assertThat(a.send(out, 0, 4, most)).isZero();
            b.fd().close();
            assertThat(Proc.openFds("passed-many")).isEqualTo(1);
            assertThatThrownBy(() -> a.send(out, 0, 4, new int[29])).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> a.send(out, 0, 4, new int[] {-1})).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void nonBlockingSaysEagain() throws Exception {
        UnixSocket[] pair = UnixSocket.pair();
        try (UnixSocket a = pair[0];
                UnixSocket b = pair[1]) {
            a.setNonBlocking(true);
            assertThat(a.receive(in, NONE)).isEqualTo(-Errno.EAGAIN);
            int result = 0;
            for (int i = 0; i < 100_000 && result == 0; i++) {
                result = a.send(out, 0, 4096, NONE);
            }
            assertThat(result).isEqualTo(Errno.EAGAIN);
            assertThat(b.receive(in, NONE)).isEqualTo(4096);
            MemorySegment huge = Mapping.anonymous(64 << 20).segment();
            assertThat(a.send(huge, 0, huge.byteSize(), NONE)).isEqualTo(Errno.EMSGSIZE);
            a.setNonBlocking(false);
        }
    }

    /** Who looks again and again may look between the message and the close. */
    @Test
    void theLastMessageIsNotLostToTheEnd() throws Exception {
        int looked = 0;
        for (int i = 0; i < 20_000; i++) {
            UnixSocket[] ends = UnixSocket.pair();
            ends[1].setNonBlocking(true);
            CompletableFuture<Integer> sender = CompletableFuture.supplyAsync(() -> {
                try (UnixSocket end = ends[0]) {
                    return end.send(out, 0, 8, NONE);
                }
            });
            int first;
            do {
                first = ends[1].receive(in, NONE);
                looked++;
            } while (first == -Errno.EAGAIN);
            assertThat(first).as("round %d", i).isEqualTo(8);
            assertThat(sender.get(60, TimeUnit.SECONDS)).isZero();
            ends[1].close();
        }
        assertThat(looked).isGreaterThan(20_000);
    }

    @Test
    void refusesWrongMemory() throws Exception {
        UnixSocket[] pair = UnixSocket.pair();
        try (UnixSocket a = pair[0];
                UnixSocket b = pair[1]) {
            long[][] wrong = {{-1, 1}, {0, -1}, {0, 4097}, {4096, 1}, {1, Long.MAX_VALUE}};
            for (long[] range : wrong) {
                assertThatThrownBy(() -> a.send(out, range[0], range[1], NONE))
                        .isInstanceOf(IndexOutOfBoundsException.class);
            }
            assertThatThrownBy(() -> a.send(out, 0, 0, NONE)).isInstanceOf(IllegalArgumentException.class);
            MemorySegment heap = MemorySegment.ofArray(new byte[8]);
            assertThatThrownBy(() -> a.send(heap, 0, 8, NONE)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> b.receive(heap, NONE)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> b.receive(in.asReadOnly(), NONE)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> b.receive(in.asSlice(0, 0), NONE)).isInstanceOf(IllegalArgumentException.class);
            Arena closed = Arena.ofShared();
            MemorySegment gone = closed.allocate(8);
            closed.close();
            assertThatThrownBy(() -> a.send(gone, 0, 8, NONE)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> b.receive(gone, NONE)).isInstanceOf(IllegalStateException.class);
            try (Arena confined = Arena.ofConfined()) {
                MemorySegment mine = confined.allocate(8);
                CompletableFuture<Integer> other = CompletableFuture.supplyAsync(() -> a.send(mine, 0, 8, NONE));
                assertThatThrownBy(() -> other.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(
                        WrongThreadException.class);
            }
        }
    }

    @Test
    void closedSocketsSaySo() throws Exception {
        UnixSocket[] pair = UnixSocket.pair();
        pair[0].close();
        pair[0].close();
        pair[0].shutdown();
        assertThatThrownBy(() -> pair[0].send(out, 0, 1, NONE)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> pair[0].receive(in, NONE)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(pair[0]::accept).isInstanceOf(IllegalStateException.class);
        MemfdTest.assertErrno(Errno.EINVAL, pair[1]::accept);
        assertThat(pair[1].send(out, 0, 1, NONE)).isEqualTo(Errno.EPIPE);
        pair[1].close();
    }

    @Test
    void unreadDataIsAConnectionReset() throws Exception {
        UnixSocket[] pair = UnixSocket.pair();
        assertThat(pair[1].send(out, 0, 1, NONE)).isZero();
        pair[0].close();
        assertThat(pair[1].receive(in, NONE)).isEqualTo(-Errno.ECONNRESET);
        pair[1].close();
    }

    @Test
    void closeAndShutdownWakeBlockedThreads() throws Exception {
        UnixSocket[] pair = UnixSocket.pair();
        CompletableFuture<Integer> blocked = new CompletableFuture<>();
        CompletableFuture<Path> receiver = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> {
            receiver.complete(KernelThread.self());
            blocked.complete(pair[0].receive(in, NONE));
        });
        KernelThread.awaitAsleep(receiver.get(60, TimeUnit.SECONDS));
        pair[0].close();
        assertThat(blocked.get(60, TimeUnit.SECONDS)).isZero();
        pair[1].close();

        UnixSocket listener = UnixSocket.listen(name("wake"), 1);
        CompletableFuture<Throwable> accepting = new CompletableFuture<>();
        CompletableFuture<Path> acceptor = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> {
            acceptor.complete(KernelThread.self());
            try {
                accepting.complete(new AssertionError("accepted " + listener.accept()));
            } catch (LinuxException e) {
                accepting.complete(e);
            }
        });
        KernelThread.awaitAsleep(acceptor.get(60, TimeUnit.SECONDS));
        listener.shutdown();
        assertThat(accepting.get(60, TimeUnit.SECONDS)).isInstanceOf(LinuxException.class);
        listener.close();
    }

    @Test
    void bothDirectionsAtOnce() throws Exception {
        UnixSocket[] pair = UnixSocket.pair();
        int count = 2000;
        CompletableFuture<?>[] work = new CompletableFuture<?>[4];
        for (int i = 0; i < 2; i++) {
            UnixSocket socket = pair[i];
            MemorySegment sent = arena.allocate(8, 8);
            MemorySegment received = arena.allocate(8, 8);
            work[2 * i] = onThread(() -> {
                for (int k = 0; k < count; k++) {
                    sent.set(ValueLayout.JAVA_LONG, 0, k);
                    assertThat(socket.send(sent, 0, 8, NONE)).isZero();
                }
            });
            work[2 * i + 1] = onThread(() -> {
                for (int k = 0; k < count; k++) {
                    assertThat(socket.receive(received, NONE)).isEqualTo(8);
                    assertThat(received.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(k);
                }
            });
        }
        CompletableFuture.allOf(work).get(60, TimeUnit.SECONDS);
        pair[0].close();
        pair[1].close();
    }

    private static CompletableFuture<?> onThread(Runnable task) {
        CompletableFuture<Object> done = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> {
            try {
                task.run();
                done.complete("done");
            } catch (Throwable t) {
                done.completeExceptionally(t);
            }
        });
        return done;
    }
}
