// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.stack.StackLink.Link;
import org.verbena.testkit.Await;
import org.verbena.testkit.Capabilities;
import org.verbena.testkit.Finished;
import org.verbena.testkit.TapInterface;

/** The stack's IPv6 with the kernel's: ping(8), UDP and TCP of all sizes, refusals, and both versions of IP at once. */
final class Ipv6OnLinkTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static void ping(String host, int answers, String... more) throws Exception {
        List<String> command = new ArrayList<>(List.of("ping", "-6", "-c", String.valueOf(answers), "-i", "0.01", "-w",
                "20", host));
        command.addAll(List.of(more));
        Finished f = Finished.run(command);
        assertThat(f.code()).as(command + ": " + f.output()).isZero();
    }

    @ParameterizedTest
    @EnumSource(Link.class)
    void pingOfEachSizeIsAnswered(Link link) throws Exception {
        StackLink.runIpv6(link, stack -> {
            for (String size : new String[] {"0", "56", "1452", "1453", "8000", "65507"}) {
                ping(StackLink.OURS_6, 3, "-s", size);
            }
            InetAddress near = stack.addresses().getLast();
            assertThat(near.isLinkLocalAddress()).isTrue();
            ping(near.getHostAddress() + "%vrb0", 3);
            ping("ff02::1%vrb0", 1);
            assertThat(TapInterface.ip("-6", "neigh", "show", StackLink.OURS_6)).matches(
                    "(?s).*(REACHABLE|STALE|DELAY).*");
            assertThat(stack.statistics().reassembled()).isGreaterThanOrEqualTo(9);
            assertThat(stack.statistics().malformed()).isZero();
            assertThat(stack.statistics().conflicts()).isZero();
        });
    }

    @ParameterizedTest
    @EnumSource(Link.class)
    void datagramsOfEachSizeGoBothWays(Link link) throws Exception {
        StackLink.runIpv6(link, stack -> {
            Random r = new Random(1);
            ByteBuffer into = ByteBuffer.allocateDirect(70_000);
            UdpPeer from = new UdpPeer();
            try (DatagramChannel kernel = DatagramChannel.open(); UdpSocket socket = stack.bindUdp(7)) {
                kernel.setOption(java.net.StandardSocketOptions.SO_SNDBUF, 1 << 20);
                kernel.bind(new InetSocketAddress(StackLink.KERNEL_6, 0));
                InetSocketAddress to = new InetSocketAddress(StackLink.OURS_6, socket.port());
                for (int size : new int[] {0, 1, 2, 100, 1451, 1452, 1453, 2960, 9000, 65_527}) {
                    byte[] data = new byte[size];
                    r.nextBytes(data);
                    if (size <= 65_507) { // the JDK sends no more
                        kernel.send(ByteBuffer.wrap(data), to);
                        assertThat(socket.receive(into.clear(), from, PATIENCE)).as("%d bytes", size).isTrue();
                        assertThat(into.flip()).isEqualTo(ByteBuffer.wrap(data));
                        assertThat(from.toSocketAddress()).isEqualTo(kernel.getLocalAddress());
                    }
                    socket.send(ByteBuffer.wrap(data), from);
                    assertThat(kernel.receive(into.clear())).as("%d bytes", size).isEqualTo(to);
                    assertThat(into.flip()).isEqualTo(ByteBuffer.wrap(data));
                }
            }
            assertThat(stack.statistics().malformed()).isZero();
            assertThat(stack.statistics().queueFull()).isZero();
        });
    }

    @ParameterizedTest
    @EnumSource(Link.class)
    void refusalsReachBothEnds(Link link) throws Exception {
        StackLink.runIpv6(link, stack -> {
            assertThatThrownBy(() -> new Socket(StackLink.OURS_6, 4711).close()).isInstanceOf(ConnectException.class);
            assertThatThrownBy(() -> stack.connectTcp(new InetSocketAddress(StackLink.KERNEL_6, 4711), PATIENCE))
                    .isInstanceOf(ConnectException.class);
            try (DatagramChannel kernel = DatagramChannel.open().connect(new InetSocketAddress(StackLink.OURS_6, 99))) {
                kernel.write(ByteBuffer.allocate(10));
                assertThatThrownBy(() -> kernel.read(ByteBuffer.allocate(10))).isInstanceOf(
                        PortUnreachableException.class);
            }
            try (UdpSocket socket = stack.bindUdp(0)) {
                socket.connect(UdpPeer.of(new InetSocketAddress(StackLink.KERNEL_6, 99)));
                socket.send(ByteBuffer.allocate(10), UdpPeer.of(new InetSocketAddress(StackLink.KERNEL_6, 99)));
                assertThatThrownBy(() -> socket.receive(ByteBuffer.allocate(10), new UdpPeer(), PATIENCE)).isInstanceOf(
                        PortUnreachableException.class);
            }
        });
    }

    @ParameterizedTest
    @EnumSource(Link.class)
    void streamsGoBothWaysAtOnce(Link link) throws Exception {
        StackLink.runIpv6(link, stack -> {
            byte[] there = new byte[8 << 20];
            byte[] back = new byte[8 << 20];
            new Random(1).nextBytes(there);
            new Random(2).nextBytes(back);
            try (TcpServer server = stack.listenTcp(7, 8);
                    Socket kernel = new Socket(StackLink.OURS_6, 7);
                    TcpSocket socket = Objects.requireNonNull(server.accept(PATIENCE))) {
                exchange(kernel, socket, there, back);
                assertThat(socket.remoteAddress().getAddress()).isInstanceOf(Inet6Address.class);
            }
            try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getByName(StackLink.KERNEL_6));
                    TcpSocket socket = stack.connectTcp(new InetSocketAddress(StackLink.KERNEL_6, server
                            .getLocalPort()), PATIENCE);
                    Socket kernel = server.accept()) {
                exchange(kernel, socket, there, back);
                assertThat(socket.info().segment()).as("of IPv6 with timestamps").isEqualTo(1500 - 40 - 32);
            }
            assertThat(stack.statistics().malformed()).isZero();
        });
    }

    private static void exchange(Socket kernel, TcpSocket socket, byte[] there, byte[] back) throws Exception {
        Thread writer = Thread.startVirtualThread(() -> {
            try {
                kernel.getOutputStream().write(there);
                kernel.shutdownOutput();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        Thread echo = Thread.startVirtualThread(() -> {
            try {
                socket.write(ByteBuffer.wrap(back));
                socket.shutdownOutput();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        ByteBuffer got = ByteBuffer.allocate(there.length + 1);
        Thread reader = Thread.startVirtualThread(() -> {
            try {
                while (socket.read(got) >= 0) {
                    // until the end
                }
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        InputStream in = kernel.getInputStream();
        assertThat(in.readAllBytes()).isEqualTo(back);
        reader.join();
        writer.join();
        echo.join();
        assertThat(got.flip()).isEqualTo(ByteBuffer.wrap(there));
    }

    @ParameterizedTest
    @EnumSource(Link.class)
    void tracerouteFindsIt(Link link) throws Exception {
        Capabilities.requireProgram("traceroute", "traceroute");
        StackLink.runIpv6(link, stack -> {
            Finished f = Finished.run(List.of("traceroute", "-6", "-n", "-q", "1", StackLink.OURS_6));
            assertThat(f.code()).as(f.output()).isZero();
            assertThat(f.output().strip().lines().toList()).as(f.output()).hasSize(2).last().asString().startsWith(
                    " 1  " + StackLink.OURS_6 + " ");
        });
    }

    /** radvd(8) tells of two subnets: the stack has an address of each, with which the kernel reaches it. */
    @Test
    void aRouterGivesAddresses(@TempDir Path folder) throws Exception {
        Capabilities.requireProgram("radvd", "radvd");
        Path config = Files.writeString(folder.resolve("radvd.conf"), """
                interface vrb0 { AdvSendAdvert on; MinRtrAdvInterval 3; MaxRtrAdvInterval 4; AdvLinkMTU 1400;
                    prefix fd00:81::/64 {}; prefix fd00:82::/64 {}; };
                """);
        StackLink.run(Link.TAP, StackLink.KERNEL_6 + "/64", StackConfig.of(StackLink.OURS + "/24").withIpv6(),
                stack -> {
                    TapInterface.ip("address", "add", "fd00:81::1/64", "dev", "vrb0", "nodad");
                    Files.writeString(Path.of("/proc/sys/net/ipv6/conf/all/forwarding"), "1");
                    Process radvd = new ProcessBuilder("radvd", "-n", "-m", "stderr", "-C", config.toString(), "-p",
                            folder
                                    .resolve("pid").toString()).redirectErrorStream(true).redirectOutput(folder.resolve(
                                            "log").toFile())
                            .start();
                    try {
                        Await.until("an address of each subnet", () -> stack.addresses().size() == 4);
                        InetAddress own = stack.addresses().stream().filter(a -> a.getHostAddress().startsWith(
                                "fd00:81:"))
                                .findFirst().orElseThrow();
                        ping(own.getHostAddress(), 3);
                        try (TcpServer server = stack.listenTcp(7, 8);
                                Socket kernel = new Socket(own, 7);
                                TcpSocket socket = Objects.requireNonNull(server.accept(PATIENCE))) {
                            kernel.getOutputStream().write(7);
                            assertThat(socket.read(ByteBuffer.allocate(10))).isEqualTo(1);
                            assertThat(socket.info().segment()).as("of the link's MTU").isEqualTo(1400 - 60 - 12);
                        }
                    } catch (AssertionError e) {
                        throw new AssertionError(Files.readString(folder.resolve("log")), e);
                    } finally {
                        radvd.destroy();
                        radvd.waitFor();
                    }
                });
    }

    /** One port takes both; each goes by its own version of IP. */
    @Test
    void bothVersionsOfIpAtOnce() throws Exception {
        StackLink.run(Link.TAP, StackLink.KERNEL_6 + "/64", StackConfig.of(StackLink.OURS_6 + "/64").withAddress(
                StackLink.OURS + "/24"), stack -> {
                    TapInterface.ip("address", "add", StackLink.KERNEL + "/24", "dev", "vrb0");
                    assertThat(stack.addresses()).extracting(InetAddress::getHostAddress).startsWith(StackLink.OURS,
                            "fd00:78:0:0:0:0:0:2").hasSize(3);
                    try (TcpServer server = stack.listenTcp(7, 8)) {
                        for (String host : new String[] {StackLink.OURS, StackLink.OURS_6}) {
                            try (Socket kernel = new Socket(host, 7);
                                    TcpSocket socket = Objects.requireNonNull(server.accept(PATIENCE))) {
                                kernel.getOutputStream().write(7);
                                ByteBuffer into = ByteBuffer.allocate(10);
                                assertThat(socket.read(into)).isEqualTo(1);
                                assertThat(into.get(0)).isEqualTo((byte) 7);
                                assertThat(socket.remoteAddress()).isEqualTo(kernel.getLocalSocketAddress());
                            }
                        }
                    }
                });
    }
}
