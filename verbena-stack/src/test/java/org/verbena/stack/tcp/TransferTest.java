// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Random;

import org.junit.jupiter.api.Test;

import org.verbena.stack.ip.Host;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;
import org.verbena.testkit.Seeds;
import org.verbena.testkit.Thorough;

/** Bytes between two ends, over a link with all kinds of faults, in virtual time. */
final class TransferTest {
    private static final int PORT = 80;

    /** One direction: what is written, and what came. */
    private static final class Stream {
        final byte[] sent;
        final ByteBuffer received;
        int written;
        boolean finished;
        boolean ended;

        Stream(Random r, int bytes) {
            sent = new byte[bytes];
            r.nextBytes(sent);
            received = ByteBuffer.allocate(bytes + 1);
        }

        void write(Connection c, Random r, long now) throws IOException {
            while (written < sent.length) {
                int n = Math.min(sent.length - written, 1 + r.nextInt(20_000));
                int taken = c.write(ByteBuffer.wrap(sent, written, n), now);
                if (taken <= 0) {
                    return;
                }
                written += taken;
            }
            if (!finished && c.state() != TcpState.SYN_SENT && c.state() != TcpState.SYN_RECEIVED) {
                finished = true;
                c.finish(now);
            }
        }

        void read(Connection c, long now) throws IOException {
            for (int n = c.read(received, now); n != 0; n = c.read(received, now)) {
                if (n < 0) {
                    ended = true;
                    return;
                }
            }
        }

        void check() {
            assertThat(received.position()).isEqualTo(sent.length);
            assertThat(received.array()).startsWith(sent);
        }
    }

    static TcpSettings some(Random r) {
        return TcpSettings.builder().receiveBuffer(1 << 10 + r.nextInt(11)).sendBuffer(1 << 10 + r.nextInt(11))
                .cubic(r.nextBoolean()).noDelay(r.nextBoolean()).timestamps(r.nextBoolean()).windowScale(r
                        .nextBoolean()).sack(r.nextBoolean()).ecn(r.nextBoolean()).build();
    }

    /** Brings bytes both ways, and looks that nothing is left; {@code port} is that of the end which opens, or 0. */
    static Connection transfer(Random r, Network n, TcpSettings sa, TcpSettings sb, int bytes, long most, int port)
            throws IOException {
        Listener l = Objects.requireNonNull(n.b.tcp.listen(PORT, 8, sb));
        Connection c = Objects.requireNonNull(n.a.connect(port, n.b, PORT, sa, n.now));
        Stream there = new Stream(r, bytes);
        Stream back = new Stream(r, bytes);
        Connection[] other = new Connection[1];
        boolean done = n.run(most, () -> {
            try {
                there.write(c, r, n.now);
                back.read(c, n.now);
                if (other[0] == null) {
                    other[0] = l.accept();
                }
                Connection d = other[0];
                if (d != null) {
                    back.write(d, r, n.now);
                    there.read(d, n.now);
                }
                return there.ended && back.ended && n.b.tcp.timeWaits() + n.a.tcp.timeWaits() > 0 || c.error() != 0;
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        assertThat(c.error()).isZero();
        assertThat(done).as("%s, %s; %s of %s, %s of %s", c.info(), other[0] == null ? null : other[0].info(),
                there.received.position(), bytes, back.received.position(), bytes).isTrue();
        there.check();
        back.check();
        c.close(n.now);
        other[0].close(n.now);
        n.pass(2000 * Network.SECOND); // 15 retransmissions take a while
        for (Host h : new Host[] {n.a, n.b}) {
            assertThat(h.tcp.timeWaits()).isZero();
            int[] left = {0};
            h.tcp.forEach(x -> left[0]++);
            assertThat(left[0]).isZero();
            assertThat(h.tcp.memory()).isZero();
            assertThat(h.wire.held()).isZero();
        }
        return c;
    }

    private static Host host(boolean ipv6, int number, int mtu, Random r) {
        int part = 150 + r.nextInt(2500);
        return ipv6 ? Host.ofIpv6(number, mtu, part) : new Host(number, mtu, part);
    }

    @Test
    void withoutAFaultNothingIsSentAgain() {
        Seeds.each(30, r -> {
            boolean six = r.nextBoolean();
            Network n = new Network(r.nextLong(), host(six, 1, Host.MTU, r), host(six, 2, Host.MTU, r));
            n.a.wire.mostCut = 65_535;
            n.pass(3 * Network.SECOND); // while both ends are new, neither tells its Ethernet address when it asks (RFC 4429)
            transfer(r, n, some(r), some(r), 1 + r.nextInt(300_000), 600 * Network.SECOND, 0);
            assertThat(n.a.tcp.counts().retransmitted).isZero();
            assertThat(n.b.tcp.counts().retransmitted).isZero();
        });
    }

    @Test
    void withAllFaultsEachByteArrivesOnceAndInOrder() {
        Seeds.each(Thorough.ON ? 10_000 : 60, r -> {
            boolean six = r.nextBoolean();
            int least = six ? 1280 : 576;
            Network n = new Network(r.nextLong(), host(six, 1, least + r.nextInt(1000), r), host(six, 2, least + r
                    .nextInt(1000), r));
            n.loss = r.nextInt(11);
            n.repeated = r.nextInt(11);
            n.changed = r.nextInt(11);
            if (r.nextInt(3) == 0) { // nobody looks at checksums then
                n.changed = 0;
                n.a.wire.checked = true;
                n.b.wire.checked = true;
            }
            n.late = r.nextInt(11);
            n.a.wire.mostCut = r.nextBoolean() ? 0 : 3000 + r.nextInt(62_000);
            n.delay = 10_000 + r.nextLong(20 * Network.MS);
            transfer(r, n, some(r), some(r), 1 + r.nextInt(200_000), 3600 * Network.SECOND, 0);
        });
    }
}
