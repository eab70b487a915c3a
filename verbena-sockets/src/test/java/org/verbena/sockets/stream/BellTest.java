// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static java.nio.channels.SelectionKey.OP_READ;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.sockets.stream.memory.Bell;
import org.verbena.sockets.stream.memory.BlockLayout;
import org.verbena.testkit.KernelThread;
import org.verbena.verbs.VerbsException;

/** Where a thread may sleep by a bell, and what ends that. */
class BellTest {
    /** Longer than anything takes; what is to wake a thread comes before. */
    private static final long LONG_NANOS = 60_000_000_000L;

    private LinkedPair pair;
    private SessionPair sessions;
    private RingStream stream;
    private RingStream peer;

    @BeforeEach
    void offer() throws VerbsException {
        pair = new LinkedPair(200_000, SessionPair.ofTwo());
        sessions = pair.sessions;
        stream = pair.stream;
        peer = pair.peer;
    }

    @AfterEach
    void disconnect() throws VerbsException {
        pair.close();
    }

    /** Both on rings, and their ends watched. */
    private void completeHandshake(long features) throws Exception {
        stream.out().peerFeatures(features);
        peer.out().peerFeatures(features);
        pair.completeHandshake();
        assertThat(stream.read(ByteBuffer.allocate(1))).isZero();
        assertThat(peer.read(ByteBuffer.allocate(1))).isZero();
        stream.in().watched();
        peer.in().watched();
    }

    private Bell bell() {
        return Objects.requireNonNull(stream.bell());
    }

    @Test
    void peerOfAnEarlierVersionIsNotAskedForTheBell() throws Exception {
        completeHandshake(HandshakeMessage.FEATURES & ~HandshakeMessage.BELLS);

        assertThat(stream.bell()).isNull();
    }

    @Test
    void thereIsNoBellBeforeTheRingNorWhereNobodyNoticesTheEndOfTcp() throws Exception {
        assertThat(stream.bell()).isNull();
        stream.in().watched();
        assertThat(stream.bell()).isNull();
        completeHandshake(HandshakeMessage.FEATURES);
        assertThat(stream.bell()).isNotNull();
        stream.shutdownInput();
        assertThat(stream.bell()).isNull();
    }

    @Test
    void bytesRingTheBellOnceAndNoDoorbell() throws Exception {
        completeHandshake(HandshakeMessage.FEATURES);
        int before = bell().prepare();
        assertThat(stream.armBell(OP_READ)).isZero();

        peer.write(ByteBuffer.allocate(10));
        peer.write(ByteBuffer.allocate(10));

        assertThat(BlockLayout.rings(bell().prepare()) - BlockLayout.rings(before)).isEqualTo(1);
        bell().await(before, LONG_NANOS); // rung before it sleeps
        assertThat(stream.figures().wakeUps()).isEqualTo(1);
        assertThat(peer.figures().doorbells()).isEqualTo(1);
        assertThat(pair.tcp[0].read(ByteBuffer.allocate(10))).isZero();
    }

    @Test
    void sleeperIsWokenByThePeerAndByAChangeOfThisEnd() throws Exception {
        completeHandshake(HandshakeMessage.FEATURES);
        int before = bell().prepare();
        assertThat(stream.armBell(OP_READ)).isZero();
        Thread sleeper = sleep(before);
        peer.write(ByteBuffer.allocate(10));
        assertEnds(sleeper);
        assertThat(stream.read(ByteBuffer.allocate(10))).isEqualTo(10);

        sleeper = sleep(bell().prepare());
        sessions.a.fail();
        assertEnds(sleeper);
        assertThat(stream.figures().wakeUps()).as("the peer's rings").isEqualTo(1);
    }

    private Thread sleep(int before) throws Exception {
        CompletableFuture<Path> self = new CompletableFuture<>();
        Bell bell = bell();
        Thread sleeper = Thread.ofPlatform().start(() -> {
            self.complete(KernelThread.self());
            bell.await(before, 0);
        });
        KernelThread.awaitAsleep(self.get());
        return sleeper;
    }

    private static void assertEnds(Thread sleeper) throws InterruptedException {
        assertThat(sleeper.join(Duration.ofSeconds(60))).as("it was woken").isTrue();
    }

    /** The peer's rings stand in the upper half of the word, and the changes of this end never reach it. */
    @Test
    void noNumberOfChangesLooksLikeARing() throws Exception {
        completeHandshake(HandshakeMessage.FEATURES);
        for (int i = 1; i <= 65_536; i++) {
            bell().prepare();
            stream.changed();
            assertThat(BlockLayout.bell(pair.link.block, BlockLayout.BELL)).isEqualTo(i & 0xffff);
        }
    }

    /** Where nobody sleeps the word stays as it is: the block may be another connection's. */
    @Test
    void changesTouchTheWordOnlyForASleeper() throws Exception {
        completeHandshake(HandshakeMessage.FEATURES);
        stream.changed();
        assertThat(BlockLayout.bell(pair.link.block, BlockLayout.BELL)).isZero();
        bell().prepare();
        stream.changed();
        assertThat(BlockLayout.bell(pair.link.block, BlockLayout.BELL)).isEqualTo(1);
        stream.in().leave();
        stream.changed();
        assertThat(BlockLayout.bell(pair.link.block, BlockLayout.BELL)).isEqualTo(1);
    }

    @Test
    void blockOfAnOfferIsAligned() {
        Offer sane = pair.link.offer();
        assertThat(sane.isSane()).isTrue();
        for (int off : new int[] {1, 2, 4}) {
            assertThat(new Offer(sane.index(), sane.blockKey(), sane.blockAddress() + off, sane.ringKey(), sane
                    .ringAddress(), sane.ringSize(), sane.headerAddress(), sane.headerKey()).isSane()).isFalse();
        }
    }

    @Test
    void sleepEndsInTime() throws Exception {
        completeHandshake(HandshakeMessage.FEATURES);
        long start = System.nanoTime();

        bell().await(bell().prepare(), 10_000_000);

        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(10_000_000);
        assertThat(stream.figures().wakeUps()).isZero();
        assertThat(bell().isBroken()).isFalse();
    }

    /** Its memory goes then, from which nobody could be woken. */
    @Test
    void failureOfASessionWakesTheOwnerOfAQueue() throws Exception {
        completeHandshake(HandshakeMessage.FEATURES);
        try (ReadyQueue queue = new ReadyQueue()) {
            assertThat(stream.arm(OP_READ, queue)).isZero();
            for (boolean byWake : new boolean[] {true, false}) {
                assertThat(queue.sleep(true)).isTrue();
                assertThat(queue.isAtBell()).isTrue();
                CompletableFuture<Path> self = new CompletableFuture<>();
                Thread sleeper = Thread.ofPlatform().start(() -> {
                    self.complete(KernelThread.self());
                    queue.await(-1);
                });
                KernelThread.awaitAsleep(self.get());
                if (byWake) {
                    queue.wake();
                } else {
                    sessions.a.fail();
                }
                assertEnds(sleeper);
                queue.awake();
            }
            assertThat(queue.sleep(true)).isTrue();
            assertThat(queue.isAtBell()).as("without the session").isFalse();
            queue.awake();
        }
    }

    @Test
    void sessionThatFailsBeforeTheOwnerSleepsKeepsItAwake() throws Exception {
        completeHandshake(HandshakeMessage.FEATURES);
        try (ReadyQueue queue = new ReadyQueue()) {
            assertThat(stream.arm(OP_READ, queue)).isZero();
            assertThat(queue.sleep(true)).isTrue();
            sessions.a.fail();
            queue.await(-1);
            queue.awake();
        }
    }

    /** A hostile peer may give its memory such an address. */
    @Test
    void viewOfMisalignedWordsIsRefused() throws Exception {
        completeHandshake(HandshakeMessage.FEATURES);
        assertThat(sessions.a.view(sessions.b.header().rkey(), sessions.b.header().address(), 8)).isNotNull();
        assertThat(sessions.a.view(sessions.b.header().rkey(), sessions.b.header().address() + 4, 8)).isNull();
    }

    /** What a peer writes there wakes at most. */
    @Test
    void anyWordOfThePeerOnlyWakes() throws Exception {
        completeHandshake(HandshakeMessage.FEATURES);
        for (long word : new long[] {-1, 1, 0xffff_0000L, 0x7fff_ffffL}) {
            int before = bell().prepare();
            BlockLayout.putRelease(pair.link.block, BlockLayout.BELL, word);
            bell().await(before, 0); // it is another value
        }
        int before = bell().prepare();
        BlockLayout.putRelease(pair.link.block, BlockLayout.BELL, Long.MIN_VALUE | Integer.toUnsignedLong(before));
        long start = System.nanoTime();
        bell().await(before, 1_000_000); // what is above counts for nothing
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(1_000_000);
        assertThat(sessions.a.isFailed()).isFalse();
        assertThat(bell().isBroken()).isFalse();
    }
}
