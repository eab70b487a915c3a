// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.verbs.VerbsException;

/** The moment in which a reader comes to the ring, while another thread polls the same connection. */
class ChangeTest {
    private LinkedPair pair;
    private SessionPair sessions;
    private RingStream stream;
    private RingStream peer;

    @BeforeEach
    void offer() throws VerbsException {
        pair = new LinkedPair(200_000, SessionPair.ofOne());
        sessions = pair.sessions;
        stream = pair.stream;
        peer = pair.peer;
    }

    @AfterEach
    void disconnect() throws VerbsException {
        pair.close();
    }

    private static ByteBuffer bytes(int n) {
        return ByteBuffer.allocate(n);
    }

    /**
     * A selector has seen that TCP carries what comes in, and waits for the lock of a reader that goes on to the ring.
     */
    @Test
    void writerWaitingForAReaderSwitchesToTheRing() throws Exception {
        pair.completeHandshake();
        peer.write(bytes(10));
        Inbound in = stream.in();
        CompletableFuture<Integer> ready = new CompletableFuture<>();
        Thread selector = Thread.ofPlatform().unstarted(() -> ready.complete(stream.kernelReady(OP_READ, OP_READ)));
        synchronized (in) {
            assertThat(stream.isInputByRing()).isFalse();
            selector.start();
            while (selector.getState() != Thread.State.BLOCKED) {
                Thread.sleep(1);
            }
            assertThat(stream.read(bytes(4))).isEqualTo(4); // of the ring
        }
        selector.join();
        assertThat(sessions.a.isFailed()).isFalse();
        assertThat(ready).isCompletedWithValue(OP_READ);
        assertThat(stream.read(bytes(100))).isEqualTo(6);
    }

    /**
     * A selector's key was polled while TCP carried what comes in: it waits for the doorbell and is not armed. A
     * read without a selection takes that doorbell, be it before the ring or behind what TCP brought, so the key has to
     * be notified.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, 5})
    void readTakingTheFirstDoorbellWakesSleepers(int byTcp) throws Exception {
        assertThat(peer.write(bytes(byTcp))).isEqualTo(byTcp);
        stream.completeHandshake(pair.peerLink.offer());
        AtomicInteger notifications = new AtomicInteger();
        stream.listen(notifications::incrementAndGet);
        assertThat(stream.arm(OP_READ, null)).isZero();
        pair.tcp[0].whileReading = () -> {
            peer.completeHandshake(pair.link.offer());
            write(10); // rings
        };

        assertThat(stream.read(bytes(100))).isEqualTo(byTcp == 0 ? 10 : byTcp);

        assertThat(stream.figures().wakeUps()).isEqualTo(1);
        assertThat(pair.tcp[0].isReadable()).isFalse();
        assertThat(notifications).as("so the key is polled").hasPositiveValue();
        if (byTcp > 0) {
            assertThat(stream.arm(OP_READ, null)).isEqualTo(OP_READ);
            assertThat(stream.read(bytes(100))).isEqualTo(10);
        }
        assertThat(stream.arm(OP_READ, null)).isZero();
        write(1);
        assertThat(pair.tcp[0].isReadable()).as("a doorbell for what comes next").isTrue();
    }

    /** TCP stays at its end, which must not wake a selector that waits for room in the ring. */
    @Test
    void writerWaitingForRoomIsNotEndedByTcp() throws Exception {
        peer.shutdownOutput();
        pair.tcp[0].arrive(0);
        pair.completeHandshake();
        assertThat(stream.isOutputByRing()).isTrue();
        assertThat(stream.kernelOps(OP_WRITE)).as("a doorbell may come").isEqualTo(OP_READ);
        assertThat(stream.kernelOps(OP_READ)).isEqualTo(OP_READ);

        assertThat(stream.kernelReady(OP_READ, OP_READ)).isEqualTo(OP_READ);

        assertThat(stream.kernelOps(OP_READ | OP_WRITE)).as("it is known").isZero();
        assertThat(stream.readyOps(OP_READ)).isEqualTo(OP_READ);
        assertThat(stream.read(bytes(1))).isEqualTo(-1);
    }

    /** A program that is notified of data and does not read leaves them with the kernel, which holds up the peer. */
    @Test
    void unreadBytesStayWithTcp() throws Exception {
        assertThat(peer.keepOutputByTcp()).isTrue(); // as for urgent data
        pair.completeHandshake();
        assertThat(peer.write(bytes(150_000))).isEqualTo(150_000);
        pair.tcp[0].arrive(Integer.MAX_VALUE);
        assertThat(stream.kernelOps(OP_WRITE)).isEqualTo(OP_READ);
        for (int i = 0; i < 8; i++) {
            assertThat(stream.kernelReady(OP_READ, OP_READ)).isEqualTo(OP_READ);
        }
        assertThat(stream.kernelOps(OP_WRITE)).as("a writer that waits for room").isZero();
        assertThat(stream.available(0)).as("bytes taken from TCP").isBetween(1, 2 * Leftover.PIECE);
        ByteBuffer all = bytes(150_000);
        while (all.hasRemaining()) {
            assertThat(stream.read(all)).isPositive();
        }
    }

    /** What the peer writes, and the doorbell if it rings, is there when this returns. */
    private void write(int n) {
        try {
            assertThat(peer.write(bytes(n))).isEqualTo(n);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        while (sessions.b.isBusy()) {
            synchronized (sessions.b) {
                sessions.b.poll();
            }
        }
        pair.tcp[0].arrive(Integer.MAX_VALUE);
    }
}
