// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.stack.packetdrill.RunnerTest.fails;
import static org.verbena.stack.packetdrill.RunnerTest.passes;
import static org.verbena.stack.packetdrill.RunnerTest.run;

import java.nio.ByteBuffer;

import org.junit.jupiter.api.Test;

import org.verbena.stack.ip.IpAddress;

/** What the runner says of right and of wrong over IPv6, against a stack that answers by a table. */
final class RunnerOverIpv6Test {
    private static final String LOCAL = "fd3d:fa7b:d17d::1";
    private static final String REMOTE = "2001:db8::1";
    private static final int HEADER = 40;
    private static final int ICMPV6 = 58;
    private static final String SYN = "S 0:0(0) win 1000 <mss 1440>";
    private static final String CLIENT = """
            --ip_version=ipv6
            0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
            +0 bind(3, ..., ...) = 0
            +0 connect(3, ..., ...) = 0
            +0 > (class 0, hlim 64, flowlabel 0) S 0:0(0) win 1000 <mss 1440>
            """;

    private static FakeTarget connects() {
        return new FakeTarget().over(IpVersion.IPV6).sends("connect", 0, SYN);
    }

    @Test
    void rightPasses() {
        FakeTarget t = connects();
        passes(CLIENT, t);
        assertThat(t.addresses).containsExactly("IPv6", LOCAL + " 8080", REMOTE + " 8080");
    }

    @Test
    void packetsToTheStackAreRight() throws Failure {
        FakeTarget t = connects();
        passes(CLIENT + "+0 < (class 0x28, hlim 3, flowlabel 0x54321) P. 1:11(10) ack 1 win 5\n+0 < [ce] . 11:11(0)",
                t);
        WirePacket p = WirePacket.read(t.injected.getFirst()); // which checks the lengths and the sums
        assertThat(p.ip()).isEqualTo(new Packets.Ip(IpVersion.IPV6.remote(), IpVersion.IPV6.local(), 0x28, 3,
                0x54321));
        assertThat(p.payload()).isEqualTo(Stream.bytes(1, 10));
        assertThat(WirePacket.read(t.injected.get(1)).ip().tos()).isEqualTo(3);
        assertThat(IpVersion.IPV6.remote()).hasToString(REMOTE);
    }

    @Test
    void messagesQuoteWhatTheyAreAbout() throws Failure {
        FakeTarget t = connects();
        passes(CLIENT + """
                +0 < icmp packet_too_big mtu 1300 [0:0(0)]
                +0 < icmp unreachable port_unreachable [5:5(0)]
                +0 < icmp time_exceeded exceeded_hop_limit [0:0(0)]
                +0 < icmp parameter_problem unknown_next_header [0:0(0)]
                +0 < icmp unreachable code_6 [0:0(0)]
                """, t);
        assertThat(t.injected).extracting(b -> b[HEADER] + " " + b[HEADER + 1]).containsExactly("2 0", "1 4", "3 0",
                "4 1", "1 6");
        WirePacket p = WirePacket.read(t.injected.getFirst());
        assertThat(p.protocol()).isEqualTo(ICMPV6);
        assertThat(p.bytes().getInt(4)).isEqualTo(1300);
        ByteBuffer quoted = p.bytes().slice(8, HEADER + 8);
        assertThat(new IpAddress(quoted.getLong(8), quoted.getLong(16))).hasToString(LOCAL);
        assertThat(new IpAddress(quoted.getLong(24), quoted.getLong(32))).hasToString(REMOTE);
        assertThat(quoted.getShort(HEADER) & 0xffff).isEqualTo(FakeTarget.PORT);
        assertThat(quoted.getInt(HEADER + 4)).isEqualTo((int) FakeTarget.FIRST);
    }

    @Test
    void wrongFields() {
        fails("IP", "a.pkt:5: expected > (tos 0x0) (ttl 63) (flowlabel 0x5) S 0:0(0) win 1000 <mss 1440>; "
                + "sent > [noecn] (tos 0x0) (ttl 64) (flowlabel 0x0) S 0:0(0) win 1000 <mss 1440>; "
                + "ttl: 63 expected, 64 sent; flow label: 5 expected, 0 sent",
                CLIENT.replace("hlim 64, flowlabel 0", "hlim 63, flowlabel 5"), connects());
        fails("PACKET", "a.pkt:5: a packet was sent with other addresses: > "
                + SYN.replace("0:0", FakeTarget.FIRST + ":" + FakeTarget.FIRST), CLIENT, new FakeTarget()
                        .sends("connect", 0, SYN));
    }

    @Test
    void brokenPackets() {
        // places in the packet: a length, an address of the pseudo-header, a port
        for (int at : new int[] {5, 10, HEADER, HEADER + 17}) {
            assertThat(run(CLIENT, connects().damages(at), Profile.strict())).isInstanceOfSatisfying(
                    Outcome.Failed.class, f -> {
                        assertThat(f.kind()).isEqualTo("PACKET");
                        assertThat(f.message()).contains(at == 5 ? "lengths in the IPv6 header" : "a wrong checksum");
                    });
        }
    }

    @Test
    void socketsAreOfTheirVersion() {
        FakeTarget t = new FakeTarget().sends("connect", 0, SYN);
        passes("""
                --ip_version=ipv4-mapped-ipv6
                0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
                +0 connect(3, ..., ...) = 0
                +0 > S 0:0(0) win 1000 <mss 1440>
                +0 socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 4
                """, t);
        assertThat(t.addresses).containsExactly("IPv6", "192.0.2.1 8080", "IPv4");
    }

    @Test
    void scriptsMayNameAddresses() {
        FakeTarget t = new FakeTarget();
        passes("""
                0 socket(AF_INET6, SOCK_STREAM, IPPROTO_TCP) = 3
                +0 bind(3, {sa_family = AF_INET6, sin6_port = htons(81), sin6_flowinfo = htonl(0),
                    inet_pton(AF_INET6, "fd00::2", &sin6_addr), sin6_scope_id = htonl(0)}, 28) = 0
                +0 bind(3, {sa_family = AF_INET, sin_port = htons(82), sin_addr = inet_addr("10.0.0.1")}, 16) = 0
                """, t);
        assertThat(t.addresses).containsExactly("IPv6", "fd00::2 81", "10.0.0.1 82");
        assertThat(run("0 bind(3, {sa_family = AF_INET, sin_addr = inet_addr(\"host\")}, 16) = 0", t, Profile.strict()))
                .isEqualTo(new Outcome.Unsupported("address \"host\""));
    }
}
