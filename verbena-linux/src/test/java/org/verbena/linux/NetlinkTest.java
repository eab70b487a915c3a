// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import org.verbena.testkit.Descriptors;

class NetlinkTest {
    private static ByteBuffer bytes(int... values) {
        byte[] b = new byte[values.length];
        for (int i = 0; i < b.length; i++) {
            b[i] = (byte) values[i];
        }
        return ByteBuffer.wrap(b).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static void assertErrno(int errno, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(LinuxException.class, e -> assertThat(e.errno()).isEqualTo(
                errno));
    }

    @Test
    void requestsAreWellFormed() {
        NetlinkRequest r = new NetlinkRequest(20, NetlinkRequest.NLM_F_EXCL).append(new byte[] {1, 2, 3});
        r.attribute(3, "ab").nest(18, () -> r.attribute(1, 7));
        assertThat(r.bytes(9, NetlinkRequest.NLM_F_ACK)).containsExactly(
                40, 0, 0, 0, 20, 0, 5, 2, 9, 0, 0, 0, 0, 0, 0, 0,
                1, 2, 3, 0,
                7, 0, 3, 0, 'a', 'b', 0, 0,
                12, 0, 18, 0x80, 8, 0, 1, 0, 7, 0, 0, 0);
        assertThatThrownBy(() -> r.append(new byte[NetlinkRequest.MAX_BYTES])).isInstanceOf(
                IllegalArgumentException.class).hasMessageContaining("4096");
        assertThatThrownBy(() -> r.attribute(0x4000, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new NetlinkRequest(-1, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void malformedAttributesThrow() throws Exception {
        List<NetlinkReply.Attribute> two = NetlinkReply.parse(bytes(0, 0, 0, 0, 5, 0, 1, 0x80, 9, 0, 0, 0, 4, 0, 2, 0),
                4);
        assertThat(two).extracting(NetlinkReply.Attribute::type).containsExactly(1, 2);
        assertThat(two.getFirst().value().remaining()).isEqualTo(1);
        assertErrno(Errno.EBADMSG, () -> two.getFirst().integer());
        assertErrno(Errno.EBADMSG, () -> two.getFirst().unsignedShort());
        assertThat(two.getLast().text()).isEmpty();
        assertErrno(Errno.EBADMSG, () -> NetlinkReply.parse(bytes(3, 0, 1, 0), 0));
        assertErrno(Errno.EBADMSG, () -> NetlinkReply.parse(bytes(0, 0, 0, 0), 0));
        assertErrno(Errno.EBADMSG, () -> NetlinkReply.parse(bytes(9, 0, 1, 0, 1, 2, 3, 4), 0));
        assertThat(NetlinkReply.parse(bytes(1, 2, 3), 0)).isEmpty();
        assertThat(NetlinkReply.parse(bytes(1, 2), 16)).isEmpty();
        assertThat(new NetlinkReply.Attribute(1, bytes('a', 'b', 0, 'c')).text()).isEqualTo("ab");
        assertThat(new NetlinkReply.Attribute(1, bytes('a', 'b')).text()).isEqualTo("ab");
    }

    /** The universal/local bit is inverted both ways (RFC 4291, appendix A). */
    @Test
    void ethernetAddressIsFoundInTheEui64() {
        NetworkLinks.Link link = new NetworkLinks.Link(1, "a", 1500, true, false, List.of((byte) 0x12, (byte) 0x34,
                (byte) 0x56, (byte) 0x78, (byte) 0x9a, (byte) 0xbc));
        assertThat(link.eui64()).isEqualTo(0x1034_56ff_fe78_9abcL);
        assertThat(NetworkLinks.Link.ethernetAddress(link.eui64())).isEqualTo(0x1234_5678_9abcL);
    }

    @Test
    void familiesAreFoundByName() throws Exception {
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_GENERIC)) {
            GenericNetlink.Family control = GenericNetlink.family(netlink, "nlctrl").orElseThrow();
            assertThat(control.id()).isEqualTo(GenericNetlink.GENL_ID_CTRL);
            assertThat(control.commands()).contains(GenericNetlink.CTRL_CMD_GETFAMILY);
            assertThat(GenericNetlink.family(netlink, "no_such_family")).isEmpty();
            assertThatThrownBy(() -> GenericNetlink.family(netlink, "a name that is far too long")).isInstanceOf(
                    IllegalArgumentException.class);
            assertThatThrownBy(() -> GenericNetlink.family(netlink, "")).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void interfaceIndexMatchesJava() throws Exception {
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
            for (NetworkInterface i : NetworkInterface.networkInterfaces().toList()) {
                assertThat(NetworkLinks.index(netlink, i.getName())).isEqualTo(i.getIndex());
            }
            assertErrno(Errno.ENODEV, () -> NetworkLinks.index(netlink, "none77"));
            assertErrno(Errno.ENODEV, () -> NetworkLinks.setUp(netlink, Integer.MAX_VALUE));
            assertErrno(Errno.ENODEV, () -> NetworkLinks.setMtu(netlink, Integer.MAX_VALUE, 1500));
            assertThatThrownBy(() -> NetworkLinks.setUp(netlink, 0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> NetworkLinks.index(netlink, "")).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void socketIsUsableAfterError() throws Exception {
        GenericNetlink.Family absent = new GenericNetlink.Family("x", 0x3ff, 1, List.of());
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_GENERIC)) {
            for (int i = 0; i < 3; i++) {
                assertErrno(Errno.ENOENT, () -> netlink.request(absent.request(1, 0), "ask"));
                assertThat(GenericNetlink.family(netlink, "nlctrl")).isPresent();
            }
        }
        assertThatThrownBy(() -> Netlink.open(32)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void dumpsAreComplete() throws Exception {
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
            List<NetlinkReply> all = netlink.request(new NetlinkRequest(NetworkLinks.RTM_GETLINK,
                    NetlinkRequest.NLM_F_DUMP).append(new byte[NetworkLinks.IFINFOMSG_BYTES]), "dump");
            List<String> names = new ArrayList<>();
            for (NetlinkReply r : all) {
                names.add(r.attribute(NetworkLinks.IFINFOMSG_BYTES, NetworkLinks.IFLA_IFNAME).orElseThrow().text());
            }
            try (Stream<Path> known = Files.list(Path.of("/sys/class/net"))) {
                assertThat(names).containsExactlyInAnyOrderElementsOf(
                        known.filter(Files::isDirectory).map(p -> p.getFileName().toString()).toList());
            }
        }
    }

    @Test
    void peerSocketIsFound() throws Exception {
        for (String host : List.of("127.0.0.1", "::1")) {
            InetAddress loopback = InetAddress.getByName(host);
            if (NetworkInterface.getByInetAddress(loopback) == null) {
                System.out.println("NetlinkTest: not tried, this machine has no address " + host);
                continue;
            }
            try (SockDiag diag = SockDiag.open();
                    ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(loopback, 0));
                    SocketChannel client = SocketChannel.open(server.getLocalAddress());
                    SocketChannel _ = server.accept()) {
                InetSocketAddress from = (InetSocketAddress) client.getLocalAddress();
                InetSocketAddress to = (InetSocketAddress) server.getLocalAddress();
                SockDiag.TcpSocket end = diag.find(from, to).orElseThrow();
                SockDiag.TcpSocket other = diag.find(to, from).orElseThrow();
                assertThat(end.state()).isEqualTo(1);
                assertThat(end.uid()).isEqualTo(Sys.uid());
                assertThat(end.cookie()).isNotEqualTo(other.cookie());
                assertThat(diag.find(from, to)).as("it is the same one every time").contains(end);
                assertThat(inodes()).contains(String.valueOf(end.inode()), String.valueOf(other.inode()));
                assertThat(end.inode()).isNotEqualTo(other.inode());
                assertThat(diag.find(from, new InetSocketAddress(loopback, 1))).isEqualTo(Optional.empty());
                assertThat(diag.find(to, new InetSocketAddress(loopback, 1))).as("not the listening socket")
                        .isEqualTo(Optional.empty());
            }
        }
    }

    /** Each end's address has the scope id of its own interface; both sockets are bound to theirs. */
    @Test
    void linkLocalPeerOnSameHostIsFound() throws Exception {
        NetworkNamespace.callInNew(() -> {
            try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE); SockDiag diag = SockDiag.open()) {
                NetworkLinks.createVeth(netlink, "one", "other");
                int one = NetworkLinks.index(netlink, "one");
                int other = NetworkLinks.index(netlink, "other");
                NetworkAddresses.add(netlink, one, InetAddress.getByName("fe80::1"), 64);
                NetworkAddresses.add(netlink, other, InetAddress.getByName("fe80::2"), 64);
                for (int up : new int[] {NetworkLinks.index(netlink, "lo"), one, other}) {
                    NetworkLinks.setUp(netlink, up);
                }
                findsBothEnds(diag, scoped("fe80::1", one), scoped("fe80::1", one));
                findsBothEnds(diag, scoped("fe80::2", other), scoped("fe80::2", one));
                findsBothEnds(diag, scoped("fe80::1", one), scoped("fe80::1", other));
                findsBothEnds(diag, InetAddress.getByName("::"), scoped("fe80::2", one));
            }
            return 0;
        });
    }

    private static InetAddress scoped(String address, int index) throws Exception {
        return Inet6Address.getByAddress(null, InetAddress.getByName(address).getAddress(), index);
    }

    private static void findsBothEnds(SockDiag diag, InetAddress bound, InetAddress to) throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(bound, 0));
                SocketChannel client = SocketChannel.open(new InetSocketAddress(to, server.socket().getLocalPort()));
                SocketChannel accepted = server.accept()) {
            SockDiag.TcpSocket one = own(diag, client);
            SockDiag.TcpSocket other = own(diag, accepted);
            assertThat(one).isNotEqualTo(other);
            assertThat(peer(diag, client)).contains(other);
            assertThat(peer(diag, accepted)).contains(one);
        }
    }

    private static SockDiag.TcpSocket own(SockDiag diag, SocketChannel c) throws Exception {
        return diag.find((InetSocketAddress) c.getLocalAddress(), (InetSocketAddress) c.getRemoteAddress())
                .orElseThrow();
    }

    private static Optional<SockDiag.TcpSocket> peer(SockDiag diag, SocketChannel c) throws Exception {
        return diag.find((InetSocketAddress) c.getRemoteAddress(), (InetSocketAddress) c.getLocalAddress());
    }

    /** The inodes of this process's sockets, by its descriptors. */
    private static List<String> inodes() throws Exception {
        return Descriptors.targets().stream().filter(l -> l.startsWith("socket:[")).map(l -> l.substring(8, l.length()
                - 1))
                .toList();
    }

    @Test
    void addressesOfDifferentFamiliesAreRejected() throws Exception {
        try (SockDiag diag = SockDiag.open()) {
            InetSocketAddress four = new InetSocketAddress("127.0.0.1", 1);
            assertThatThrownBy(() -> diag.find(four, new InetSocketAddress("::1", 1))).isInstanceOf(
                    IllegalArgumentException.class);
            assertThatThrownBy(() -> diag.find(InetSocketAddress.createUnresolved("x", 1), four)).isInstanceOf(
                    IllegalArgumentException.class);
        }
    }

    @Test
    void interfacesAndTheirAddresses() throws Exception {
        NetworkNamespace.callInNew(() -> {
            try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
                NetworkLinks.createVeth(netlink, "one", "other");
                int one = NetworkLinks.index(netlink, "one");
                NetworkLinks.setUp(netlink, one);
                NetworkAddresses.add(netlink, one, InetAddress.getByName("10.9.8.7"), 24);
                NetworkAddresses.add(netlink, one, InetAddress.getByName("fd00::9"), 64);
                assertErrno(Errno.EEXIST, () -> NetworkAddresses.add(netlink, one, InetAddress.getByName("10.9.8.7"),
                        24));
                List<NetworkLinks.Link> links = NetworkLinks.list(netlink);
                assertThat(links).extracting(NetworkLinks.Link::name).containsExactlyInAnyOrder("lo", "one", "other");
                for (NetworkLinks.Link link : links) {
                    assertThat(link.up()).as(link + ": a veth has a link when both ends are up").isFalse();
                    assertThat(link.loopback()).isEqualTo(link.name().equals("lo"));
                    assertThat(link.mtu()).isEqualTo(link.loopback() ? 65536 : 1500);
                    assertThat(link.hardwareAddress()).hasSize(6);
                }
                NetworkLinks.setUp(netlink, NetworkLinks.index(netlink, "other"));
                long end = System.nanoTime() + 10_000_000_000L; // the kernel reports it a little later
                List<NetworkLinks.Link> up = List.of();
                while (up.size() < 2 && System.nanoTime() < end) {
                    up = NetworkLinks.list(netlink).stream().filter(NetworkLinks.Link::up).toList();
                }
                assertThat(up).extracting(NetworkLinks.Link::name).containsExactlyInAnyOrder("one", "other");
                assertThat(NetworkAddresses.list(netlink)).contains(
                        new NetworkAddresses.Entry(one, InetAddress.getByName("10.9.8.7"), 24),
                        new NetworkAddresses.Entry(one, InetAddress.getByName("fd00::9"), 64));
            }
            return 0;
        });
    }
}
