// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Objects;

import org.junit.jupiter.api.Test;

import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;
import org.verbena.testkit.Seeds;

/** A flood of SYN. */
final class SynCookiesTest {
    private static final int FLOOD = 2000;
    private static final TcpSettings SETTINGS = TcpSettings.DEFAULT;
    private static final TcpSettings PLAIN = TcpSettings.builder().timestamps(false).build();

    static Listener flooded(Peer p) throws IOException {
        Listener l = Objects.requireNonNull(p.host.tcp.listen(Peer.HOST_PORT, 5, SETTINGS));
        for (int i = 0; i < FLOOD; i++) {
            p.port = 10_000 + i;
            p.draft(Peer.SYN).sequence(0).send();
            assertThat(p.one().has(Peer.SYN | Peer.ACK)).isTrue();
        }
        assertThat(l.half).isLessThan(300);
        assertThat(p.host.tcp.memory()).isZero();
        int[] n = {0};
        p.host.tcp.forEach(c -> n[0]++);
        assertThat(n[0]).isEqualTo(l.half);
        p.port = 4000;
        return l;
    }

    @Test
    void aConnectionStandsByACookie() throws IOException {
        Seeds.each(20, r -> {
            Peer p = new Peer();
            p.initial = Peer.someInitial(r);
            p.pass(r.nextLong(1_000_000_000_000L));
            Listener l = flooded(p);
            Peer.Draft d = p.syn(SETTINGS);
            d.send();
            Peer.Seen answer = p.one();
            assertThat(answer.options().isSackPermitted()).isTrue();
            assertThat(answer.options().windowScale()).isEqualTo(SETTINGS.scale());
            p.timestamps = true;
            p.next = 1;
            p.expected = 1;
            p.window = 4;
            p.draft(Peer.ACK).send();
            p.nothing();
            Connection c = Objects.requireNonNull(l.accept());
            assertThat(c.state()).isEqualTo(TcpState.ESTABLISHED);
            assertThat(c.sack).isTrue();
            assertThat(c.timestamps).isTrue();
            assertThat(c.info().sendScale()).isZero();
            assertThat(c.sender.segment).isEqualTo(1448);
            assertThat(p.host.tcp.counts().cookiesIn).isEqualTo(1);
            p.write(c, 3);
            Peer.Seen data = p.one();
            assertThat(data.options().timestamp() - answer.options().timestamp()).as("the clock goes forward")
                    .isNotNegative();
            p.window = 1000; // is taken, whatever the first number was
            p.acknowledge(4);
            assertThat(c.info().sendWindow()).isEqualTo(1000);
            p.data(100);
            assertThat(p.read(c)).isEqualTo(100);
        });
    }

    @Test
    void withoutTimestampsThereIsNoScale() throws IOException {
        Peer p = new Peer();
        Listener l = flooded(p);
        p.syn(PLAIN).send();
        Peer.Seen answer = p.one();
        assertThat(answer.options().isSackPermitted()).isFalse();
        assertThat(answer.options().windowScale()).isEqualTo(-1);
        p.next = 1;
        p.expected = 1;
        p.data(50);
        Connection c = Objects.requireNonNull(l.accept());
        assertThat(c.sack).isFalse();
        assertThat(c.timestamps).isFalse();
        assertThat(c.receiver.scale).isZero();
        assertThat(c.sender.segment).isEqualTo(1460);
        assertThat(p.read(c)).isEqualTo(50);
    }

    @Test
    void anotherNumberIsRefused() throws IOException {
        Seeds.each(20, r -> {
            Peer p = new Peer();
            Listener l = flooded(p);
            p.syn(PLAIN).send();
            p.one();
            p.next = 1;
            for (int i = 0; i < 100; i++) {
                Peer.Draft d = p.draft(Peer.ACK).acknowledgment(1);
                switch (r.nextInt(3)) {
                    case 0 -> d.acknowledgment(1 + (1 << r.nextInt(32)));
                    case 1 -> d.sequence(2 + r.nextInt(1000));
                    default -> d.acknowledgment(r.nextInt() | 2);
                }
                d.send();
                assertThat(p.one().header().flags()).isEqualTo(Peer.RST);
            }
            p.port++;
            p.acknowledge(1);
            assertThat(p.one().header().flags()).isEqualTo(Peer.RST);
            assertThat(l.ready()).isZero();
            p.port--;
            p.acknowledge(1);
            assertThat(l.ready()).isEqualTo(1);
        });
    }

    @Test
    void anOldCookieIsRefused() throws IOException {
        Peer p = new Peer();
        flooded(p);
        p.syn(PLAIN).send();
        p.one();
        p.pass(140 * Peer.SECOND);
        p.take();
        p.next = 1;
        p.acknowledge(1);
        assertThat(p.one().header().flags()).isEqualTo(Peer.RST);
    }

    @Test
    void withoutAFloodNoNumberIsBelieved() throws IOException {
        Peer p = new Peer();
        Listener l = flooded(p);
        p.syn(PLAIN).send();
        p.one();
        l.close(p.now());
        p.take();
        p.host.tcp.listen(Peer.HOST_PORT, 5, SETTINGS);
        p.next = 1;
        p.acknowledge(1);
        assertThat(p.seen.getLast().header().flags()).isEqualTo(Peer.RST);
    }

    @Test
    void afterAFloodThePortIsAsBefore() throws IOException {
        Peer p = new Peer();
        Listener l = flooded(p);
        p.pass(200 * Peer.SECOND);
        p.take();
        assertThat(l.half).isZero();
        long cookies = p.host.tcp.counts().cookiesOut;
        p.accepted(l, SETTINGS);
        assertThat(p.host.tcp.counts().cookiesOut).isEqualTo(cookies);
    }
}
