// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRejectedException;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** The connection manager. The near end connects, the far end listens. */
abstract class ConnectionManagerConformance extends ConnectionConformance {
    ConnectionManagerConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @Test
    void connectedQueuePairsCarryTraffic() throws Exception {
        Pair p = pair();
        InetSocketAddress to = listen(p.far, Listening::accept);
        Connection c = connect(p.near, to);
        assertThat(c.isConnected()).isTrue();
        assertThat(c.queuePair()).isSameAs(p.near.qp);
        assertThat(c.peer()).isNotBlank();
        p.far.join();
        assertThat(p.near.state()).isEqualTo(QueuePairState.RTS);
        p.far.awaitState(QueuePairState.RTS);
        assertThat(p.near.qp.query().destinationQueuePair()).isEqualTo(p.farAddress.queuePairNumber());
        assertTraffic(p);
    }

    @Test
    void receivesPostedBeforeConnectingAreUsed() throws Exception {
        Pair p = pair();
        p.toInit();
        assertPosted(p.near.postReceives(Op.receive(1).on(0, 8)));
        assertPosted(p.far.postReceives(Op.receive(2).on(0, 8)));
        InetSocketAddress to = listen(p.far, (r, end) -> {
            Listening.accept(r, end);
            return end.post(Op.send(5).on(0, 8)); // at once, as soon as accept returns
        });
        connect(p.near, to);
        assertPosted(p.near.post(Op.send(6).on(0, 8)));
        assertReceived(1, 8, p.near.awaitReceive());
        assertReceived(2, 8, p.far.awaitReceive());
        assertThat(p.far.join()).isEqualTo(0);
    }

    @Test
    void privateDataArriveInBothDirections() throws Exception {
        for (int length : new int[] {0, 1, 55, ConnectionParameters.MAX_PRIVATE_DATA}) {
            byte[] there = Pattern.bytes(length, 1);
            byte[] back = Pattern.bytes(length, 2);
            Pair p = pair();
            InetSocketAddress to = listen(p.far, (r, end) -> Listening.accept(r, end, back));
            Connection c = connect(p.near, to, there);
            assertData(c.privateData(), back);
            assertData((byte[]) p.far.join(), there);
        }
    }

    private void assertData(byte[] arrived, byte... sent) {
        if (fixture.padsPrivateData()) {
            assertThat(arrived).hasSizeGreaterThanOrEqualTo(sent.length).isEqualTo(Arrays.copyOf(sent, arrived.length));
        } else {
            assertThat(arrived).isEqualTo(sent);
        }
    }

    @Test
    void tooLongPrivateDataAreRefused() throws Exception {
        assertThatThrownBy(() -> with(new byte[ConnectionParameters.MAX_PRIVATE_DATA + 1]))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("56");
    }

    @Test
    void parametersOutOfRangeAreRefusedLocally() throws Exception {
        for (int bad : new int[] {-1, 8, Integer.MAX_VALUE}) {
            assertThatThrownBy(() -> ConnectionParameters.builder().retryCount(bad)).isInstanceOf(
                    IllegalArgumentException.class).hasMessageContaining("retry count " + bad);
            assertThatThrownBy(() -> ConnectionParameters.builder().rnrRetry(bad)).isInstanceOf(
                    IllegalArgumentException.class).hasMessageContaining("RNR retry count " + bad);
        }
        assertThatThrownBy(() -> ConnectionParameters.builder().responderResources(256)).isInstanceOf(
                IllegalArgumentException.class).hasMessageContaining("256");
        assertThatThrownBy(() -> ConnectionParameters.builder().timeout(Duration.ofNanos(-1))).isInstanceOf(
                IllegalArgumentException.class);
        Pair p = pair();
        int most = p.near.context.queryDevice().maxQpInitRdAtom();
        if (most < 255) {
            assertErrno(Errno.EINVAL, () -> p.near.context.connectionManager().connect(p.near.qp,
                    new InetSocketAddress("localhost", 1), ConnectionParameters.builder().initiatorDepth(most + 1)
                            .build()),
                    Integer.toString(most));
        }
        assertThat(p.near.state()).isIn(QueuePairState.RESET, QueuePairState.INIT);
    }

    /** More nanoseconds than a long can hold. */
    @Test
    void veryLongTimeoutIsAccepted() throws Exception {
        Pair p = pair();
        InetSocketAddress to = listen(p.far, Listening::accept);
        p.near.keep(p.near.context.connectionManager().connect(p.near.qp, to, ConnectionParameters.builder()
                .timeout(Duration.ofSeconds(Long.MAX_VALUE)).build()));
        p.far.join();
    }

    @Test
    void parametersReachTheQueuePair() throws Exception {
        Pair p = pair();
        InetSocketAddress to = listen(p.far, (r, end) -> {
            end.keep(r.accept(end.qp, ConnectionParameters.builder().rnrRetry(5).retryCount(6).build()));
            return new int[] {end.qp.query().rnrRetry(), end.qp.query().retryCount()};
        });
        p.near.keep(p.near.context.connectionManager().connect(p.near.qp, to, ConnectionParameters.builder()
                .rnrRetry(2).retryCount(3).accessFlags(org.verbena.verbs.AccessFlags.REMOTE_READ).build()));
        assertThat((int[]) p.far.join()).as("what the peer says").containsExactly(2, 3);
        assertThat(p.near.qp.query().rnrRetry()).as("what the peer says").isEqualTo(5);
        assertThat(p.near.qp.query().retryCount()).isEqualTo(3);
        assertThat(p.near.qp.query().accessFlags() & org.verbena.verbs.AccessFlags.ALL)
                .isEqualTo(org.verbena.verbs.AccessFlags.REMOTE_READ);
        EndAddress near = p.nearAddress;
        assertPosted(p.far.post(Op.write(1, near, 0).on(0, 8)));
        assertStatus(WcStatus.REM_INV_REQ_ERR, 1, p.far.awaitSend());
    }

    @Test
    void rejectionCarriesReasonAndData() throws Exception {
        Pair p = pair();
        byte[] why = Pattern.bytes(30, 3);
        InetSocketAddress to = listen(p.far, (r, end) -> {
            r.reject(why);
            return r.privateData();
        });
        ConnectionRejectedException e = catchThrowableOfType(ConnectionRejectedException.class,
                () -> connect(p.near, to, (byte) 7));
        assertThat(e).isNotNull();
        assertThat(e.errno()).isEqualTo(Errno.ECONNREFUSED);
        assertThat(e.reason()).isEqualTo(ConnectionRejectedException.CONSUMER_DEFINED);
        assertData(e.privateData(), why);
        assertData((byte[]) p.far.join(), (byte) 7);
    }

    /** A rejected queue pair can be used for another attempt. */
    @Test
    void rejectedQueuePairConnectsElsewhere() throws Exception {
        Pair p = pair();
        InetSocketAddress no = listen(p.far, (r, end) -> {
            r.reject();
            return true;
        });
        ConnectionRejectedException e = catchThrowableOfType(ConnectionRejectedException.class,
                () -> connect(p.near, no));
        assertThat(e).isNotNull();
        assertData(e.privateData());
        p.far.join();
        assertThat(p.near.state()).isIn(QueuePairState.RESET, QueuePairState.INIT);
        InetSocketAddress yes = listen(p.far, Listening::accept);
        connect(p.near, yes);
        p.far.join();
        assertTraffic(p);
    }

    @Test
    void connectWithoutListenerIsRefused() throws Exception {
        Pair p = pair();
        InetSocketAddress at;
        try (ConnectionListener l = Listening.on(p.near, 0)) {
            at = l.localAddress();
        }
        VerbsException e = assertErrno(Errno.ECONNREFUSED, () -> connect(p.near, fixture.listenerAt(at)),
                Integer.toString(at.getPort()));
        if (e instanceof ConnectionRejectedException rejected) {
            assertThat(rejected.reason()).isEqualTo(ConnectionRejectedException.INVALID_SERVICE_ID);
            assertThat(rejected.privateData()).as("no private data").isEmpty();
        }
        assertThat(p.near.state()).isIn(QueuePairState.RESET, QueuePairState.INIT);
    }

    @Test
    void addressOfAnotherMachineIsUnreachable() throws Exception {
        Pair p = pair();
        InetSocketAddress documentation = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 4711);
        assertErrno(Errno.EADDRNOTAVAIL, () -> p.near.context.connectionManager().listen(documentation), "192.0.2.1");
        VerbsException e = catchThrowableOfType(VerbsException.class, () -> p.near.context.connectionManager()
                .connect(p.near.qp, documentation, ConnectionParameters.builder().timeout(Duration.ofMillis(300))
                        .build()));
        assertThat(e).isNotNull();
        assertThat(e.errno()).isIn(Errno.EHOSTUNREACH, Errno.ETIMEDOUT);
    }

    @Test
    void queuePairInUseNamesItsConnection() throws Exception {
        Pair p = pair();
        Connection c = connect(p.near, listen(p.far, Listening::accept));
        p.far.join();
        assertErrno(Errno.EBUSY, p.near.qp::close, "(" + c.describe() + ")");
        c.close();
        p.near.qp.close();
    }

    @Test
    void listenerChoosesAFreePort() throws Exception {
        Pair p = pair();
        try (ConnectionListener a = Listening.on(p.near, 0); ConnectionListener b = Listening.on(p.near, 0)) {
            assertThat(a.localAddress().getPort()).isBetween(1, 65535).isNotEqualTo(b.localAddress().getPort());
            assertThat(a.describe()).contains(Integer.toString(a.localAddress().getPort()));
        }
    }

    @Test
    void portHasOneListenerOnly() throws Exception {
        Pair p = pair();
        InetSocketAddress at = p.far.run(end -> end.keep(Listening.on(end, 0)).localAddress());
        int port = at.getPort();
        if (fixture.portsAreTheMachines()) {
            assertErrno(Errno.EADDRINUSE, () -> Listening.on(p.near, port), Integer.toString(port));
        }
        assertErrno(Errno.EADDRINUSE, () -> p.far.act(end -> Listening.on(end, port).close()));
    }

    @Test
    void closingAListenerFreesItsPort() throws Exception {
        Pair p = pair();
        int port = 0;
        for (int i = 0; i < 20; i++) {
            try (ConnectionListener l = Listening.on(p.near, port)) {
                port = l.localAddress().getPort();
            }
        }
    }

    @Test
    void connectionRequestIsAnsweredOnce() throws Exception {
        Pair p = pair();
        InetSocketAddress to = listen(p.far, (r, end) -> {
            Listening.accept(r, end);
            QueuePair other = end.queuePair();
            assertErrno(Errno.EINVAL, () -> r.accept(other, DEFAULTS));
            assertErrno(Errno.EINVAL, () -> r.reject());
            return true;
        });
        connect(p.near, to);
        p.far.join();
        assertTraffic(p);
    }

    @Test
    void rejectedRequestCannotBeAccepted() throws Exception {
        Pair p = pair();
        InetSocketAddress to = listen(p.far, (r, end) -> {
            r.reject();
            assertErrno(Errno.EINVAL, () -> r.accept(end.qp, DEFAULTS));
            assertErrno(Errno.EINVAL, () -> r.reject());
            return true;
        });
        assertErrno(Errno.ECONNREFUSED, () -> connect(p.near, to));
        p.far.join();
    }

    @Test
    void unansweredRequestTimesOut() throws Exception {
        Pair p = pair();
        InetSocketAddress to = listen(p.far, (r, end) -> {
            end.later = r;
            return true;
        });
        long start = System.nanoTime();
        assertErrno(Errno.ETIMEDOUT, () -> p.near.context.connectionManager().connect(p.near.qp, to,
                // the request has arrived by then
                ConnectionParameters.builder().timeout(Duration.ofSeconds(2)).build()));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(1990),
                Await.LIMIT);
        p.far.join();
        assertThat(p.near.state()).isIn(QueuePairState.RESET, QueuePairState.INIT);
        // the requester is gone: accepting now must fail, and leaves a usable queue pair
        p.far.act(end -> {
            ConnectionRequest r = (ConnectionRequest) Objects.requireNonNull(end.later);
            VerbsException e = catchThrowableOfType(VerbsException.class, () -> r.accept(end.qp,
                    ConnectionParameters.builder().timeout(Duration.ofMillis(500)).build()));
            assertThat(e).isNotNull();
            assertThat(e.errno()).isIn(Errno.ETIMEDOUT, Errno.ECONNRESET);
        });
    }

    @Test
    void awaitingARequestTimesOut() throws Exception {
        Pair p = pair();
        try (ConnectionListener l = Listening.on(p.near, 0)) {
            assertThat(l.awaitRequest(Duration.ZERO)).isNull();
            long start = System.nanoTime();
            assertThat(l.awaitRequest(Duration.ofMillis(100))).isNull();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(99),
                    Await.LIMIT);
        }
    }

    @Test
    void closingAListenerEndsItsWait() throws Exception {
        Pair p = pair();
        ConnectionListener l = Listening.on(p.near, 0);
        FutureTask<Object> waiter = new FutureTask<>(() -> {
            l.awaitRequest(Duration.ofSeconds(60));
            return true;
        });
        Thread.ofPlatform().daemon().start(waiter);
        Await.during(Await.WHILE); // most likely it waits by now
        l.close();
        assertThatThrownBy(() -> waiter.get(50, TimeUnit.SECONDS)).hasCauseInstanceOf(VerbsException.class)
                .hasMessageContaining("closed");
        assertErrno(Errno.EINVAL, () -> l.awaitRequest(Duration.ZERO), "closed");
    }

    @Test
    void closedListenerRefusesConnections() throws Exception {
        Pair p = pair();
        InetSocketAddress at = p.far.run(end -> {
            ConnectionListener l = Listening.on(end, 0);
            end.later = l;
            return l.localAddress();
        });
        FutureTask<Connection> task = new FutureTask<>(() -> p.near.context.connectionManager().connect(p.near.qp,
                fixture.listenerAt(at), ConnectionParameters.builder().timeout(Duration.ofSeconds(1)).build()));
        Thread.ofPlatform().daemon().start(task);
        p.far.act(end -> {
            ConnectionListener l = (ConnectionListener) Objects.requireNonNull(end.later);
            assertThat(l.awaitRequest(Await.LIMIT)).isNotNull(); // the request is there, but stays unanswered
            l.close();
        });
        VerbsException e = (VerbsException) org.assertj.core.api.Assertions
                .catchThrowable(() -> task.get(50, TimeUnit.SECONDS)).getCause();
        assertThat(e.errno()).isIn(Errno.ECONNREFUSED, Errno.ECONNRESET, Errno.ETIMEDOUT);
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairState.class, names = {"RTR", "RTS", "ERR"})
    void queuePairInAWrongStateIsRefused(QueuePairState state) throws Exception {
        Pair p = pair();
        p.near.toInit();
        if (state == QueuePairState.ERR) {
            p.near.to(QueuePairState.ERR);
        } else {
            p.near.toRtr(p.farAddress);
            if (state == QueuePairState.RTS) {
                p.near.toRts();
            }
        }
        InetSocketAddress to = fixture.listenerAt(
                p.far.run(end -> end.keep(Listening.on(end, 0)).localAddress()));
        assertErrno(Errno.EINVAL, () -> connect(p.near, to), state.name());
        assertThat(p.near.state()).isEqualTo(state);
    }

    @Test
    void acceptWithAQueuePairInAWrongStateKeepsTheRequest() throws Exception {
        Pair p = pair();
        InetSocketAddress to = listen(p.far, (r, end) -> {
            QueuePair wrong = end.queuePair();
            end.toInit(wrong);
            wrong.modify(org.verbena.verbs.QueuePairAttributes.to(QueuePairState.ERR).build());
            assertErrno(Errno.EINVAL, () -> r.accept(wrong, DEFAULTS), "ERR");
            return Listening.accept(r, end);
        });
        connect(p.near, to);
        p.far.join();
        assertTraffic(p);
    }

    @Test
    void queuePairOfAnotherContextIsRefused() throws Exception {
        Pair p = pair();
        End other = end(EndOptions.defaults());
        InetSocketAddress to = fixture.listenerAt(
                p.far.run(end -> end.keep(Listening.on(end, 0)).localAddress()));
        assertErrno(Errno.EINVAL,
                () -> p.near.context.connectionManager().connect(other.qp, to, DEFAULTS));
        assertThat(other.state()).isEqualTo(QueuePairState.RESET);
    }

    @Test
    void oneListenerAcceptsManyConnections() throws Exception {
        int n = Thorough.ON ? 200 : 60;
        Pair p = pair();
        InetSocketAddress at = p.far.run(end -> {
            ConnectionListener l = end.keep(Listening.on(end, 0));
            end.start(e -> {
                for (int i = 0; i < n; i++) {
                    ConnectionRequest r = Objects.requireNonNull(l.awaitRequest(Await.LIMIT), "no request " + i);
                    QueuePair q = e.queuePair();
                    e.toInit(q);
                    assertPosted(e.postReceives(q, Op.receive(i).on(0, 8)));
                    e.keep(r.accept(q, with((byte) i)));
                }
                return true;
            });
            return l.localAddress();
        });
        List<QueuePair> mine = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            QueuePair q = p.near.queuePair();
            Connection c = p.near.keep(p.near.context.connectionManager().connect(q, fixture.listenerAt(at),
                    DEFAULTS));
            assertData(c.privateData(), (byte) i);
            mine.add(q);
        }
        p.far.join();
        for (int i = n - 1; i >= 0; i--) {
            assertPosted(p.near.post(mine.get(i), Op.send(i).on(0, 8)));
            assertDone(WcOpcode.SEND, i, p.near.awaitSend());
            assertReceived(i, 8, p.far.awaitReceive());
        }
    }

    @Test
    void requestsAreQueuedUntilAccepted() throws Exception {
        Pair p = pair();
        int n = 10;
        InetSocketAddress at = p.far.run(end -> {
            ConnectionListener l = end.keep(Listening.on(end, 0));
            end.later = l;
            return l.localAddress();
        });
        List<FutureTask<Connection>> tasks = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            QueuePair q = p.near.queuePair();
            FutureTask<Connection> t = new FutureTask<>(
                    () -> p.near.context.connectionManager().connect(q, fixture.listenerAt(at), DEFAULTS));
            tasks.add(t);
            Thread.ofPlatform().daemon().start(t);
        }
        p.far.act(end -> {
            ConnectionListener l = (ConnectionListener) Objects.requireNonNull(end.later);
            List<ConnectionRequest> all = new ArrayList<>();
            for (int i = 0; i < n; i++) {
                all.add(Objects.requireNonNull(l.awaitRequest(Await.LIMIT)));
            }
            for (ConnectionRequest r : all.reversed()) {
                end.keep(r.accept(end.queuePair(), DEFAULTS));
            }
        });
        for (FutureTask<Connection> t : tasks) {
            assertThat(p.near.keep(t.get(50, TimeUnit.SECONDS)).isConnected()).isTrue();
        }
    }

    @Test
    void simultaneousConnectsInBothDirectionsSucceed() throws Exception {
        Pair p = pair();
        ConnectionListener mine = p.near.keep(Listening.on(p.near, 0));
        InetSocketAddress me = fixture.listenerAt(mine.localAddress());
        InetSocketAddress at = p.far.run(end -> {
            ConnectionListener l = end.keep(Listening.on(end, 0));
            end.later = l;
            end.start(e -> {
                e.keep(e.context.connectionManager().connect(e.qp, me, DEFAULTS));
                return true;
            });
            return l.localAddress();
        });
        QueuePair out = p.near.queuePair();
        FutureTask<Connection> connecting = new FutureTask<>(
                () -> p.near.context.connectionManager().connect(out, fixture.listenerAt(at), DEFAULTS));
        Thread.ofPlatform().daemon().start(connecting);
        ConnectionRequest r = Objects.requireNonNull(mine.awaitRequest(Await.LIMIT));
        p.near.keep(r.accept(p.near.qp, DEFAULTS));
        p.far.act(end -> {
            ConnectionListener l = (ConnectionListener) Objects.requireNonNull(end.later);
            ConnectionRequest q = Objects.requireNonNull(l.awaitRequest(Await.LIMIT));
            end.keep(q.accept(end.queuePair(), DEFAULTS));
        });
        p.near.keep(connecting.get(50, TimeUnit.SECONDS));
        p.far.join();
        assertTraffic(p);
    }
}
