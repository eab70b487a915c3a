// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.BeforeEach;

import org.verbena.testkit.Await;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionEvent;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.Feature;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcOpcode;

/** The base of tests of the connection manager. The near end connects, the far end listens. */
abstract class ConnectionConformance extends Conformance {
    static final ConnectionParameters DEFAULTS = ConnectionParameters.defaults();

    ConnectionConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    @BeforeEach
    void needsManager() throws Exception {
        try (var c = fixture.open()) {
            needs(c, Feature.CONNECTION_MANAGER);
        }
    }

    Pair pair() throws Exception {
        return pair(EndOptions.defaults(), EndOptions.defaults());
    }

    static ConnectionParameters with(byte... data) {
        return ConnectionParameters.builder().privateData(data).build();
    }

    /** Lets the far end listen and handle the first request; returns the address. */
    InetSocketAddress listen(Far far, Listening.Answer answer) throws VerbsException {
        return fixture.listenerAt(far.run(end -> Listening.start(end, answer)));
    }

    static Connection connect(End near, InetSocketAddress to, byte... data) throws VerbsException {
        return near.keep(near.context.connectionManager().connect(near.qp, to, with(data)));
    }

    static void assertTraffic(Pair p) throws Exception {
        p.near.fill(0, 5000, 1);
        assertPosted(p.far.postReceives(Op.receive(1).on(0, 5000), Op.receive(2).on(5000, 16)));
        assertPosted(p.near.post(Op.send(3).on(0, 5000), Op.sendImmediate(4, 9).on(0, 16),
                Op.write(5, p.farAddress, 10_000).on(0, 5000), Op.read(6, p.farAddress, 10_000).on(20_000, 5000)));
        assertThat(p.near.awaitSends(4)).extracting(Completion::statusName).containsOnly("SUCCESS");
        assertReceived(1, 5000, p.far.awaitReceive());
        assertReceived(2, 16, p.far.awaitReceive());
        assertThat(p.far.mismatch(0, 5000, 1)).isEqualTo(-1);
        assertThat(p.far.mismatch(10_000, 5000, 1)).isEqualTo(-1);
        assertThat(Pattern.mismatch(p.near.at(20_000, 5000), 1)).isEqualTo(-1);
        EndAddress near = p.nearAddress;
        assertPosted(p.far.post(Op.write(7, near, 30_000).on(0, 100)));
        assertDone(WcOpcode.RDMA_WRITE, 7, p.far.awaitSend());
    }

    static void awaitDisconnected(Connection c) throws VerbsException {
        List<ConnectionEvent> seen = new ArrayList<>();
        Await.until("DISCONNECTED", () -> {
            ConnectionEvent e = c.awaitEvent(Duration.ofMillis(20));
            if (e != null) {
                seen.add(e);
            }
            return e != null && e.type() == ConnectionEvent.DISCONNECTED;
        }, () -> "got " + seen);
        assertThat(c.isConnected()).isFalse();
    }
}
