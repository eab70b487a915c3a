// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.FutureTask;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.EthtoolFeatures;
import org.verbena.linux.NetworkNamespace;
import org.verbena.stack.StackLink.Link;
import org.verbena.testkit.Capabilities;
import org.verbena.testkit.Finished;
import org.verbena.testkit.LinkState;
import org.verbena.testkit.TapInterface;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;

/** Stacks in a virtual LAN. */
final class VlanOnLinkTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static StackConfig config(String four, String six, int vlan) {
        return StackConfig.of(four + "/24").withAddress(six + "/64").withVlan(vlan);
    }

    private interface Action {
        void run(Stack a, Stack b) throws Exception;
    }

    /** Two stacks on a veth pair, or on two TAP interfaces of a bridge, where the kernel keeps the tag beside the frame on its way. */
    private static void run(boolean bridge, int vlanOfOther, Action action) throws Exception {
        StackLink.runOn(() -> {
            if (bridge) {
                TapInterface.require();
                TapInterface.add("vrb0");
                TapInterface.add("vrb1");
                TapInterface.ip("link", "add", "br0", "type", "bridge");
                TapInterface.ip("link", "set", "vrb0", "master", "br0");
                TapInterface.ip("link", "set", "vrb1", "master", "br0");
                TapInterface.ip("link", "set", "br0", "up");
            } else {
                StackLink.addVeth();
            }
            TapInterface.ip("link", "set", "vrb0", "up");
            TapInterface.ip("link", "set", "vrb1", "up");
        }, () -> {
            String kind = bridge ? "tap_" : "xdp_";
            try (Context one = Verbs.open(kind + "vrb0");
                    Context other = Verbs.open(kind + "vrb1");
                    Stack a = Stack.open(one, config(StackLink.KERNEL, StackLink.KERNEL_6, 5));
                    Stack b = Stack.open(other, config(StackLink.OURS, StackLink.OURS_6, vlanOfOther))) {
                LinkState.awaitUp("vrb0");
                LinkState.awaitUp("vrb1");
                action.run(a, b);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void stacksOfOneLanTalk(boolean bridge) throws Exception {
        run(bridge, 5, (a, b) -> {
            for (InetAddress own : b.addresses().subList(0, 2)) {
                try (TcpServer server = b.listenTcp(0, 1);
                        TcpSocket s = a.connectTcp(new InetSocketAddress(own, server.port()), PATIENCE);
                        TcpSocket t = Objects.requireNonNull(server.accept(PATIENCE))) {
                    byte[] bytes = new byte[20_000_000];
                    new Random(1).nextBytes(bytes);
                    FutureTask<byte[]> writing = Transfers.start(() -> {
                        s.write(ByteBuffer.wrap(bytes));
                        s.shutdownOutput();
                        return bytes;
                    });
                    ByteBuffer got = ByteBuffer.allocate(bytes.length + 1);
                    while (t.read(got, PATIENCE) > 0) {
                        // until the end
                    }
                    assertThat(got.flip()).isEqualTo(ByteBuffer.wrap(writing.get()));
                }
            }
            assertThat(b.tcpStatistics().malformed()).isZero();
            assertThat(a.tcpStatistics().malformed()).isZero();
            try (UdpSocket s = a.bindUdp(0); UdpSocket t = b.bindUdp(7)) {
                ByteBuffer bytes = ByteBuffer.allocate(20_000); // in fragments
                s.send(bytes, UdpPeer.of(new InetSocketAddress(StackLink.OURS, 7)));
                UdpPeer from = new UdpPeer();
                assertThat(t.receive(bytes.clear(), from, PATIENCE)).isTrue();
                assertThat(bytes.position()).isEqualTo(20_000);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void stacksOfTwoLansDoNot(boolean bridge) throws Exception {
        run(bridge, 6, (a, b) -> {
            long before = b.statistics().notForUs();
            assertThatThrownBy(() -> a.connectTcp(new InetSocketAddress(StackLink.OURS, 7), Duration.ofMillis(300)))
                    .isInstanceOf(SocketTimeoutException.class);
            assertThat(b.statistics().notForUs()).isGreaterThan(before);
        });
    }

    @Test
    void aCaptureShowsTheTag(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("frames.pcap");
        run(false, 5, (a, b) -> {
            try (StackCapture c = b.capture(file)) {
                assertThatThrownBy(() -> a.connectTcp(new InetSocketAddress(StackLink.OURS, 7), PATIENCE)).isInstanceOf(
                        ConnectException.class);
                assertThat(c.statistics().frames()).isPositive();
            }
        });
        String hex = HexFormat.of().formatHex(Files.readAllBytes(file));
        assertThat(hex).contains("81000005" + "080045").doesNotContain("81000005" + "81000005");
    }

    /** The other end is an interface of the kernel's in that LAN. */
    @ParameterizedTest
    @EnumSource
    void theKernelsInterfaceOfTheLanIsAPeer(Link link) throws Exception {
        Capabilities.requireNetworkAndBpf();
        NetworkNamespace.callInNew(() -> {
            NetworkNamespace.disableIpv6();
            link.make();
            Finished f = Finished.run(List.of("ip", "link", "add", "link", "vrb0", "name", "vrb0.5", "type", "vlan",
                    "id", "5"));
            if (f.output().contains("Unknown device type")) {
                System.out.println("SKIPPED: the kernel has no interfaces of virtual LANs (8021q)");
                Assumptions.abort("no VLAN interfaces");
            }
            assertThat(f.code()).as(f.output()).isZero();
            if (link == Link.VETH) { // or the tag stays beside the frame, where XDP does not see it
                EthtoolFeatures.set("vrb0", EthtoolFeatures.Feature.TX_VLAN, false);
            }
            TapInterface.ip("link", "set", "vrb0", "up");
            TapInterface.up("vrb0.5", StackLink.KERNEL + "/24");
            try (Context context = Verbs.open(link.device);
                    Stack stack = Stack.open(context, StackConfig.of(StackLink.OURS + "/24").withVlan(5));
                    ServerSocket server = new ServerSocket(0)) {
                LinkState.awaitUp("vrb0");
                try (TcpSocket s = stack.connectTcp(new InetSocketAddress(StackLink.KERNEL, server.getLocalPort()),
                        PATIENCE); Socket k = server.accept()) {
                    byte[] bytes = new byte[5_000_000];
                    new Random(1).nextBytes(bytes);
                    FutureTask<byte[]> there = Transfers.start(() -> k.getInputStream().readNBytes(bytes.length));
                    s.write(ByteBuffer.wrap(bytes));
                    assertThat(there.get()).isEqualTo(bytes);
                    FutureTask<byte[]> back = Transfers.start(() -> {
                        k.getOutputStream().write(bytes);
                        k.shutdownOutput();
                        return bytes;
                    });
                    ByteBuffer got = ByteBuffer.allocate(bytes.length + 1);
                    while (s.read(got, PATIENCE) > 0) {
                        // until the end
                    }
                    assertThat(got.flip()).isEqualTo(ByteBuffer.wrap(back.get()));
                }
            } finally {
                TapInterface.ip("link", "delete", "vrb0");
            }
            return 0;
        });
    }

    @Test
    void onlyNumbersOfLansAreTaken() {
        for (int bad : new int[] {-1, 0, 4095, 4096}) {
            assertThatThrownBy(() -> StackConfig.of("10.9.0.2/24").withVlan(bad)).isInstanceOf(
                    IllegalArgumentException.class).hasMessageContaining("1 to 4094");
        }
        assertThatThrownBy(() -> StackConfig.shared().withVlan(5)).isInstanceOf(IllegalArgumentException.class);
        assertThat(StackConfig.of("10.9.0.2/24").withVlan(4094).withGateway("10.9.0.1")).hasToString(
                "10.9.0.2/24 via 10.9.0.1 in VLAN 4094");
    }
}
