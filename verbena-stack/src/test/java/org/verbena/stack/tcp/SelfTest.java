// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Random;
import java.util.function.BooleanSupplier;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.stack.ip.Host;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpState;

/** Connections of a host to itself, in virtual time. */
final class SelfTest {
    private static final int PORT = 80;
    private static final long SECOND = 1_000_000_000L;

    private static Host host(boolean ipv6) throws IOException {
        Host h = ipv6 ? Host.ofIpv6(1) : new Host(1);
        for (int i = 0; i < 20; i++) { // it tells of itself, and looks for routers
            h.pass(SECOND);
        }
        h.wire.sent.clear();
        return h;
    }

    /** Takes turns, and lets time pass when there is nothing to do, until something is so; answers whether it is. */
    private static boolean run(Host h, long nanos, BooleanSupplier until) throws IOException {
        long end = h.now + nanos;
        while (!until.getAsBoolean()) {
            h.ip.takeOwn(h.now);
            long due = Math.min(h.ip.work(h.now), h.tcp.work(h.now));
            if (!h.ip.hasOwn()) {
                if (due > end) {
                    h.now = end;
                    return until.getAsBoolean();
                }
                h.now = Math.max(h.now, due);
            }
        }
        return true;
    }

    private static Connection connect(Host h, int from, int to) throws IOException {
        return Objects.requireNonNull(h.connect(from, h, to, TcpSettings.DEFAULT, h.now));
    }

    private static void nothingCameToTheLink(Host h) {
        assertThat(h.wire.takeSent()).isEmpty();
        assertThat(h.wire.held()).isZero();
        assertThat(h.counts.malformed).isZero();
    }

    private static void transfer(Host h, Connection from, Connection to, int bytes) throws IOException {
        byte[] sent = new byte[bytes];
        new Random(bytes).nextBytes(sent);
        ByteBuffer out = ByteBuffer.wrap(sent);
        ByteBuffer in = ByteBuffer.allocate(bytes + 1);
        long began = h.now;
        while (in.position() < bytes && h.now - began < SECOND) {
            from.write(out, h.now);
            run(h, SECOND, () -> to.readable() > 0);
            to.read(in, h.now);
            Invariants.check(h);
        }
        assertThat(in.position()).isEqualTo(bytes);
        assertThat(in.array()).startsWith(sent);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void bytesGoBothWaysAndNoFrameToTheLink(boolean ipv6) throws IOException {
        for (int cut : new int[] {0, 65_535}) {
            Host h = host(ipv6);
            h.wire.mostCut = cut;
            Listener l = Objects.requireNonNull(h.tcp.listen(PORT, 1, TcpSettings.DEFAULT));
            Connection c = connect(h, 0, PORT);
            assertThat(c.state()).as("nothing is taken while it is sent").isEqualTo(TcpState.SYN_SENT);
            assertThat(run(h, SECOND, () -> c.state() == TcpState.ESTABLISHED)).isTrue();
            Connection[] other = new Connection[1];
            assertThat(run(h, SECOND, () -> (other[0] = l.accept()) != null)).isTrue();
            assertThat(c.path().isToSelf()).isTrue();
            transfer(h, c, other[0], 3_000_000);
            transfer(h, other[0], c, 3_000_000);
            run(h, SECOND, () -> false);
            long segments = h.tcp.counts().segmentsIn;
            assertThat(segments).isEqualTo(h.tcp.counts().segmentsOut);
            assertThat(segments).as("of %d bytes at once", cut).isBetween(cut == 0 ? 4_000L : 100L, cut == 0
                    ? 9_000L
                    : 1_500L);
            assertThat(h.tcp.counts().retransmitted).isZero();
            c.close(h.now);
            assertThat(run(h, SECOND, () -> other[0].isAtEnd())).isTrue();
            other[0].close(h.now);
            assertThat(run(h, SECOND, () -> h.tcp.timeWaits() == 1 && other[0].state() == TcpState.CLOSED)).isTrue();
            run(h, 61 * SECOND, () -> false);
            assertThat(h.tcp.timeWaits()).isZero();
            nothingCameToTheLink(h);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void bothEndsCloseAtTheSameTime(boolean ipv6) throws IOException {
        Host h = host(ipv6);
        Listener l = Objects.requireNonNull(h.tcp.listen(PORT, 1, TcpSettings.DEFAULT));
        Connection c = connect(h, 0, PORT);
        Connection[] other = new Connection[1];
        assertThat(run(h, SECOND, () -> (other[0] = l.accept()) != null)).isTrue();
        run(h, SECOND, () -> false);
        c.close(h.now);
        other[0].close(h.now);
        assertThat(run(h, SECOND, () -> h.tcp.timeWaits() == 2)).isTrue();
        run(h, 61 * SECOND, () -> false);
        assertThat(h.tcp.timeWaits()).isZero();
        nothingCameToTheLink(h);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whereNobodyListensItIsRefused(boolean ipv6) throws IOException {
        Host h = host(ipv6);
        Connection c = connect(h, 0, PORT);
        assertThat(run(h, SECOND, () -> c.state() == TcpState.CLOSED)).isTrue();
        assertThat(c.error()).isEqualTo(Errno.ECONNREFUSED);
        nothingCameToTheLink(h);
    }

    @Test
    void anAbortIsAReset() throws IOException {
        Host h = host(false);
        Listener l = Objects.requireNonNull(h.tcp.listen(PORT, 1, TcpSettings.DEFAULT));
        Connection c = connect(h, 0, PORT);
        Connection[] other = new Connection[1];
        assertThat(run(h, SECOND, () -> (other[0] = l.accept()) != null)).isTrue();
        c.abort(h.now);
        assertThat(run(h, SECOND, () -> other[0].error() == Errno.ECONNRESET)).isTrue();
        nothingCameToTheLink(h);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aPortConnectsToItself(boolean ipv6) throws IOException { // as simultaneous open (RFC 9293, 3.5), and as Linux has it
        Host h = host(ipv6);
        Connection c = connect(h, 4711, 4711);
        assertThat(run(h, SECOND, () -> c.state() == TcpState.ESTABLISHED)).isTrue();
        transfer(h, c, c, 1_000_000);
        c.finish(h.now);
        assertThat(run(h, SECOND, c::isFinished)).isTrue();
        assertThat(run(h, SECOND, () -> c.state() == TcpState.TIME_WAIT)).isTrue();
        c.close(h.now);
        nothingCameToTheLink(h);
    }

    @Test
    void noPortIsChosenToConnectToItself() throws IOException {
        Host h = host(false);
        for (int p = 32_768; p < 65_536; p++) {
            if (p != 40_000) {
                Objects.requireNonNull(h.tcp.listen(p, 0, TcpSettings.DEFAULT));
            }
        }
        assertThat(h.connect(0, h, 40_000, TcpSettings.DEFAULT, h.now)).isNull();
        assertThat(h.connect(0, h, 40_001, TcpSettings.DEFAULT, h.now)).isNotNull();
    }

    @Test
    void whatComesFromTheLinkUnderTheOwnAddressIsDropped() throws IOException {
        Peer p = new Peer();
        p.address = p.host.address;
        Objects.requireNonNull(p.host.tcp.listen(Peer.HOST_PORT, 1, TcpSettings.DEFAULT));
        p.syn(TcpSettings.DEFAULT).send();
        assertThat(p.host.counts.malformed).isEqualTo(1);
        assertThat(p.host.ip.hasOwn()).isFalse();
        p.nothing();
    }
}
