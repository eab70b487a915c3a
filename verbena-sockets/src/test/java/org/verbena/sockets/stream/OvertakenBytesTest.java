// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.testkit.Await;
import org.verbena.verbs.VerbsException;

/** The receiver's memory has been named to the sender, and has yet to reach it. */
class OvertakenBytesTest {
    private SessionPair sessions;
    private FakeTcp[] tcp;
    private RingStream sender;
    private RingStream receiver;

    @BeforeEach
    void connect() throws Exception {
        sessions = SessionPair.ofTwo();
        tcp = FakeTcp.pair(1000);
        sender = new RingStream(tcp[0], Stream.Role.CLIENT, null, false);
        receiver = new RingStream(tcp[1], Stream.Role.SERVER, null, false);
        Link ofSender = Link.create(sessions.a, sender);
        Link ofReceiver = Link.create(sessions.b, receiver);
        assertThat(sender.prepare(ofSender) && receiver.prepare(ofReceiver)).isTrue();
        sender.completeHandshake(ofReceiver.offer());
        receiver.completeHandshake(ofSender.offer());
    }

    @AfterEach
    void close() throws VerbsException {
        sessions.close();
    }

    private int read(ByteBuffer into) throws Exception {
        int n;
        int total = 0;
        while ((n = receiver.read(into)) > 0) {
            total += n;
        }
        return total > 0 ? total : n;
    }

    /** The sender writes into a ring in such memory, and closes at once: TCP's end must not come before its bytes. */
    @Test
    void endOfStreamDoesNotOvertakeBytesWaitingForMemory() throws Exception {
        ByteBuffer in = ByteBuffer.allocate(1 << 20);
        long written = 0;
        long memory = sessions.b.arena().total();
        try (StalledEngine stalled = new StalledEngine(sessions.contextOfA)) {
            CompletableFuture<Void> late;
            for (;;) { // larger rings lie in what the sender knows, until the receiver needs more memory for them
                ByteBuffer data = ByteBuffer.allocate(200_000);
                written += sender.write(data);
                receiver.read(in);
                assertThat(in.position()).isEqualTo(written);
                if (sessions.b.arena().total() > memory) {
                    late = CompletableFuture.runAsync(this::writeAndClose);
                    break;
                }
            }
            Await.until("bytes that wait", () -> sessions.a.isBusy() || late.isDone());
            tcp[1].arrive(1000);
            assertThat(read(in)).as("no end before the bytes").isZero();
            stalled.close();
            late.get(60, TimeUnit.SECONDS);
        }
        tcp[1].arrive(1000);
        assertThat(read(in)).isEqualTo(10_000);
        assertThat(receiver.read(in)).isEqualTo(-1);
        assertThat(in.position()).isEqualTo(written + 10_000);
        receiver.close(false);
    }

    private void writeAndClose() {
        try {
            assertThat(sender.write(ByteBuffer.allocate(10_000))).isEqualTo(10_000);
            sender.close(false);
            tcp[0].close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
