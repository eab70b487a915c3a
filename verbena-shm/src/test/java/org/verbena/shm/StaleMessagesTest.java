// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.verbena.linux.LinuxException;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.control.Outbox;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.DatagramLayout;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.Link;
import org.verbena.shm.layout.ProtocolException;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** A stale message of an earlier connection affects no later one. */
class StaleMessagesTest {
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** More than small counters can hold. */
    private static final int MANY = 300;

    /** A context with a queue pair. */
    private static final class Side {
        final ShmContext context = open();
        final ProtectionDomain pd = context.allocateProtectionDomain();
        final MemoryRegion memory = pd.allocate(4096, AccessFlags.ALL);
        final CompletionQueue sent = context.createCompletionQueue(64);
        final CompletionQueue received = context.createCompletionQueue(64);
        final ShmQueuePair qp;

        Side(int type) throws VerbsException {
            qp = (ShmQueuePair) pd.createQueuePair(QueuePairInitAttributes.builder(sent, received).type(type)
                    .maxReceiveWr(4).build());
        }

        private static ShmContext open() throws VerbsException {
            return (ShmContext) ShmDevice.INSTANCE.open();
        }

        void to(QueuePairState state) throws VerbsException {
            qp.modify(QueuePairAttributes.to(state).build());
        }

        void init() throws VerbsException {
            qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(AccessFlags.ALL)
                    .build());
        }

        void connect(Side peer) throws VerbsException {
            qp.modify(QueuePairAttributes.to(QueuePairState.RTR).addressVector(AddressVector.to(peer.context.queryGid(1,
                    0))).destinationQueuePair(peer.qp.number()).pathMtu(4096).rqPsn(0).maxDestReadAtomic(1)
                    .minRnrTimer(1).build());
            qp.modify(QueuePairAttributes.to(QueuePairState.RTS).timeout(17).retryCount(7).rnrRetry(7).sqPsn(0)
                    .maxReadAtomic(1).build());
        }

        Session session(Side peer) throws VerbsException {
            return context.control().session("test", peer.context.instance());
        }
    }

    private Side a;
    private Side b;

    @BeforeEach
    void make() throws Exception {
        a = new Side(QueuePairType.RC);
        b = new Side(QueuePairType.RC);
    }

    @AfterEach
    void close() throws Exception {
        a.context.close();
        b.context.close();
    }

    private static void connect(Side a, Side b) throws VerbsException {
        a.to(QueuePairState.RESET);
        b.to(QueuePairState.RESET);
        a.init();
        b.init();
        a.connect(b);
        b.connect(a);
    }

    /** A message from {@code a} to {@code b}; both still work afterwards. */
    private static void assertTraffic(Side a, Side b) {
        assertThat(b.qp.receiveQueue().post(1, b.memory, 0, 64)).isZero();
        assertThat(a.qp.sendQueue().postSend(1, SendFlags.SIGNALED, a.memory, 0, 16)).isZero();
        assertThat(status(a.sent)).isEqualTo("SUCCESS");
        assertThat(status(b.received)).isEqualTo("SUCCESS");
        assertThat(a.qp.state()).as(a.qp.errorReason()).isEqualTo(QueuePairState.RTS);
        assertThat(b.qp.state()).as(b.qp.errorReason()).isEqualTo(QueuePairState.RTS);
    }

    private static String status(CompletionQueue cq) {
        long end = System.nanoTime() + LIMIT_NANOS;
        while (cq.startPoll() != 0) {
            assertThat(System.nanoTime() - end).as("no completion").isNegative();
            Thread.onSpinWait();
        }
        String s = WcStatus.toString(cq.status());
        cq.endPoll();
        return s;
    }

    private static void hear(Session s, ControlMessage.Writer message) throws ProtocolException, LinuxException {
        assertThat(s.receive(new ControlMessage.Reader(message.segment()), new int[0], 0)).isTrue();
    }

    @Test
    void staleErrorAndLaneDoneAreIgnored() throws Exception {
        connect(a, b);
        long old = b.qp.linkIdentity();
        for (int i = 0; i < MANY; i++) {
            connect(a, b);
            hear(b.session(a), new ControlMessage.Writer(ControlMessage.QP_ERROR).putLong(old).putInt(
                    AsyncEventType.QP_ACCESS_ERR).putText("of an earlier connection"));
            assertTraffic(a, b);
            hear(a.session(b), new ControlMessage.Writer(ControlMessage.LANE_DONE).putLong(old));
            assertTraffic(a, b);
        }
        hear(b.session(a), new ControlMessage.Writer(ControlMessage.QP_ERROR).putLong(b.qp.linkIdentity()).putInt(
                AsyncEventType.QP_ACCESS_ERR).putText("of this one"));
        assertThat(b.qp.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void staleDatagramRingIsIgnored() throws Exception {
        Side u = new Side(QueuePairType.UD);
        try (ShmContext closing = u.context) {
            long old = 0;
            for (int i = 0; i < MANY; i++) {
                u.to(QueuePairState.RESET);
                u.qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(1).build());
                u.to(QueuePairState.RTR);
                u.qp.modify(QueuePairAttributes.to(QueuePairState.RTS).sqPsn(0).build());
                long now = u.qp.linkIdentity();
                if (i == 0) {
                    old = now;
                    continue;
                }
                assertThat(now).isNotEqualTo(old);
                hear(u.session(a), new ControlMessage.Writer(ControlMessage.DATAGRAM_RING).putLong(1000 + i).putInt(
                        u.qp.number()).putLong(old).putLong(LaneLayout.HEAP).putLong(DatagramLayout.RECORDS
                                + DatagramLayout.MIN_BYTES));
                assertThat(u.qp.source().sessions()).as("rings of the connection").isEmpty();
            }
        }
    }

    @Test
    void staleDeathOfAPeerIsIgnored() throws Exception {
        connect(a, b);
        Session old = a.session(b);
        Side c = new Side(QueuePairType.RC);
        try (ShmContext closing = c.context) {
            connect(a, c);
            a.qp.peerDied(old, "it had died");
            assertTraffic(a, c);
            assertTraffic(c, a);
        }
    }

    @Test
    void staleMessageOfTheConnectionManagerIsIgnored() throws Exception {
        try (ConnectionListener l = b.context.connectionManager().listen(new InetSocketAddress(0))) {
            CompletableFuture<Connection> accepted = CompletableFuture.supplyAsync(() -> {
                try {
                    return Objects.requireNonNull(l.awaitRequest(LIMIT)).accept(b.qp, ConnectionParameters.defaults());
                } catch (VerbsException e) {
                    throw new IllegalStateException(e);
                }
            });
            Connection first = a.context.connectionManager().connect(a.qp, new InetSocketAddress("localhost", l
                    .localAddress().getPort()), ConnectionParameters.defaults());
            Connection second = accepted.get(60, TimeUnit.SECONDS);
            assertTraffic(a, b);
            connect(a, b); // by hand, though the manager's is not ended
            first.disconnect();
            while (second.isConnected()) {
                Thread.onSpinWait();
            }
            assertTraffic(a, b);
            first.close();
            second.close();
            assertTraffic(b, a);
        }
    }

    /** Another thread polls all the time, also while the queue pair leaves a connection and enters the next. */
    @Test
    @Timeout(3600)
    void successiveConnectionsStayApartWhileAThreadPolls() throws Exception {
        int cycles = Thorough.ON ? 1_000_000 : 2000;
        AtomicInteger received = new AtomicInteger();
        AtomicBoolean over = new AtomicBoolean();
        Thread poller = Thread.ofPlatform().start(() -> {
            while (!over.get()) {
                if (b.received.startPoll() == 0) {
                    if (b.received.status() == WcStatus.SUCCESS) {
                        received.incrementAndGet();
                    }
                    b.received.endPoll();
                }
            }
        });
        try {
            for (int i = 1; i <= cycles; i++) {
                connect(a, b);
                assertThat(b.qp.receiveQueue().post(1, b.memory, 0, 64)).isZero();
                assertThat(b.qp.receiveQueue().post(2, b.memory, 0, 64)).isZero();
                assertThat(a.qp.sendQueue().postSend(1, SendFlags.SIGNALED, a.memory, 0, 16)).isZero();
                assertThat(status(a.sent)).isEqualTo("SUCCESS");
                long end = System.nanoTime() + LIMIT_NANOS;
                while (received.get() < i) {
                    assertThat(System.nanoTime() - end).as("message %s is lost", i).isNegative();
                    Thread.onSpinWait();
                }
                if (i % 2 == 0) {
                    b.to(QueuePairState.ERR);
                }
            }
            assertThat(received.get()).isEqualTo(cycles);
        } finally {
            over.set(true);
            poller.join();
        }
    }

    /** However many messages it has not taken. */
    @Test
    @Timeout(60)
    void peerWithoutProcessorTimeLosesNoConnection() throws Exception {
        connect(a, b);
        assertTraffic(a, b);
        PausedEngine held = new PausedEngine(b.context.engine());
        Thread program = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < 2 * Outbox.HIGH_WATERMARK; i++) {
                try {
                    a.pd.allocate(4096, AccessFlags.LOCAL_WRITE).close(); // both are announced to the peer
                } catch (VerbsException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        while (program.getState() != Thread.State.TIMED_WAITING) {
            assertThat(program.isAlive()).isTrue();
            Thread.onSpinWait();
        }
        held.close();
        program.join();
        assertTraffic(a, b);
        assertTraffic(b, a);
    }

    /** A session may end while the peer's process lives, and is inside: an entry that it commits when it resumes is no success there. */
    @Test
    void senderInsideWhenItsSessionEndsIsGivenUp() throws Exception {
        connect(a, b);
        assertThat(b.qp.receiveQueue().post(1, b.memory, 0, 64)).isZero();
        Hazard.enter(a.qp.own().address + AdapterLayout.QP_HAZARD, 1, Hazard.RECEIVES);
        b.session(a).end("it does not take its messages");
        assertThat(status(b.received)).isEqualTo("WR_FLUSH_ERR");
        assertThat(RawMemory.getLong(b.qp.own().address + AdapterLayout.QP_LINK)).isEqualTo(Link.GIVEN_UP);
        b.to(QueuePairState.RESET);
        b.to(QueuePairState.RESET);
        assertThat(RawMemory.getLong(b.qp.own().address + AdapterLayout.QP_LINK)).isEqualTo(Link.GIVEN_UP);
        Hazard.leave(a.qp.own().address + AdapterLayout.QP_HAZARD);
    }

    /** A peer that is stopped inside is given up after the timeout, and can see that. */
    @Test
    void senderStoppedInsideIsGivenUp() throws Exception {
        connect(a, b);
        assertThat(b.qp.receiveQueue().post(1, b.memory, 0, 64)).isZero();
        Hazard.enter(a.qp.own().address + AdapterLayout.QP_HAZARD, 1, Hazard.RECEIVES);
        b.to(QueuePairState.ERR);
        assertThat(RawMemory.getLong(b.qp.own().address + AdapterLayout.QP_LINK)).isZero();
        assertThat(status(b.received)).isEqualTo("WR_FLUSH_ERR");
        assertThat(RawMemory.getLong(b.qp.own().address + AdapterLayout.QP_LINK)).isEqualTo(Link.GIVEN_UP);
        Hazard.leave(a.qp.own().address + AdapterLayout.QP_HAZARD);
        connect(a, b);
        assertTraffic(a, b);
    }

    /** A hazard of a peer read after the queue pair has left it is not taken for the next peer's. */
    @Test
    void staleHazardOfThePeerIsIgnored() {
        PeerDeparture departure = new PeerDeparture(b.qp);
        PeerDeparture.Withdrawal old = departure.begin();
        departure.connected();
        departure.begin();
        old.capture();
        assertThat(departure.isOver()).isFalse();
    }

    /**
     * An error, which reaches the other end late, a reset and a new connection, as fast as that goes; 1,000,000 times with
     * {@code -Dthorough}.
     */
    @Test
    @Timeout(3600)
    void successiveErrorsResetsAndConnectionsStayApart() throws Exception {
        int cycles = Thorough.ON ? 1_000_000 : 2000;
        for (int i = 0; i < cycles; i++) {
            connect(a, b);
            assertTraffic(a, b);
            // of no region: this end fails, and reports it to the other
            assertThat(a.qp.sendQueue().postWrite(1, SendFlags.SIGNALED, a.memory, 0, 8, 0xfffff00, 0)).isZero();
            assertThat(status(a.sent)).isEqualTo("REM_ACCESS_ERR");
        }
        connect(a, b);
        EngineRounds.await(b.context);
        assertTraffic(a, b);
    }
}
