// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.testkit.Seeds;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** Peers are stopped, often in the middle of a copy of a mebibyte, and continued when their memory rights are gone. */
class StoppedPeerTest {
    private static final int ROUNDS = Integer.getInteger("verbena.faults.stops", 8);
    /** A stop should hit the peer inside a copy, which it usually does. */
    private static final int MOST_ROUNDS = 50;
    /** A second is promised; a machine that runs other tests as well may take longer. A stopped peer takes forever. */
    private static final Duration REVOKED = Duration.ofSeconds(30);
    private static final int MEMORY = 1 << 20;
    private static final long CANARY = 4711;

    private final Random random = new Random(Seeds.FIRST);
    private final Arena arena = Arena.ofShared();
    private Node node;
    private Child peer;
    private ConnectionListener listener;
    private QueuePair qp;
    private Connection connection;

    @BeforeEach
    void open() throws Exception {
        node = Node.open();
        listener = node.listen();
        peer = Child.start(ToolPeer.class);
    }

    @AfterEach
    void close() throws Exception {
        peer.close();
        node.close();
        arena.close();
    }

    /** @param rnrRetry the retry count that the peer requests */
    private void connect(MemoryRegion memory, int rnrRetry) throws Exception {
        peer.tell("connect " + listener.localAddress().getPort() + " 10000 " + rnrRetry);
        ConnectionRequest r = await();
        qp = node.queuePair();
        byte[] data = ByteBuffer.allocate(12).putLong(memory.address()).putInt(memory.rkey()).array();
        connection = r.accept(qp, ConnectionParameters.builder().privateData(data).build());
        peer.await("CONNECTED");
    }

    private ConnectionRequest await() throws Exception {
        try {
            return Node.await(listener);
        } catch (AssertionError e) {
            throw new AssertionError(peer + " says " + peer.lines(), e);
        }
    }

    /** Lets the peer write a region continuously, and stops it at some point. */
    private void stopWhileWriting() throws Exception {
        peer.tell("writes").await("WRITING");
        LockSupport.parkNanos(random.nextInt(5_000_000)); // any moment is as good as another
        peer.stop();
    }

    private static Duration time(ThrowingAction action) throws Exception {
        long start = System.nanoTime();
        action.run();
        return Duration.ofNanos(System.nanoTime() - start);
    }

    @FunctionalInterface
    private interface ThrowingAction {
        void run() throws Exception;
    }

    private static void assertUntouched(String what, MemorySegment s) {
        assertThat(Traffic.mismatch(s, CANARY, 0)).as("the byte of %s that a revoked peer changed", what).isEqualTo(-1);
    }

    /**
     * Allocated memory can be revoked from any process; bytes of the peer go to pages that are not mapped elsewhere.
     */
    @Test
    void allocatedMemoryIsRevokedInASecondAndNeverChangesAgain() throws Exception {
        int inside = 0;
        for (int round = 0; round < ROUNDS; round++) {
            MemoryRegion before = node.allocate(MEMORY);
            MemoryRegion target = node.allocate(MEMORY);
            MemoryRegion after = node.allocate(MEMORY);
            MemorySegment segment = target.segment();
            connect(target, 7);
            stopWhileWriting();
            Duration took = time(target::close);
            assertThat(took).as("round %d", round).isLessThan(REVOKED);
            inside += took.toMillis() > 400 ? 1 : 0;
            Traffic.fill(segment, CANARY, 0);
            Traffic.fill(before.segment(), CANARY, 0);
            Traffic.fill(after.segment(), CANARY, 0);
            MemoryRegion reused = node.allocate(MEMORY);
            Traffic.fill(reused.segment(), CANARY, 0);
            peer.proceed();
            String written = peer.await("WRITTEN");
            assertThat(written).doesNotContain("SUCCESS");
            assertUntouched("the revoked memory", segment);
            assertUntouched("an adjacent region", before.segment());
            assertUntouched("an adjacent region", after.segment());
            assertUntouched("memory allocated later", reused.segment());
            peer.tell("disconnect").await("DISCONNECTED");
            connection.close();
            qp.close();
            before.close();
            after.close();
            reused.close();
        }
        System.out.println("StoppedPeerTest: " + inside + " of " + ROUNDS + " stops were inside a copy");
    }

    /**
     * Registered memory belongs to the application: either no access is in progress, or the close names the process.
     */
    @Test
    void registeredMemoryIsRevokedOrCloseNamesTheProcess() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            MemorySegment whole = arena.allocate(3L * MEMORY, 4096);
            MemorySegment own = whole.asSlice(MEMORY, MEMORY);
            MemoryRegion target = node.pd.register(own, AccessFlags.ALL);
            connect(target, 7);
            stopWhileWriting();
            if (round % 2 == 1) { // closing the queue pair first must not hide the process with an access in progress
                connection.close();
                qp.close();
            }
            VerbsException busy = catchThrowableOfType(VerbsException.class, target::close);
            if (busy == null) {
                Traffic.fill(whole, CANARY, 0);
                peer.proceed();
                peer.await("WRITTEN");
                assertUntouched("the revoked memory and its neighbours", whole);
            } else {
                assertThat(busy.errno()).isEqualTo(Errno.EBUSY);
                assertThat(busy).hasMessageContaining("process " + peer.pid());
                peer.proceed();
                peer.await("WRITTEN");
                Await.until(Child.LIMIT, () -> catchThrowableOfType(VerbsException.class, target::close) == null,
                        () -> "the region stays busy");
            }
            peer.tell("disconnect").await("DISCONNECTED");
            connection.close();
            qp.close();
        }
    }

    @Test
    void sendsContinueWhileCreditsLastAndThenFailAsConfigured() throws Exception {
        MemoryRegion m = node.allocate(MEMORY);
        connect(m, 2);
        peer.tell("receives 5").await("POSTED");
        peer.stop();
        for (int i = 0; i < 5; i++) {
            assertThat(send(m, 100_000 * i)).as("send %d", i).isEqualTo(WcStatus.SUCCESS);
        }
        assertThat(send(m, 8)).isEqualTo(WcStatus.RNR_RETRY_EXC_ERR);
        assertThat(qp.state()).isEqualTo(QueuePairState.ERR);
        assertThat(qp.errorReason()).contains("posted no receive");
    }

    private int send(MemoryRegion m, int length) {
        assertThat(qp.sendQueue().start().send(1, SendFlags.SIGNALED).sge(m, 0, length).complete()).isZero();
        Await.until(Child.LIMIT, () -> node.cq.startPoll() == 0, () -> Node.describe(qp));
        int status = node.cq.status();
        node.cq.endPoll();
        return status;
    }

    @Test
    void moveToErrorFlushesEverythingAndAllCanBeClosed() throws Exception {
        for (int round = 0; round < ROUNDS / 2; round++) {
            MemoryRegion m = node.allocate(MEMORY);
            connect(m, 7);
            for (int i = 0; i < 10; i++) {
                assertThat(qp.receiveQueue().post(i, m, 0, 4096)).isZero();
                assertThat(qp.sendQueue().start().send(100 + i, SendFlags.SIGNALED).sge(m, 0, 8).complete()).isZero();
            }
            stopWhileWriting();
            qp.modify(QueuePairAttributes.to(QueuePairState.ERR).build());
            int[] flushed = new int[1];
            Await.until(Child.LIMIT, () -> {
                while (node.cq.startPoll() == 0) {
                    assertThat(node.cq.status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
                    node.cq.endPoll();
                    flushed[0]++;
                }
                return flushed[0] == 20;
            }, () -> flushed[0] + " flushed; " + Node.describe(qp));
            assertThat(time(connection::close)).isLessThan(REVOKED);
            assertThat(time(qp::close)).isLessThan(REVOKED);
            assertThat(time(m::close)).isLessThan(REVOKED);
            peer.proceed();
            peer.await("WRITTEN");
            peer.tell("disconnect").await("DISCONNECTED");
        }
    }

    @Test
    void contextClosesWhileItsPeerIsStopped() throws Exception {
        MemoryRegion m = node.allocate(MEMORY);
        MemorySegment segment = m.segment();
        connect(m, 7);
        assertClosesWhileStopped(segment);
    }

    /**
     * Registered memory cannot be revoked while an access is in progress. Then the context stays complete, and can be
     * closed once the peer has continued; no close leaves half of it behind.
     */
    @Test
    void contextWithRegisteredMemoryClosesEntirelyOrNotAtAll() throws Exception {
        boolean busy = false;
        for (int round = 0; round < MOST_ROUNDS && !(busy && round >= ROUNDS); round++) {
            MemorySegment whole = arena.allocate(3L * MEMORY, 4096);
            MemoryRegion target = node.pd.register(whole.asSlice(MEMORY, MEMORY), AccessFlags.ALL);
            connect(target, 7);
            stopWhileWriting();
            VerbsException[] refused = new VerbsException[1];
            assertThat(time(() -> refused[0] = catchThrowableOfType(VerbsException.class, node::close)))
                    .isLessThan(REVOKED);
            if (refused[0] == null) {
                Traffic.fill(whole, CANARY, 0);
                peer.proceed();
                peer.await("WRITTEN");
                assertUntouched("a closed context's memory", whole);
            } else {
                busy = true;
                assertThat(refused[0].errno()).isEqualTo(Errno.EBUSY);
                assertThat(refused[0]).hasMessageContaining("process " + peer.pid()).hasMessageContaining(
                        "nothing was closed");
                assertWhole(target);
                peer.proceed();
                peer.await("WRITTEN");
                node.close();
                assertThat(target.isClosed() && qp.isClosed() && node.pd.isClosed()).isTrue();
            }
            peer.tell("disconnect").await("DISCONNECTED");
            node = Node.open();
            listener = node.listen();
        }
        assertThat(busy).as("one of %s stops was inside a copy", MOST_ROUNDS).isTrue();
    }

    /** The context works as before the close; only the queue pair of the stopped peer has failed. */
    private void assertWhole(MemoryRegion target) throws Exception {
        assertThat(node.context.isClosed() || node.pd.isClosed() || node.cq.isClosed()).isFalse();
        assertThat(target.isClosed() || qp.isClosed() || listener.isClosed()).isFalse();
        assertThat(qp.state()).isEqualTo(QueuePairState.ERR);
        try (Node other = Node.open(); MemoryRegion own = other.allocate(64)) {
            QueuePair here = node.queuePair();
            QueuePair there = other.queuePair();
            Node.toRtr(here, other.gid(), there.number());
            Node.toRtr(there, node.gid(), here.number());
            Node.toRts(there);
            own.segment().fill((byte) 9);
            assertThat(there.sendQueue().start().write(1, SendFlags.SIGNALED, target.rkey(), target.address())
                    .sge(own, 0, 8).complete()).isZero();
            Await.until(Child.LIMIT, () -> other.cq.startPoll() == 0, () -> Node.describe(there));
            assertThat(other.cq.status()).as(there.errorReason()).isEqualTo(WcStatus.SUCCESS);
            other.cq.endPoll();
            there.close();
            here.close();
        }
    }

    /** Several regions of one allocation: only closing all of them releases the pages. */
    @Test
    void contextWithTwoRegionsOfOneAllocationCloses() throws Exception {
        MemoryRegion m = node.allocate(MEMORY);
        MemorySegment segment = m.segment();
        node.pd.register(segment.asSlice(0, MEMORY / 2), AccessFlags.ALL);
        node.pd.register(segment.asSlice(MEMORY / 2), AccessFlags.ALL);
        connect(m, 7);
        System.gc(); // the two are dropped, not closed
        assertClosesWhileStopped(segment);
    }

    /** The context closes while the peer is stopped, which does not access this memory any more when it continues. */
    private void assertClosesWhileStopped(MemorySegment segment) throws Exception {
        stopWhileWriting();
        assertThat(time(node::close)).isLessThan(REVOKED);
        Traffic.fill(segment, CANARY, 0);
        peer.proceed();
        peer.await("WRITTEN");
        assertUntouched("the memory of a closed context", segment);
    }
}
