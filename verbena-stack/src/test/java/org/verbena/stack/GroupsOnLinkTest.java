// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.MembershipKey;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.stack.StackLink.Link;
import org.verbena.testkit.Await;
import org.verbena.testkit.Finished;
import org.verbena.testkit.TapInterface;
import org.verbena.verbs.VerbsException;

/** Groups of hosts behind a bridge of the kernel, which sends to ports that have told of a group, and to no others. */
final class GroupsOnLinkTest {
    private static String members(String group) throws Exception {
        Finished f = Finished.run(List.of("bridge", "-d", "mdb", "show", "dev", "br0"));
        assertThat(f.code()).as(f.output()).isZero();
        return String.join("\n", f.output().lines().filter(l -> l.contains(group)).toList());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theSwitchKnowsWhatTheStackTakes(boolean six) throws Exception {
        String kernel = six ? StackLink.KERNEL_6 : StackLink.KERNEL;
        String ours = six ? StackLink.OURS_6 + "/64" : StackLink.OURS + "/24";
        String group = six ? "ff12::1234" : "239.1.2.3";
        StackLink.run(Link.TAP, "fd00:79::1/64", StackConfig.of(ours), stack -> {
            TapInterface.ip("link", "add", "br0", "type", "bridge", "mcast_snooping", "1", "mcast_querier", "1",
                    "mcast_igmp_version", "3", "mcast_mld_version", "2", "mcast_query_use_ifaddr", "1",
                    "mcast_last_member_interval", "10", "mcast_startup_query_interval", "100");
            TapInterface.ip("link", "set", "vrb0", "master", "br0");
            TapInterface.ip(six
                    ? new String[] {"address", "add", kernel + "/64", "dev", "br0", "nodad"}
                    : new String[] {"address", "add", kernel + "/24", "dev", "br0"});
            TapInterface.ip("link", "set", "br0", "up");
            InetAddress g = InetAddress.getByName(group);
            InetAddress k = InetAddress.getByName(kernel);
            InetSocketAddress to = new InetSocketAddress(six ? scoped(g) : g, 7);
            ByteBuffer into = ByteBuffer.allocate(100);
            UdpPeer from = new UdpPeer();
            try (UdpSocket socket = stack.bindUdp(7);
                    DatagramChannel sender = DatagramChannel.open(family(g)).bind(new InetSocketAddress(k, 0))) {
                if (!six) {
                    sender.setOption(StandardSocketOptions.IP_MULTICAST_IF, NetworkInterface.getByName("br0"));
                }
                assertThat(members(group)).isEmpty();
                socket.join(g);
                Await.until("the bridge knows", () -> members(group).contains("vrb0"));
                Await.until("a datagram comes", () -> {
                    sender.send(ByteBuffer.wrap(new byte[] {1, 2, 3}), to);
                    return socket.receive(into.clear(), from, Duration.ofMillis(100));
                });
                assertThat(into.flip()).isEqualTo(ByteBuffer.wrap(new byte[] {1, 2, 3}));
                assertThat(from.toSocketAddress().getAddress()).isEqualTo(k);
                assertThatThrownBy(() -> socket.join(g)).isInstanceOf(VerbsException.class).hasMessageContaining(g
                        .getHostAddress());
                socket.block(g, k);
                while (socket.receive(into.clear(), from, Duration.ZERO)) {
                    // what had come before
                }
                sender.send(ByteBuffer.allocate(1), to);
                long before = stack.statistics().framesIn();
                Await.until("the bridge knows who is blocked", () -> members(group).contains("source_list"));
                assertThat(members(group)).contains("filter_mode exclude");
                assertThat(stack.statistics().framesIn()).isGreaterThanOrEqualTo(before);
                assertThat(socket.receive(into.clear(), from, Duration.ZERO)).isFalse();
                socket.leave(g);
                socket.join(g, k);
                Await.until("a datagram of that host comes", () -> {
                    sender.send(ByteBuffer.wrap(new byte[] {1, 2, 3}), to);
                    return socket.receive(into.clear(), from, Duration.ofMillis(100));
                });
                socket.leave(g, k);
                Await.until("the bridge knows that nobody is left", () -> !members(group).contains("vrb0"));
            }
            if (!six) { // the JDK looks for interfaces of IPv6 in another namespace
                theKernelTakesWhatTheStackSends(stack, g);
            }
        });
    }

    private static InetAddress scoped(InetAddress a) throws Exception {
        String index = TapInterface.ip("-o", "link", "show", "br0").split(":", 2)[0];
        return Inet6Address.getByAddress(null, a.getAddress(), Integer.parseInt(index));
    }

    private static StandardProtocolFamily family(InetAddress a) {
        return a instanceof Inet6Address ? StandardProtocolFamily.INET6 : StandardProtocolFamily.INET;
    }

    private static void theKernelTakesWhatTheStackSends(Stack stack, InetAddress group) throws Exception {
        try (UdpSocket socket = stack.bindUdp(9);
                DatagramChannel receiver = DatagramChannel.open(StandardProtocolFamily.INET)) {
            receiver.bind(new InetSocketAddress(7));
            MembershipKey key = receiver.join(group, NetworkInterface.getByName("br0"));
            assertThat(key.isValid()).isTrue();
            socket.setMulticastHops(3);
            socket.send(ByteBuffer.wrap(new byte[] {9, 8}), UdpPeer.of(new InetSocketAddress(group, 7)));
            ByteBuffer into = ByteBuffer.allocate(10);
            InetSocketAddress from = (InetSocketAddress) receiver.receive(into);
            assertThat(into.flip()).isEqualTo(ByteBuffer.wrap(new byte[] {9, 8}));
            assertThat(from.getPort()).isEqualTo(9);
            assertThat(stack.addresses()).contains(from.getAddress());
        }
    }
}
