// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Await;
import org.verbena.testkit.Capabilities;
import org.verbena.testkit.TapInterface;

/** Routes, neighbours and ports of the kernel, and what it tells when they change. */
final class NetworkChangesTest {
    private interface Action {
        void run(Netlink netlink) throws Exception;
    }

    private static void inNamespace(Action action) throws Exception {
        Capabilities.require("make network interfaces", Capabilities.NET_ADMIN, Capabilities.SYS_ADMIN);
        NetworkNamespace.callInNew(() -> {
            try (Netlink n = Netlink.open(Netlink.NETLINK_ROUTE)) {
                NetworkLinks.createVeth(n, "vrb0", "vrb1");
                TapInterface.ip("link", "set", "lo", "up");
                TapInterface.up("vrb0", "10.84.0.1/24");
                TapInterface.ip("link", "set", "vrb1", "up");
                action.run(n);
            }
            return 0;
        });
    }

    private static InetAddress ip(String text) throws IOException {
        return InetAddress.getByName(text);
    }

    @Test
    void routesAreTheKernels() throws Exception {
        inNamespace(n -> {
            int vrb0 = NetworkLinks.index(n, "vrb0");
            assertThat(NetworkRoutes.get(n, ip("10.84.0.9"), 0)).isEqualTo(new NetworkRoutes.Route(
                    NetworkRoutes.UNICAST, vrb0, null, ip("10.84.0.1"), 0));
            assertThat(NetworkRoutes.get(n, ip("10.84.0.1"), 0).type()).isEqualTo(NetworkRoutes.LOCAL);
            assertThat(NetworkRoutes.get(n, ip("10.84.0.255"), 0).type()).isEqualTo(NetworkRoutes.BROADCAST);
            assertThatThrownBy(() -> NetworkRoutes.get(n, ip("10.85.0.1"), 0)).isInstanceOfSatisfying(
                    LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENETUNREACH));
            TapInterface.ip("route", "add", "10.85.0.0/16", "via", "10.84.0.7", "mtu", "1300");
            assertThat(NetworkRoutes.get(n, ip("10.85.0.1"), 0)).isEqualTo(new NetworkRoutes.Route(
                    NetworkRoutes.UNICAST, vrb0, ip("10.84.0.7"), ip("10.84.0.1"), 1300));
            TapInterface.ip("route", "add", "prohibit", "10.86.0.0/16");
            assertThatThrownBy(() -> NetworkRoutes.get(n, ip("10.86.0.1"), 0)).isInstanceOfSatisfying(
                    LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EACCES));
            TapInterface.ip("route", "add", "10.87.0.0/16", "via", "inet6", "fe80::7", "dev", "vrb0");
            assertThat(NetworkRoutes.get(n, ip("10.87.0.1"), 0).gateway()).isEqualTo(ip("fe80::7"));
        });
    }

    private static final int LASTING = 3_000;
    private static final int LISTS = 100;

    /** The kernel lists a long table in parts, and entries that go between two of them move others out of the list. */
    @Test
    void listsLackNoAddressThatLasts() throws Exception {
        inNamespace(n -> {
            int vrb1 = NetworkLinks.index(n, "vrb1");
            List<InetAddress> passing = new ArrayList<>();
            for (int i = 1; i <= 50; i++) {
                passing.add(ip("10.86.0." + i));
                NetworkAddresses.add(n, vrb1, passing.getLast(), 32);
            }
            Set<InetAddress> lasting = new HashSet<>();
            for (int i = 0; i < LASTING; i++) {
                InetAddress address = ip("10.85." + i / 250 + "." + (i % 250 + 1));
                NetworkAddresses.add(n, vrb1, address, 32);
                lasting.add(address);
            }
            AtomicBoolean over = new AtomicBoolean();
            try (Netlink changing = Netlink.open(Netlink.NETLINK_ROUTE);
                    ExecutorService one = Executors.newSingleThreadExecutor()) {
                Future<?> changes = one.submit(() -> {
                    for (int i = 0; !over.get(); i++) {
                        InetAddress address = passing.get(i % passing.size());
                        removeAddress(changing, vrb1, address);
                        NetworkAddresses.add(changing, vrb1, address, 32);
                        LockSupport.parkNanos(2_000_000); // a list is to be had in between
                    }
                    return null;
                });
                try {
                    for (int i = 0; i < LISTS; i++) {
                        Set<InetAddress> missing = new HashSet<>(lasting);
                        NetworkAddresses.list(n).forEach(entry -> missing.remove(entry.address()));
                        assertThat(missing).as("list %s", i).isEmpty();
                    }
                } finally {
                    over.set(true);
                }
                changes.get();
            }
        });
    }

    private static void removeAddress(Netlink netlink, int link, InetAddress address) throws LinuxException {
        byte[] header = ByteBuffer.allocate(NetworkAddresses.IFADDRMSG_BYTES).order(ByteOrder.nativeOrder()).put(0,
                (byte) UdpHeaders.AF_INET).put(NetworkAddresses.IFADDRMSG_PREFIX, (byte) 32).putInt(
                        NetworkAddresses.IFADDRMSG_INDEX, link)
                .array();
        netlink.request(new NetlinkRequest(NetworkAddresses.RTM_DELADDR, 0).append(header).attribute(
                NetworkAddresses.IFA_LOCAL, address.getAddress()), "netlink RTM_DELADDR");
    }

    @Test
    void neighboursAreToldAndFound() throws Exception {
        inNamespace(n -> {
            int vrb0 = NetworkLinks.index(n, "vrb0");
            assertThat(NetworkNeighbours.find(n, vrb0, ip("10.84.0.2"))).isEmpty();
            List<NetworkNeighbours.Neighbour> told = new ArrayList<>();
            try (NetlinkEvents events = NetlinkEvents.open(NetlinkEvents.NEIGHBOURS)) {
                TapInterface.ip("neighbour", "add", "10.84.0.2", "lladdr", "02:00:00:00:00:02", "dev", "vrb0");
                TapInterface.ip("neighbour", "delete", "10.84.0.2", "dev", "vrb0");
                Await.until("two messages", () -> {
                    assertThat(events.read(m -> told.addAll(neighbour(m)), 100)).isEqualTo(NetlinkEvents.COMPLETE);
                    return told.stream().filter(t -> t.interfaceIndex() == vrb0 && t.state() == 0).count() == 1;
                });
            }
            assertThat(told).contains(new NetworkNeighbours.Neighbour(vrb0, ip("10.84.0.2"),
                    NetworkNeighbours.PERMANENT, 0x0200_0000_0002L));
            TapInterface.ip("neighbour", "replace", "10.84.0.2", "lladdr", "02:00:00:00:00:02", "dev", "vrb0");
            assertThat(NetworkNeighbours.find(n, vrb0, ip("10.84.0.2")).orElseThrow().isKnown()).isTrue();
            NetworkNeighbours.use(n, vrb0, ip("10.84.0.3"));
            assertThat(NetworkNeighbours.find(n, vrb0, ip("10.84.0.3")).orElseThrow().isKnown()).isFalse();
        });
    }

    private static List<NetworkNeighbours.Neighbour> neighbour(NetlinkReply m) {
        try {
            return NetworkNeighbours.of(m).stream().toList();
        } catch (LinuxException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aReaderLearnsThatMessagesWereLost() throws Exception {
        inNamespace(n -> {
            int lo = NetworkLinks.index(n, "lo");
            try (NetlinkEvents events = NetlinkEvents.open(NetlinkEvents.ADDRESSES)) {
                for (int i = 0; i < 3000; i++) {
                    NetworkAddresses.add(n, lo, ip("127.1." + i / 250 + "." + (1 + i % 250)), 32);
                }
                int[] changes = new int[1];
                assertThat(events.read(m -> changes[0] += NetworkAddresses.isChange(m) ? 1 : 0, 1)).isEqualTo(
                        NetlinkEvents.LOST);
                int left;
                do {
                    left = events.read(m -> changes[0] += NetworkAddresses.isChange(m) ? 1 : 0, 10);
                } while (left == NetlinkEvents.MORE);
                assertThat(left).isEqualTo(NetlinkEvents.COMPLETE);
                assertThat(changes[0]).isBetween(1, 2999);
                NetworkAddresses.add(n, lo, ip("127.2.0.1"), 32);
                assertThat(events.read(m -> changes[0] = NetworkAddresses.isChange(m) ? -1 : 0, 10)).isEqualTo(
                        NetlinkEvents.COMPLETE);
                assertThat(changes[0]).isEqualTo(-1);
            }
        });
    }

    @Test
    void aReservedPortIsOfNoOtherSocketAndRefusesWhoComesAnotherWay() throws Exception {
        inNamespace(n -> {
            InetAddress own = ip("10.84.0.1");
            try (ServerSocket s = new ServerSocket(0, 1, own)) {
                assertThatThrownBy(() -> TcpPortReservation.open(s.getLocalPort(), 1)).isInstanceOfSatisfying(
                        LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
            }
            try (TcpPortReservation r = TcpPortReservation.open(7000, NetworkLinks.index(n, "vrb0"))) {
                assertThatThrownBy(() -> new ServerSocket(7000, 1, own)).isInstanceOf(SocketException.class);
                assertThat(r.refuse()).isZero();
                try (Socket local = new Socket(own, 7000)) {
                    Await.until("it was reset", () -> r.refuse() == 1);
                    assertThatThrownBy(() -> local.getInputStream().read()).isInstanceOf(SocketException.class);
                }
            }
            // From the interface itself there is silence: here it is the loopback.
            try (TcpPortReservation r = TcpPortReservation.open(7000, NetworkLinks.index(n, "lo"));
                    Socket local = new Socket()) {
                assertThatThrownBy(() -> local.connect(new InetSocketAddress(own, 7000), (int) Duration.ofMillis(200)
                        .toMillis())).isInstanceOf(java.net.SocketTimeoutException.class);
                assertThat(r.refuse()).isZero();
            }
            new ServerSocket(7000, 1, own).close();
        });
    }
}
