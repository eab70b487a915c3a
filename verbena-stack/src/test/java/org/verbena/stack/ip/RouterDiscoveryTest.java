// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.Icmpv6Message;
import org.verbena.stack.udp.UdpQueue;
import org.verbena.stack.wire.ReceivedFrame;

/** RFC 4861, 6; RFC 4862, 5.5; RFC 4191. */
final class RouterDiscoveryTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long PREFIX = 0x2001_0db8_0000_0001L;
    private static final IpAddress FAR = new IpAddress(0x2001_0db8_ffff_0000L, 1);
    private static final int ON_LINK = 0x80;
    private static final int AUTONOMOUS = 0x40;

    static byte[] advertisement(Host h, int lifetime, byte[]... options) {
        return advertisement(h, Ipv6Frames.PEER_NEAR, 0, lifetime, options);
    }

    private static byte[] advertisement(Host h, IpAddress from, int flags, int lifetime, byte[]... options) {
        ByteBuffer b = ByteBuffer.allocate(8 + 100).putLong(0);
        for (byte[] o : options) {
            b.put(o);
        }
        byte[] data = new byte[b.position()];
        b.flip().get(data);
        return Ipv6Frames.icmp(h, from, Ipv6Frames.ALL_NODES, 255, Icmpv6Message.ROUTER_ADVERTISEMENT, 0, 17 << 24
                | flags << 16 | lifetime, data);
    }

    private static byte[] prefix(long high, int bits, int flags, int valid, int preferred) {
        return ByteBuffer.allocate(32).put((byte) 3).put((byte) 4).put((byte) bits).put((byte) flags).putInt(valid)
                .putInt(preferred).putInt(0).putLong(high).putLong(0).array();
    }

    private static byte[] mtu(int value) {
        return ByteBuffer.allocate(8).put((byte) 5).put((byte) 1).putShort((short) 0).putInt(value).array();
    }

    private static IpAddress of(Host h, long high) {
        return new IpAddress(high, h.ip.addresses().getLast().low());
    }

    private static byte[] sendFar(Host h) throws Exception {
        UdpQueue q = h.udp.open(0, 4096);
        assertThat(h.udp.send(q, ByteBuffer.wrap(Host.payload(1, 10)), FAR.high(), FAR.low(), 7, h.now)).isZero();
        h.udp.close(q, h.now);
        return h.wire.takeSent().getFirst();
    }

    @Test
    void aRouterIsTheWayToOthers() throws Exception {
        Host h = Ipv6Frames.settled(1);
        assertThat(h.ip.way(FAR.high(), FAR.low())).isEqualTo(Errno.ENETUNREACH);
        byte[] link = new byte[8];
        NeighbourDiscovery.writeLinkAddress(MemorySegment.ofArray(link), 0, 1, Ipv6Frames.PEER_MAC);
        h.take(advertisement(h, 1800, link));
        byte[] f = sendFar(h);
        assertThat(EthernetHeader.destination(MemorySegment.ofArray(f), 0)).isEqualTo(Ipv6Frames.PEER_MAC);
        assertThat(Ipv6Frames.header(f).hopLimit()).as("as the router says").isEqualTo(17);
        h.pass(1799 * SECOND);
        assertThat(h.ip.way(FAR.high(), FAR.low())).isZero();
        h.pass(2 * SECOND);
        assertThat(h.ip.way(FAR.high(), FAR.low())).isEqualTo(Errno.ENETUNREACH);
        h.take(advertisement(h, 1800));
        h.take(advertisement(h, 0));
        assertThat(h.ip.way(FAR.high(), FAR.low())).as("it is none any more").isEqualTo(Errno.ENETUNREACH);
    }

    @Test
    void aSubnetGivesAnAddressForItsTime() throws Exception {
        Host h = Ipv6Frames.settled(1);
        h.take(advertisement(h, 1800, prefix(PREFIX, 64, ON_LINK | AUTONOMOUS, 86_400, 3600)));
        IpAddress mine = of(h, PREFIX);
        assertThat(h.ip.addresses()).contains(mine);
        h.pass(1);
        byte[] asked = Ipv6Frames.sent(h);
        assertThat(Ipv6Frames.target(asked)).as("whether another host has it").isEqualTo(mine);
        h.pass(3601 * SECOND);
        h.wire.takeSent();
        assertThat(h.ip.addresses()).as("deprecated, but there").contains(mine);
        h.pass(82_800 * SECOND);
        assertThat(h.ip.addresses()).doesNotContain(mine);
    }

    @Test
    void aShortLifeIsNotBelieved() throws Exception {
        Host h = Ipv6Frames.settled(1);
        h.take(advertisement(h, 1800, prefix(PREFIX, 64, AUTONOMOUS, 86_400, 86_400)));
        h.take(advertisement(h, 1800, prefix(PREFIX, 64, AUTONOMOUS, 1, 1)));
        h.pass(7199 * SECOND);
        assertThat(h.ip.addresses()).contains(of(h, PREFIX));
        h.pass(2 * SECOND);
        assertThat(h.ip.addresses()).doesNotContain(of(h, PREFIX));
    }

    @Test
    void whatWasConfiguredStays() throws Exception {
        Host h = Ipv6Frames.settled(1);
        h.take(advertisement(h, 1800, prefix(Host.SUBNET_6, 64, ON_LINK, 10, 10)));
        h.pass(20 * SECOND);
        assertThat(h.ip.addresses()).contains(h.ipv6);
        assertThat(h.ip.way(Ipv6Frames.PEER.high(), Ipv6Frames.PEER.low())).as("its subnet, too").isZero();
        IpAddress gateway = Ipv6Frames.PEER_NEAR;
        Ip ip = new Ip(h.wire, h.mac, null, new Ipv6Config(List.of(new Ipv6Config.Own(h.ipv6, 64)), gateway, true),
                h.counts, new Random(1));
        ip.start(h.now);
        ReceivedFrame[] f = new ReceivedFrame[1];
        for (byte[] b : List.of(advertisement(h, 0), Ipv6Frames.advertisement(h, gateway, Ipv6Frames.ALL_NODES, 0,
                gateway, Ipv6Frames.PEER_MAC))) {
            h.wire.put(b);
            f[0] = h.wire.receive();
            ip.input(f[0], h.now);
        }
        assertThat(ip.way(FAR.high(), FAR.low())).as("the configured gateway says that it is none").isZero();
    }

    /** Each of them: RFC 4861, 6.1.2, and 4862, 5.5.3. */
    @Test
    void whatIsWrongGivesNoAddress() throws Exception {
        Host h = Ipv6Frames.settled(1);
        int before = h.ip.addresses().size();
        h.take(advertisement(h, Ipv6Frames.PEER, 0, 1800, prefix(PREFIX, 64, AUTONOMOUS, 100, 100)));
        h.take(advertisement(h, 0, prefix(PREFIX, 64, AUTONOMOUS, 100, 101)));
        h.take(advertisement(h, 0, prefix(0xfe80L << 48, 64, AUTONOMOUS, 100, 100)));
        h.take(advertisement(h, 0, prefix(0xff02L << 48, 64, AUTONOMOUS, 100, 100)));
        h.take(advertisement(h, 0, prefix(PREFIX, 129, AUTONOMOUS, 100, 100)));
        h.take(advertisement(h, 0, prefix(PREFIX, 48, AUTONOMOUS, 100, 100)));
        h.take(advertisement(h, 0, prefix(PREFIX, 64, AUTONOMOUS, 0, 0)));
        byte[] far = advertisement(h, 1800);
        far[Ipv6Frames.IP + 7] = 64;
        h.take(far);
        assertThat(h.ip.addresses()).hasSize(before);
        assertThat(h.ip.way(FAR.high(), FAR.low())).isNotZero();
        for (int i = 0; i < 200; i++) { // a flood
            h.take(advertisement(h, new IpAddress(0xfe80L << 48, 100 + i), 0, 1800, prefix(PREFIX + i, 64, ON_LINK
                    | AUTONOMOUS, 100, 100)));
        }
        assertThat(h.ip.addresses()).hasSize(Ipv6Addresses.MOST);
    }

    @Test
    void theBetterRouterIsUsedAndAnotherIfItIsGone() throws Exception {
        Host h = Ipv6Frames.settled(1);
        IpAddress low = new IpAddress(0xfe80L << 48, 0x70);
        IpAddress high = new IpAddress(0xfe80L << 48, 0x71);
        h.take(advertisement(h, low, 3 << 3, 1800));
        h.take(advertisement(h, high, 1 << 3, 1800));
        assertThat(Ipv6Frames.target(sendFar(h))).isEqualTo(high);
        for (int i = 0; i < 5; i++) {
            h.pass(SECOND);
        }
        h.wire.takeSent();
        assertThat(Ipv6Frames.target(sendFar(h))).as("the other did not answer").isEqualTo(low);
    }

    @Test
    void theLinksMtuIsWhatARouterSaysIfItCanBe() throws Exception {
        Host h = Ipv6Frames.settled(1);
        Path p = new Path();
        h.ip.route(p, Ipv6Frames.PEER.high(), Ipv6Frames.PEER.low());
        for (int bad : new int[] {0, 1279, 1501, -1}) {
            h.take(advertisement(h, 0, mtu(bad)));
            assertThat(h.ip.room(p)).isEqualTo(1460);
        }
        h.take(advertisement(h, 0, mtu(1400)));
        assertThat(h.ip.room(p)).isEqualTo(1360);
    }

    @Test
    void anAnswerEndsTheQuestion() throws Exception {
        Host h = Host.ofIpv6(1);
        h.pass(1);
        h.take(advertisement(h, 1800));
        h.wire.takeSent();
        for (int i = 0; i < 20; i++) {
            h.pass(SECOND);
        }
        List<byte[]> later = h.wire.takeSent();
        assertThat(later).noneSatisfy(f -> assertThat(Ipv6Frames.message(f).type()).isEqualTo(
                Icmpv6Message.ROUTER_SOLICITATION));
    }
}
