// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.OptionalInt;
import java.util.function.ToLongFunction;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Await;

/** Whole frames with a header of offloads, by packet sockets and TAP interfaces, against the kernel's own sockets. */
class PacketSocketTest {
    private static final int SPACE = 1 << 17;

    private static DatagramChannel kernelSocket(String address) throws Exception {
        return DatagramChannel.open().bind(new InetSocketAddress(address, 0));
    }

    private static int port(DatagramChannel c) throws Exception {
        return ((InetSocketAddress) c.getLocalAddress()).getPort();
    }

    /** Sends frames of UDP to the kernel in each way that there is. */
    private static void send(ToLongFunction<IoVectors> way, byte[] to, byte[] from, DatagramChannel peer)
            throws Exception {
        MemorySegment memory = Arena.ofAuto().allocate(SPACE, 8);
        IoVectors v = new IoVectors(3);
        for (int length : new int[] {1, 100, 1472}) {
            memory.asSlice(UdpFrame.HEADERS, length).fill((byte) length);
            for (boolean whole : new boolean[] {true, false}) {
                int frame = UdpFrame.put(memory, 0, to, from, port(peer), length, whole);
                if (whole) {
                    VnetHeader.plain(v.header(), 0);
                } else {
                    VnetHeader.checksum(v.header(), 0, 34, 6);
                }
                v.clear().add(v.header(), 0, VnetHeader.BYTES).add(memory, 0, UdpFrame.HEADERS).add(memory,
                        UdpFrame.HEADERS, length);
                assertThat(v.byteSize()).isEqualTo(VnetHeader.BYTES + frame);
                assertThat(way.applyAsLong(v)).isEqualTo(v.byteSize());
                assertDatagram(peer, length, (byte) length);
            }
        }
        int segment = 1000;
        int payload = 40 * segment + 1;
        for (int i = 0; i < payload; i++) {
            memory.set(ValueLayout.JAVA_BYTE, UdpFrame.HEADERS + i, (byte) (i / segment));
        }
        int frame = UdpFrame.put(memory, 0, to, from, port(peer), payload, false);
        VnetHeader.segmented(v.header(), 0, VnetHeader.GSO_UDP_L4, UdpFrame.HEADERS, segment, 34, 6);
        v.clear().add(v.header(), 0, VnetHeader.BYTES).add(memory, 0, frame);
        assertThat(way.applyAsLong(v)).isEqualTo(v.byteSize());
        for (int i = 0; i < 40; i++) {
            assertDatagram(peer, segment, (byte) i);
        }
        assertDatagram(peer, 1, (byte) 40);
    }

    private static void assertDatagram(DatagramChannel peer, int length, byte content) throws Exception {
        ByteBuffer got = ByteBuffer.allocate(SPACE);
        peer.receive(got);
        assertThat(got.position()).isEqualTo(length);
        assertThat(got.get(0)).isEqualTo(content);
        assertThat(got.get(length - 1)).isEqualTo(content);
    }

    /** Receives one datagram that the kernel sends; other packets of the kernel come between. */
    private static void receive(ToLongFunction<IoVectors> way, DatagramChannel peer, InetSocketAddress to,
            int flags) throws Exception {
        MemorySegment memory = Arena.ofAuto().allocate(SPACE, 8);
        IoVectors v = new IoVectors(2);
        v.add(v.header(), 0, VnetHeader.BYTES).add(memory, 0, SPACE);
        peer.send(ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5}), to);
        Await.until("the datagram", () -> way.applyAsLong(v) == VnetHeader.BYTES + UdpFrame.HEADERS + 5 && memory.get(
                ValueLayout.JAVA_BYTE, UdpFrame.HEADERS + 4) == 5);
        assertThat(VnetHeader.flags(v.header(), 0)).isEqualTo(flags);
        assertThat(VnetHeader.gsoType(v.header(), 0)).isEqualTo(VnetHeader.GSO_NONE);
        if (flags == VnetHeader.NEEDS_CSUM) {
            assertThat(VnetHeader.checksumStart(v.header(), 0)).isEqualTo(34);
            assertThat(VnetHeader.checksumOffset(v.header(), 0)).isEqualTo(6);
        }
        assertThat(way.applyAsLong(v)).isEqualTo(-Errno.EAGAIN);
    }

    @Test
    void packetSocketSendsAndReceives() throws Exception {
        VethPair.run(1500, pair -> {
            try (PacketSocket sender = PacketSocket.open(pair.other, false);
                    PacketSocket receiver = PacketSocket.open(pair.other, true);
                    DatagramChannel peer = kernelSocket(VethPair.KERNEL)) {
                send(sender::send, pair.mac("one"), pair.mac("other"), peer);
                IoVectors none = new IoVectors(1);
                none.add(none.header(), 0, VnetHeader.BYTES);
                assertThat(sender.receive(none)).isEqualTo(-Errno.EAGAIN);
                InetSocketAddress to = new InetSocketAddress(VethPair.RAW, 9);
                receive(receiver::receive, peer, to, VnetHeader.NEEDS_CSUM);
                EthtoolFeatures.set("one", EthtoolFeatures.Feature.TX_CHECKSUM, false);
                receive(receiver::receive, peer, to, 0);
                assertThat(sender.send(none)).as("no frame").isEqualTo(-Errno.EINVAL);
                NetworkLinks.setDown(pair.netlink, pair.other);
                assertThat(sender.send(none)).isNegative();
                sender.close();
                assertThat(sender.send(none)).isEqualTo(-Errno.EBADF);
            }
            assertThatThrownBy(() -> PacketSocket.open(9999, true)).isInstanceOfSatisfying(LinuxException.class,
                    e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
        });
    }

    @Test
    void tapSendsAndReceives() throws Exception {
        VethPair.run(1500, pair -> {
            VethPair.ip("addr", "del", VethPair.KERNEL + "/24", "dev", "one");
            byte[] ours = {2, 0, 0, 0, 0, 9};
            try (Tap tap = Tap.openTap("tap%d")) {
                assertThat(tap.name()).startsWith("tap").doesNotContain("%");
                int index = NetworkLinks.index(pair.netlink, tap.name());
                assertThat(NetworkLinks.kind(pair.netlink, index)).isEqualTo(new NetworkLinks.Kind("tun", true, false));
                assertThat(TapSettings.of(pair.netlink, index)).contains(new TapSettings(true, OptionalInt.empty(),
                        OptionalInt.empty(), false, false, false));
                NetworkLinks.setUp(pair.netlink, index);
                NetworkAddresses.add(pair.netlink, index, InetAddress.getByName(VethPair.KERNEL), 24);
                VethPair.ip("neigh", "add", VethPair.RAW, "dev", tap.name(), "lladdr", "02:00:00:00:00:09");
                try (DatagramChannel peer = kernelSocket(VethPair.KERNEL)) {
                    send(tap::send, pair.mac(tap.name()), ours, peer);
                    InetSocketAddress to = new InetSocketAddress(VethPair.RAW, 9);
                    receive(tap::receive, peer, to, 0);
                    tap.setOffloads(true, true);
                    receive(tap::receive, peer, to, VnetHeader.NEEDS_CSUM);
                }
                try (Tap second = Tap.openTap(tap.name())) {
                    throw new AssertionError(second.name() + " is there twice");
                } catch (LinuxException e) {
                    assertThat(e.errno()).isEqualTo(Errno.EBUSY);
                }
                assertThatThrownBy(() -> Tap.openTap("one")).isInstanceOf(LinuxException.class);
            }
            try (Tap tun = Tap.openTun("tun0")) {
                assertThat(NetworkLinks.kind(pair.netlink, NetworkLinks.index(pair.netlink, "tun0")).ethernet())
                        .isFalse();
                tun.setPersistent(true);
                assertThat(TapSettings.of(pair.netlink, NetworkLinks.index(pair.netlink, "tun0"))).contains(
                        new TapSettings(false, OptionalInt.empty(), OptionalInt.empty(), true, false, false));
                tun.setPersistent(false);
            }
        });
    }

    @Test
    void tapSaysWhoMayOpenIt() throws Exception {
        VethPair.run(1500, pair -> {
            VethPair.ip("tuntap", "add", "dev", "theirs", "mode", "tap", "user", "65534", "group", "65533",
                    "multi_queue");
            TapSettings s = TapSettings.of(pair.netlink, NetworkLinks.index(pair.netlink, "theirs")).orElseThrow();
            assertThat(s).isEqualTo(new TapSettings(true, OptionalInt.of(65534), OptionalInt.of(65533), true, true,
                    false));
            assertThat(s.isAllowed()).as("with CAP_NET_ADMIN").isTrue();
            assertThat(new TapSettings(true, OptionalInt.empty(), OptionalInt.empty(), true, false, true).isAllowed())
                    .isTrue();
            assertThat(TapSettings.of(pair.netlink, pair.one)).isEmpty();
            VethPair.ip("tuntap", "del", "dev", "theirs", "mode", "tap", "multi_queue");
        });
    }

    @Test
    void featuresAndQueuesChange() throws Exception {
        VethPair.run(1500, pair -> {
            assertThat(NetworkLinks.kind(pair.netlink, pair.one)).isEqualTo(new NetworkLinks.Kind("veth", true, false));
            assertThat(NetworkLinks.kind(pair.netlink, NetworkLinks.index(pair.netlink, "lo")).isVirtual()).isTrue();
            for (EthtoolFeatures.Feature f : EthtoolFeatures.Feature.values()) {
                boolean before = EthtoolFeatures.isOn("one", f);
                EthtoolFeatures.set("one", f, !before);
                assertThat(EthtoolFeatures.isOn("one", f)).as(f.toString()).isEqualTo(!before);
                EthtoolFeatures.set("one", f, before);
            }
            EthtoolFeatures.Channels channels = EthtoolFeatures.channels("one");
            assertThat(channels.receiving()).isEqualTo(1);
            assertThat(channels.maxReceive()).isPositive();
            assertThatThrownBy(() -> EthtoolFeatures.channels("nothing")).isInstanceOfSatisfying(LinuxException.class,
                    e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
            assertThatThrownBy(() -> EthtoolFeatures.channels("a name that is too long")).isInstanceOf(
                    IllegalArgumentException.class);
        });
    }

    @Test
    void placesAreChecked() {
        IoVectors v = new IoVectors(2);
        MemorySegment memory = Arena.ofAuto().allocate(8);
        assertThatThrownBy(() -> v.add(memory, 4, 5)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> v.add(MemorySegment.ofArray(new byte[8]), 0, 8)).isInstanceOf(
                IllegalArgumentException.class);
        v.add(memory, 0, 8).add(memory, 8, 0);
        assertThatThrownBy(() -> v.add(memory, 0, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(v.clear().byteSize()).isZero();
    }
}
