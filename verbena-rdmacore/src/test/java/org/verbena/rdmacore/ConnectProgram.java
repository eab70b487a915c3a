// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.FutureTask;

import org.verbena.linux.Errno;
import org.verbena.verbs.*;

/** The connection manager with a complete librdmacm: two queue pairs of one context. */
final class ConnectProgram {
    private static final Duration LONG = Duration.ofSeconds(60);

    private final Context context;
    private final ConnectionManager manager;
    private final ProtectionDomain pd;
    private final CompletionQueue cq;

    private ConnectProgram(Context context) throws VerbsException {
        this.context = context;
        manager = context.connectionManager();
        pd = context.allocateProtectionDomain();
        cq = context.createCompletionQueue(10);
    }

    public static void main(String[] args) throws Exception {
        try (Context c = Verbs.open("mock0")) {
            ConnectProgram p = new ConnectProgram(c);
            p.connects();
            p.isRejected();
            p.rejectsInvalidArguments();
            p.givesUp();
            p.closesOpenObjects();
            assertThat(c.connectionManager()).as("one for a context").isSameAs(p.manager);
        }
        assertThat(Mock.call("mock_cm_alive")).as("identifiers and channels left").isZero();
        assertThat(Mock.alive()).as("native objects left").isZero();
        System.out.println("done");
    }

    private QueuePair queuePair() throws VerbsException {
        return pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).build());
    }

    private ConnectionListener listen() throws VerbsException {
        return manager.listen(new InetSocketAddress(0));
    }

    private FutureTask<Connection> connecting(QueuePair qp, InetSocketAddress to, ConnectionParameters p) {
        FutureTask<Connection> t = new FutureTask<>(() -> manager.connect(qp, to, p));
        Thread.ofPlatform().daemon().start(t);
        return t;
    }

    private static void refused(int errno, String with, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.errno()).as(e
                .getMessage()).isEqualTo(errno)).hasMessageContaining(with);
    }

    private void connects() throws Exception {
        try (ConnectionListener l = listen(); QueuePair near = queuePair(); QueuePair far = queuePair()) {
            assertThat(l.awaitRequest(Duration.ZERO)).isNull();
            FutureTask<Connection> t = connecting(near, l.localAddress(), ConnectionParameters.builder().privateData(
                    (byte) 1, (byte) 2).retryCount(3).rnrRetry(2).responderResources(5).build());
            ConnectionRequest r = l.awaitRequest(LONG);
            assertThat(r.privateData()).containsExactly(1, 2);
            assertThat(r.peer()).contains(Integer.toString(l.localAddress().getPort()));
            Connection there = r.accept(far, ConnectionParameters.builder().privateData((byte) 3).rnrRetry(5)
                    .build());
            Connection here = t.get();
            assertThat(Mock.argument("rdma_connect", 2)).isEqualTo(5);
            assertThat(Mock.argument("rdma_connect", 3)).isEqualTo(3);
            assertThat(Mock.argument("rdma_connect", 4)).isEqualTo(2);
            assertThat(Mock.argument("rdma_connect", 5)).isEqualTo(near.number());
            assertThat(Mock.argument("rdma_accept", 5)).isEqualTo(far.number());
            assertThat(here.privateData()).containsExactly(3);
            for (Connection c : new Connection[] {here, there}) {
                assertThat(c.isConnected()).isTrue();
                assertThat(c.queuePair().state()).isEqualTo(QueuePairState.RTS);
                assertThat(c.awaitEvent(LONG).type()).isEqualTo(ConnectionEvent.ESTABLISHED);
            }
            assertThat(near.query().destinationQueuePair()).isEqualTo(far.number());
            assertThat(far.query().destinationQueuePair()).isEqualTo(near.number());
            assertThat(near.query().retryCount()).isEqualTo(3);
            assertThat(far.query().retryCount()).as("of both").isEqualTo(3);
            assertThat(near.query().rnrRetry()).as("the peer's private data").isEqualTo(5);
            assertThat(far.query().rnrRetry()).as("the peer's private data").isEqualTo(2);
            assertThat(near.query().minRnrTimer()).isEqualTo(12);
            try (QueuePair other = queuePair()) {
                refused(Errno.EINVAL, "answered already", () -> r.accept(other, ConnectionParameters.defaults()));
            }
            refused(Errno.EINVAL, "answered already", r::reject);
            refused(Errno.EBUSY, "still uses", near::close);
            there.disconnect();
            assertThat(here.awaitEvent(LONG).type()).isEqualTo(ConnectionEvent.DISCONNECTED);
            assertThat(here.isConnected() || there.isConnected()).isFalse();
            assertThat(near.state()).isEqualTo(QueuePairState.ERR);
            assertThat(far.state()).isEqualTo(QueuePairState.ERR);
            here.close();
            there.close();
        }
    }

    private void isRejected() throws Exception {
        try (ConnectionListener l = listen(); QueuePair near = queuePair()) {
            FutureTask<Connection> t = connecting(near, l.localAddress(), ConnectionParameters.defaults());
            ConnectionRequest r = l.awaitRequest(LONG);
            refused(Errno.EINVAL, "57", () -> r.reject(new byte[57]));
            r.reject((byte) 9);
            assertThatThrownBy(t::get).hasCauseInstanceOf(ConnectionRejectedException.class).satisfies(e -> {
                ConnectionRejectedException x = (ConnectionRejectedException) e.getCause();
                assertThat(x.privateData()).containsExactly(9);
                assertThat(x.reason()).isEqualTo(ConnectionRejectedException.CONSUMER_DEFINED);
            });
            assertThat(near.state()).isEqualTo(QueuePairState.RESET);
        }
    }

    private void rejectsInvalidArguments() throws Exception {
        InetSocketAddress unassigned = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 4711);
        refused(Errno.EADDRNOTAVAIL, "192.0.2.1", () -> manager.listen(unassigned));
        try (QueuePair qp = queuePair(); ConnectionListener l = listen()) {
            refused(Errno.EADDRINUSE, Integer.toString(l.localAddress().getPort()), () -> manager.listen(l
                    .localAddress()));
            refused(Errno.EADDRINUSE, Integer.toString(l.localAddress().getPort()), () -> manager.listen(
                    new InetSocketAddress(l.localAddress().getPort())));
            refused(Errno.EHOSTUNREACH, "cannot be resolved", () -> manager.connect(qp, unassigned, ConnectionParameters
                    .defaults()));
            refused(Errno.ECONNREFUSED, "there is no listener", () -> manager.connect(qp, new InetSocketAddress(
                    InetAddress
                            .getLoopbackAddress(), 9), ConnectionParameters.defaults()));
            refused(Errno.EINVAL, "responder resources 255", () -> manager.connect(qp, l.localAddress(),
                    ConnectionParameters.builder().responderResources(255).build()));
            refused(Errno.EHOSTUNREACH, "host name", () -> manager.connect(qp, InetSocketAddress.createUnresolved(
                    "nowhere", 1), ConnectionParameters.defaults()));
            QueuePair ready = Ends.ready(pd, cq, QueuePairInitAttributes.builder(cq, cq).build());
            refused(Errno.EINVAL, "in RTS", () -> manager.connect(ready, l.localAddress(), ConnectionParameters
                    .defaults()));
            ready.close();
            QueuePair datagrams = Ends.datagram(pd, cq);
            refused(Errno.EINVAL, "not UD", () -> manager.connect(datagrams, l.localAddress(), ConnectionParameters
                    .defaults()));
            datagrams.close();
            try (Context other = Verbs.open("mock0")) {
                ConnectionManager foreign = other.connectionManager();
                refused(Errno.EINVAL, "another context", () -> foreign.connect(qp, l.localAddress(),
                        ConnectionParameters.defaults()));
            }
        }
    }

    private void givesUp() throws Exception {
        ConnectionListener l = listen();
        try (QueuePair near = queuePair(); QueuePair far = queuePair()) {
            refused(Errno.ETIMEDOUT, "in time", () -> manager.connect(near, l.localAddress(), ConnectionParameters
                    .builder().timeout(Duration.ofMillis(100)).build()));
            assertThat(near.state()).isEqualTo(QueuePairState.RESET);
            ConnectionRequest late = l.awaitRequest(LONG);
            refused(Errno.ECONNRESET, "", () -> late.accept(far, ConnectionParameters.defaults()));
            FutureTask<Connection> t = connecting(near, l.localAddress(), ConnectionParameters.defaults());
            while (Mock.count("rdma_connect") == 0 || l.isClosed()) {
                Thread.onSpinWait();
            }
            Thread.sleep(50); // most likely the request is waiting by now
            l.close();
            assertThatThrownBy(t::get).hasCauseInstanceOf(VerbsException.class);
            refused(Errno.EINVAL, "closed", () -> l.awaitRequest(Duration.ZERO));
        }
    }

    /** Objects that are left open here are closed with the context. */
    private void closesOpenObjects() throws Exception {
        ConnectionListener l = listen();
        FutureTask<Connection> t = connecting(queuePair(), l.localAddress(), ConnectionParameters.defaults());
        l.awaitRequest(LONG).accept(queuePair(), ConnectionParameters.defaults());
        t.get();
        FutureTask<Connection> _ = connecting(queuePair(), l.localAddress(), ConnectionParameters.defaults());
        assertThat(l.awaitRequest(LONG)).isNotNull();
        assertThat(context.isClosed()).isFalse();
    }
}
