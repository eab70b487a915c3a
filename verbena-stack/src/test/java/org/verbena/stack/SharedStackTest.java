// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.NoRouteToHostException;
import java.net.PortUnreachableException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Await;
import org.verbena.testkit.TapInterface;
import org.verbena.testkit.TwoHosts;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** A stack that shares an interface and its addresses with the kernel, which keeps using them. */
final class SharedStackTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int BYTES = 5_000_000;

    /** What a test does on the first host, with a stack on its interface. */
    private interface Action {
        void run(Stack stack, TwoHosts.Peer peer) throws Exception;
    }

    private static void share(Action action) throws Exception {
        TwoHosts.run(NetworkNamespace::callInNew, peer -> {
            try (Context context = Verbs.open("xdp_vrb1"); Stack stack = Stack.open(context, StackConfig.shared())) {
                action.run(stack, peer);
            }
        });
    }

    private static byte[] bytes(long seed, int n) {
        byte[] b = new byte[n];
        new Random(seed).nextBytes(b);
        return b;
    }

    private static byte[] read(TcpSocket s) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(2 * BYTES);
        while (s.read(all) >= 0) {
            // until the end
        }
        return Arrays.copyOf(all.array(), all.position());
    }

    /** Resets that the kernel of this namespace has sent. */
    private static long resets() throws IOException {
        List<String> tcp = Files.readAllLines(Path.of("/proc/thread-self/net/snmp")).stream().filter(l -> l.startsWith(
                "Tcp:")).toList();
        List<String> names = List.of(tcp.getFirst().split(" ", -1));
        return Long.parseLong(tcp.getLast().split(" ", -1)[names.indexOf("OutRsts")]);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void bytesGoBothWaysAndTheKernelKeepsItsOwnConnections(boolean six) throws Exception {
        share((stack, peer) -> {
            InetAddress there = InetAddress.getByName(six ? TwoHosts.PEER_6 : TwoHosts.PEER);
            InetAddress here = InetAddress.getByName(six ? TwoHosts.OURS_6 : TwoHosts.OURS);
            assertThat(stack.addresses()).contains(here);
            byte[] out = bytes(1, BYTES);
            byte[] back = bytes(2, BYTES);
            try (ServerSocket server = peer.call(() -> new ServerSocket(0, 8, there));
                    ServerSocket ours = new ServerSocket(0, 8, here)) {
                Future<byte[]> got = peer.start(() -> echo(server, back));
                Future<byte[]> kernels = peer.start(() -> {
                    try (Socket s = new Socket(here, ours.getLocalPort())) {
                        s.getOutputStream().write(out);
                        s.shutdownOutput();
                        return s.getInputStream().readAllBytes();
                    }
                });
                try (TcpSocket s = stack.connectTcp(new InetSocketAddress(there, server.getLocalPort()), PATIENCE);
                        Socket k = ours.accept()) {
                    s.write(ByteBuffer.wrap(out));
                    s.shutdownOutput();
                    assertThat(k.getInputStream().readAllBytes()).isEqualTo(out);
                    k.getOutputStream().write(back);
                    k.shutdownOutput();
                    assertThat(read(s)).isEqualTo(back);
                    assertThat(kernels.get(20, TimeUnit.SECONDS)).isEqualTo(back);
                    assertThat(got.get(20, TimeUnit.SECONDS)).isEqualTo(out);
                }
            }
            try (TcpServer server = stack.listenTcp(0, 8)) {
                Future<byte[]> got = peer.start(() -> {
                    try (Socket s = new Socket(here, server.port())) {
                        s.getOutputStream().write(out);
                        s.shutdownOutput();
                        return s.getInputStream().readAllBytes();
                    }
                });
                try (TcpSocket s = server.accept(PATIENCE)) {
                    assertThat(s).isNotNull();
                    assertThat(read(s)).isEqualTo(out);
                    server.close(); // the connection stays in the stack
                    s.write(ByteBuffer.wrap(back));
                    s.shutdownOutput();
                    assertThat(got.get(20, TimeUnit.SECONDS)).isEqualTo(back);
                }
            }
            assertThat(resets()).isZero();
        });
    }

    private static byte[] echo(ServerSocket server, byte[] back) throws IOException {
        try (Socket s = server.accept()) {
            byte[] in = s.getInputStream().readAllBytes();
            s.getOutputStream().write(back);
            return in;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void datagramsGoBothWaysAlsoInFragments(boolean six) throws Exception {
        share((stack, peer) -> {
            InetAddress here = InetAddress.getByName(six ? TwoHosts.OURS_6 : TwoHosts.OURS);
            InetAddress there = InetAddress.getByName(six ? TwoHosts.PEER_6 : TwoHosts.PEER);
            try (UdpSocket socket = stack.bindUdp(7000);
                    DatagramSocket theirs = peer.call(() -> new DatagramSocket(0, there))) {
                theirs.setSoTimeout(20_000);
                UdpPeer from = new UdpPeer();
                ByteBuffer into = ByteBuffer.allocateDirect(65_536);
                for (int n : new int[] {0, 1, 1400, 1500, 8000, 60_000}) {
                    byte[] b = bytes(n, n);
                    theirs.send(new DatagramPacket(b, n, here, 7000));
                    assertThat(socket.receive(into.clear(), from, PATIENCE)).as("%d bytes", n).isTrue();
                    assertThat(into.flip()).isEqualTo(ByteBuffer.wrap(b));
                    socket.send(into, from);
                    DatagramPacket p = new DatagramPacket(new byte[65_536], 65_536);
                    theirs.receive(p);
                    assertThat(Arrays.copyOf(p.getData(), p.getLength())).isEqualTo(b);
                    assertThat(p.getSocketAddress()).isEqualTo(new InetSocketAddress(here, 7000));
                }
            }
        });
    }

    @Test
    void aPortBelongsToTheKernelOrTheStack() throws Exception {
        share((stack, peer) -> {
            InetAddress any = InetAddress.getByName("0.0.0.0");
            try (ServerSocket s = new ServerSocket(0, 1, any); DatagramSocket d = new DatagramSocket(0, any)) {
                assertThatThrownBy(() -> stack.listenTcp(s.getLocalPort(), 1)).isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
                assertThatThrownBy(() -> stack.bindUdp(d.getLocalPort())).isInstanceOfSatisfying(VerbsException.class,
                        e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
            }
            int tcp;
            int udp;
            try (TcpServer s = stack.listenTcp(0, 1); UdpSocket d = stack.bindUdp(0)) {
                tcp = s.port();
                udp = d.port();
                assertThatThrownBy(() -> new ServerSocket(tcp, 1, any)).isInstanceOf(SocketException.class);
                assertThatThrownBy(() -> new DatagramSocket(udp, any)).isInstanceOf(SocketException.class);
                // Connections from this host reach the kernel, which resets them.
                try (Socket local = new Socket(InetAddress.getByName(TwoHosts.OURS), tcp)) {
                    assertThatThrownBy(() -> local.getInputStream().read()).isInstanceOf(SocketException.class)
                            .hasMessageContaining("reset");
                }
            }
            new ServerSocket(tcp, 1, any).close();
            new DatagramSocket(udp, any).close();
        });
    }

    @Test
    void routesAreThoseOfTheKernelAsTheyAreNow() throws Exception {
        share((stack, peer) -> {
            InetAddress far = InetAddress.getByName("10.80.0.1");
            peer.ip("address", "add", far.getHostAddress() + "/32", "dev", "lo");
            try (ServerSocket server = peer.call(() -> new ServerSocket(0, 8, far))) {
                server.setSoTimeout(2000);
                InetSocketAddress to = new InetSocketAddress(far, server.getLocalPort());
                assertThatThrownBy(() -> stack.connectTcp(to, PATIENCE)).isInstanceOf(NoRouteToHostException.class)
                        .hasMessageContaining("the kernel has no route");
                TapInterface.ip("route", "add", "10.80.0.0/16", "via", TwoHosts.PEER);
                Await.until("the route is known", () -> {
                    try (TcpSocket s = stack.connectTcp(to, PATIENCE); Socket there = server.accept()) {
                        return there.getInetAddress().equals(InetAddress.getByName(TwoHosts.OURS));
                    } catch (NoRouteToHostException e) {
                        return false;
                    }
                });
                TapInterface.ip("address", "add", "10.79.0.77/32", "dev", "vrb1");
                TapInterface.ip("route", "replace", "10.80.0.0/16", "via", TwoHosts.PEER, "src", "10.79.0.77");
                Await.until("another address is used", () -> {
                    try (TcpSocket s = stack.connectTcp(to, PATIENCE); Socket there = server.accept()) {
                        assertThat(s.localAddress()).isEqualTo(there.getRemoteSocketAddress());
                        return there.getInetAddress().equals(InetAddress.getByName("10.79.0.77"));
                    }
                });
                TapInterface.ip("route", "delete", "10.80.0.0/16");
                Await.until("the route is gone", () -> {
                    try (TcpSocket s = stack.connectTcp(to, Duration.ofMillis(500)); Socket there = server.accept()) {
                        return false;
                    } catch (NoRouteToHostException e) {
                        return true;
                    } catch (SocketTimeoutException e) {
                        return false; // the route was removed while the peer answered
                    }
                });
                InetAddress own = InetAddress.getByName(TwoHosts.OURS);
                try (TcpServer listener = stack.listenTcp(0, 8);
                        TcpSocket c = stack.connectTcp(new InetSocketAddress(own, listener.port()), PATIENCE);
                        TcpSocket a = listener.accept(PATIENCE)) {
                    assertThat(a).isNotNull();
                    c.write(ByteBuffer.wrap(new byte[] {1}));
                    assertThat(a.read(ByteBuffer.allocate(2))).isEqualTo(1);
                }
                assertThatThrownBy(() -> stack.connectTcp(new InetSocketAddress(InetAddress.getByName("127.0.0.1"),
                        1), PATIENCE)).isInstanceOf(IOException.class);
            }
        });
    }

    @Test
    void addressesComeAndGo() throws Exception {
        share((stack, peer) -> {
            InetAddress more = InetAddress.getByName("10.79.0.55");
            try (TcpServer server = stack.listenTcp(7000, 8)) {
                TapInterface.ip("address", "add", "10.79.0.55/24", "dev", "vrb1");
                Await.until("the address is known", () -> stack.addresses().contains(more));
                Future<Integer> got = peer.start(() -> {
                    try (Socket s = new Socket(more, 7000)) {
                        return s.getInputStream().read();
                    }
                });
                try (TcpSocket s = server.accept(PATIENCE)) {
                    assertThat(s).isNotNull();
                    s.write(ByteBuffer.wrap(new byte[] {42}));
                    assertThat(got.get(20, TimeUnit.SECONDS)).isEqualTo(42);
                }
                TapInterface.ip("address", "delete", "10.79.0.55/24", "dev", "vrb1");
                Await.until("the address is gone", () -> !stack.addresses().contains(more));
            }
            assertThat(resets()).isZero();
        });
    }

    @Test
    void aConnectionOutlivesAnotherEthernetAddressOfThePeerAndAnInterfaceThatWasDown() throws Exception {
        share((stack, peer) -> {
            InetAddress there = InetAddress.getByName(TwoHosts.PEER);
            try (ServerSocket server = peer.call(() -> new ServerSocket(0, 8, there));
                    TcpSocket s = stack.connectTcp(new InetSocketAddress(there, server.getLocalPort()), PATIENCE);
                    Socket k = server.accept()) {
                for (int i = 0; i < 4; i++) {
                    int n = i;
                    switch (i) {
                        case 1 -> {
                            peer.ip("link", "set", "vrb0", "address", "02:00:00:00:79:79");
                            TapInterface.ip("neighbour", "flush", "dev", "vrb1");
                        }
                        case 2 -> {
                            TapInterface.ip("link", "set", "vrb1", "down");
                            TapInterface.ip("link", "set", "vrb1", "up");
                        }
                        case 3 -> {
                            TapInterface.ip("link", "set", "vrb1", "address", "02:00:00:00:79:78");
                            peer.ip("neighbour", "flush", "dev", "vrb0");
                        }
                        default -> {
                            // nothing yet
                        }
                    }
                    s.write(ByteBuffer.wrap(new byte[] {(byte) n}));
                    assertThat(k.getInputStream().read()).isEqualTo(n);
                    k.getOutputStream().write(n);
                    ByteBuffer b = ByteBuffer.allocate(1);
                    s.read(b);
                    assertThat(b.get(0)).isEqualTo((byte) n);
                }
            }
        });
    }

    @Test
    void anAddressWhosePacketsAnotherHasDoesNoHarm() throws Exception {
        share((stack, peer) -> {
            InetAddress more = InetAddress.getByName("10.79.0.55");
            try (TcpServer server = stack.listenTcp(7000, 8);
                    Context other = Verbs.open("xdp_vrb1");
                    ProtectionDomain pd = other.allocateProtectionDomain();
                    CompletionQueue cq = other.createCompletionQueue(8);
                    QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(
                            QueuePairType.RAW_PACKET).build())) {
                Flow theirs = qp.createFlow(FlowAttributes.builder().spec(FlowSpec.ipv4().match(
                        FlowField.IPV4_DESTINATION, 0x0a4f_0037)).spec(FlowSpec.tcp().match(FlowField.DESTINATION_PORT,
                                7000)).build());
                TapInterface.ip("address", "add", "10.79.0.55/24", "dev", "vrb1");
                Await.until("the address is known", () -> stack.addresses().contains(more));
                try (TcpServer another = stack.listenTcp(0, 8)) {
                    assertThat(another.port()).isPositive();
                }
                theirs.close();
                Await.until("the packets come after all", () -> {
                    Future<Integer> got = peer.start(() -> {
                        try (Socket s = new Socket()) {
                            s.connect(new InetSocketAddress(more, 7000), 500);
                            return s.getInputStream().read();
                        } catch (IOException e) {
                            return -2;
                        }
                    });
                    try (TcpSocket s = server.accept(Duration.ofMillis(500))) {
                        if (s != null) {
                            s.write(ByteBuffer.wrap(new byte[] {42}));
                        }
                        return got.get(20, TimeUnit.SECONDS) == 42;
                    }
                });
            }
        });
    }

    @Test
    void whenTheInterfaceGoesSocketsCanBeClosedAndTheKernelHasThePorts() throws Exception {
        share((stack, peer) -> {
            UdpSocket socket = stack.bindUdp(7000);
            socket.join(InetAddress.getByName("239.1.2.3"));
            TapInterface.ip("link", "delete", "vrb1");
            Await.until("the stack has failed", () -> {
                try {
                    socket.receive(ByteBuffer.allocate(1), new UdpPeer(), Duration.ofMillis(100));
                    return false;
                } catch (IOException e) {
                    return true;
                }
            });
            new DatagramSocket(7000, InetAddress.getByName("0.0.0.0")).close();
            stack.close();
            socket.close();
        });
    }

    @Test
    void groupsAreJoinedByTheKernel() throws Exception {
        share((stack, peer) -> {
            InetAddress group = InetAddress.getByName("239.1.2.3");
            InetAddress there = InetAddress.getByName(TwoHosts.PEER);
            UdpPeer from = new UdpPeer();
            ByteBuffer into = ByteBuffer.allocate(3000);
            try (UdpSocket socket = stack.bindUdp(7000);
                    DatagramChannel sender = peer.call(() -> DatagramChannel.open(StandardProtocolFamily.INET).bind(
                            new InetSocketAddress(there, 0)).setOption(StandardSocketOptions.IP_MULTICAST_IF,
                                    NetworkInterface.getByName("vrb0")))) {
                socket.join(group, there);
                assertThat(TapInterface.ip("maddress", "show", "dev", "vrb1")).contains("239.1.2.3");
                for (int n : new int[] {3, 2000}) { // the second one in fragments
                    assertThat(sender.send(ByteBuffer.wrap(bytes(n, n)), new InetSocketAddress(group, 7000))).isEqualTo(
                            n);
                    assertThat(socket.receive(into.clear(), from, PATIENCE)).as("%d bytes", n).isTrue();
                    assertThat(into.flip()).isEqualTo(ByteBuffer.wrap(bytes(n, n)));
                }
                socket.leave(group, there);
                assertThat(TapInterface.ip("maddress", "show", "dev", "vrb1")).doesNotContain("239.1.2.3");
                socket.join(group, InetAddress.getByName("10.79.0.9"));
                assertThat(sender.send(ByteBuffer.allocate(1), new InetSocketAddress(group, 7000))).isEqualTo(1);
                assertThat(socket.receive(into.clear(), from, Duration.ofMillis(100))).isFalse();
            }
        });
    }

    @Test
    void errorsOfIcmpComeToTheSocketsOfTheStack() throws Exception {
        share((stack, peer) -> {
            InetAddress there = InetAddress.getByName(TwoHosts.PEER);
            assertThatThrownBy(() -> stack.connectTcp(new InetSocketAddress(there, 9), PATIENCE)).isInstanceOf(
                    ConnectException.class);
            try (UdpSocket s = stack.bindUdp(0)) {
                UdpPeer to = UdpPeer.of(new InetSocketAddress(there, 9));
                s.connect(to);
                s.send(ByteBuffer.allocate(1), to);
                assertThatThrownBy(() -> {
                    for (int i = 0; i < 100; i++) {
                        s.receive(ByteBuffer.allocate(1), new UdpPeer(), Duration.ofMillis(100));
                    }
                }).isInstanceOf(PortUnreachableException.class);
            }
        });
    }

    @Test
    void whatCannotBeSharedIsRefused() throws Exception {
        TwoHosts.run(NetworkNamespace::callInNew, peer -> {
            TapInterface.ip("address", "flush", "dev", "vrb1");
            try (Context context = Verbs.open("xdp_vrb1")) {
                assertThatThrownBy(() -> Stack.open(context, StackConfig.shared())).isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EADDRNOTAVAIL))
                        .hasMessageContaining("ip address add");
            }
            TapInterface.addUp("vrb2", "10.77.0.1/24");
            try (Context context = Verbs.open("tap_vrb2")) {
                assertThatThrownBy(() -> Stack.open(context, StackConfig.shared())).isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP));
            }
        });
        assertThatThrownBy(() -> StackConfig.shared().withAddress("10.0.0.1/8")).isInstanceOf(
                IllegalArgumentException.class);
        assertThatThrownBy(() -> StackConfig.shared().withIpv6()).isInstanceOf(IllegalArgumentException.class);
        assertThat(StackConfig.shared().withSpin(Duration.ZERO)).hasToString("shared with the kernel");
    }
}
