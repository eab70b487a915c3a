// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Objects;

import org.junit.jupiter.api.Test;

import org.verbena.stack.ip.Host;
import org.verbena.stack.model.TcpSettings;
import org.verbena.testkit.Seeds;

/** Sequence numbers that pass the ends of their range. */
final class WrapTest {
    private static final int PORT = 5000;

    /** Waits until the first number of a connection from a's port is a given one; the clock makes it (RFC 6528). */
    private static void waitFor(Network n, int number) throws IOException {
        Connection c = Objects.requireNonNull(Host.connect(n.a.tcp, PORT, n.b.address, 80, TcpSettings.DEFAULT, n.now));
        int initial = c.sender.initial;
        c.abort(n.now);
        n.pass((number - initial & 0xffff_ffffL) * 4000);
        n.b.wire.takeSent();
        n.a.wire.takeSent();
    }

    @Test
    void bytesArriveAcrossTheEnds() {
        Seeds.each(40, r -> {
            Network n = new Network(r.nextLong(), new Host(1), new Host(2));
            int first = (r.nextBoolean() ? 0x7fff_ff00 : 0xffff_ff00) - r.nextInt(100_000);
            waitFor(n, first);
            n.loss = r.nextInt(11);
            n.late = r.nextInt(11);
            n.repeated = r.nextInt(5);
            n.delay = 10_000 + r.nextLong(20 * Network.MS);
            Connection c = TransferTest.transfer(r, n, TransferTest.some(r), TransferTest.some(r), 150_000, 3600
                    * Network.SECOND, PORT);
            assertThat(c.sender.initial - first).isBetween(0, 1000);
        });
    }

    @Test
    void marksThatWerePassedComeAlong() throws IOException {
        int half = 1 << 31;
        Peer p = new Peer();
        Connection c = p.accepted(DataTest.plain().sack(false).maximumSegment(1000).cubic(false).build());
        c.sender.smallEnd = c.sender.una - half + 5000; // as if this were long ago
        c.recovery.point = c.sender.una - half + 5000;
        for (int i = 1; i <= 10; i++) {
            p.write(c, 1000);
            p.acknowledge(1 + i * 1000);
        }
        p.take();
        p.write(c, 10); // Nagle's algorithm has nothing to wait for
        assertThat(p.one().length()).isEqualTo(10);
        p.acknowledge(10_011);
        p.write(c, 5000);
        p.take();
        for (int i = 0; i < 3; i++) {
            p.acknowledge(10_011);
        }
        assertThat(p.take()).extracting(Peer.Seen::sequence).contains(10_011);
        assertThat(c.recovery.phase).isEqualTo(Recovery.Phase.FAST);
    }
}
