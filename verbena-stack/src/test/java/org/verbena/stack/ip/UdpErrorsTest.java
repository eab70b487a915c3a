// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.IcmpMessage;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.udp.UdpQueue;

/** ICMP errors about datagrams: which of them a socket hears of, and what it does afterwards. */
final class UdpErrorsTest {
    private static final int PORT = 4711;

    private final Host h = new Host(1);
    private final Host peer = new Host(2);

    private byte[] send(UdpQueue q) throws IOException {
        byte[] sent = {};
        assertThat(Host.send(h.udp, q, ByteBuffer.allocate(0), peer.address, PORT, h.now)).isZero();
        for (List<byte[]> all = h.wire.takeSent(); !all.isEmpty(); all = h.wire.takeSent()) {
            for (byte[] f : all) {
                if (EthernetHeader.type(MemorySegment.ofArray(f), 0) == EthernetHeader.ARP) {
                    peer.take(f);
                } else {
                    sent = f;
                }
            }
            for (byte[] f : peer.wire.takeSent()) {
                h.take(f);
            }
        }
        assertThat(sent).hasSizeGreaterThanOrEqualTo(Host.HEADERS + 8);
        return sent;
    }

    private void error(byte[] about, int type, int code) throws IOException {
        byte[] f = new byte[Host.HEADERS + 8 + 28];
        MemorySegment m = MemorySegment.ofArray(f);
        EthernetHeader.write(m, 0, h.mac, peer.mac, EthernetHeader.IPV4);
        Ipv4Header.write(m, EthernetHeader.BYTES, f.length - EthernetHeader.BYTES, 1, 0, 64, Ipv4Header.ICMP,
                peer.address, h.address);
        System.arraycopy(about, EthernetHeader.BYTES, f, Host.HEADERS + 8, 28);
        IcmpMessage.write(m, Host.HEADERS, 36, type, code, 0);
        h.take(f);
    }

    private void isAnswered(UdpQueue q) throws IOException {
        UdpQueue from = Objects.requireNonNull(peer.udp.open(PORT, 4096));
        Host.send(peer.udp, from, ByteBuffer.wrap(Host.payload(3, 20)), h.address, q.port(), peer.now);
        Host.run(peer, h);
        peer.udp.close(from, peer.now);
        ByteBuffer b = ByteBuffer.allocate(100);
        assertThat(q.isEmpty()).isFalse();
        q.take(b);
        assertThat(b.position()).isEqualTo(20);
    }

    @Test
    void onlyAConnectedSocketHearsOfRefusalsAndNobodyOfHopLimits() throws IOException {
        for (boolean connected : new boolean[] {true, false}) {
            for (boolean refused : new boolean[] {true, false}) {
                UdpQueue q = Objects.requireNonNull(h.udp.open(0, 4096));
                UdpQueue other = Objects.requireNonNull(h.udp.open(0, 4096));
                if (connected) {
                    q.connect(0, IpAddress.mapped(peer.address), PORT);
                    other.connect(0, IpAddress.mapped(peer.address), PORT);
                }
                int[] woken = {0};
                q.onArrival(() -> woken[0]++);
                byte[] sent = send(q);
                error(sent, refused ? IcmpMessage.UNREACHABLE : IcmpMessage.TIME_EXCEEDED, refused
                        ? IcmpMessage.PORT
                        : 0);
                boolean told = connected && refused;
                assertThat(woken[0]).isEqualTo(told ? 1 : 0);
                assertThat(other.takeError()).as("of another socket").isZero();
                assertThat(q.takeError()).isEqualTo(told ? Errno.ECONNREFUSED : 0);
                assertThat(q.takeError()).as("once").isZero();
                send(q);
                isAnswered(q);
                isAnswered(other);
                h.udp.close(q, h.now);
                h.udp.close(other, h.now);
            }
        }
    }
}
