// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.PortUnreachableException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Scanner;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.linux.Errno;
import org.verbena.stack.StackLink.Link;
import org.verbena.testkit.AllocatedBytes;
import org.verbena.testkit.Await;
import org.verbena.testkit.Finished;
import org.verbena.testkit.LinkState;
import org.verbena.testkit.TapInterface;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** The stack on a TAP interface, and on one of a veth pair, whose other end is the kernel with its own UDP, ICMP and ARP. */
final class StackOnLinkTest {
    private static final String KERNEL = StackLink.KERNEL;
    private static final String OURS = StackLink.OURS;
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static String done(String program, String... words) throws Exception {
        List<String> command = new ArrayList<>(List.of(program));
        command.addAll(List.of(words));
        Finished f = Finished.run(command);
        assertThat(f.code()).as(command + ": " + f.output()).isZero();
        return f.output();
    }

    /** Until so many are answered: with -c alone, ping gives up one that takes twice as long as those before. */
    private static void ping(int answers, String... more) throws Exception {
        done("ping", Stream.concat(Stream.of("-c", String.valueOf(answers), "-i", "0.01", "-w", "20", OURS), Stream.of(
                more))
                .toArray(String[]::new));
    }

    private static DatagramChannel kernelSocket() throws Exception {
        DatagramChannel c = DatagramChannel.open();
        c.setOption(java.net.StandardSocketOptions.SO_SNDBUF, 1 << 20);
        return c.bind(new InetSocketAddress(KERNEL, 0));
    }

    private static UdpPeer peer(DatagramChannel c) throws Exception {
        return UdpPeer.of((InetSocketAddress) c.getLocalAddress());
    }

    @ParameterizedTest
    @EnumSource(Link.class)
    void pingOfEachSizeIsAnsweredByTheStack(Link link) throws Exception {
        StackLink.run(link, stack -> {
            for (String size : new String[] {"0", "56", "1472", "1473", "8000", "65507"}) {
                ping(3, "-s", size);
            }
            assertThat(TapInterface.ip("neigh", "show", OURS)).matches("(?s).*(REACHABLE|STALE|DELAY).*");
            assertThat(stack.statistics().echoes()).isGreaterThanOrEqualTo(18);
            assertThat(stack.statistics().reassembled()).isGreaterThanOrEqualTo(9);
            assertThat(stack.statistics().malformed()).isZero();
        });
    }

    @ParameterizedTest
    @EnumSource(Link.class)
    void datagramsOfEachSizeGoBothWays(Link link) throws Exception {
        StackLink.run(link, stack -> {
            Random r = new Random(1);
            ByteBuffer into = ByteBuffer.allocateDirect(70_000);
            UdpPeer from = new UdpPeer();
            try (DatagramChannel kernel = kernelSocket(); UdpSocket socket = stack.bindUdp(7)) {
                InetSocketAddress to = new InetSocketAddress(stack.address(), socket.port());
                for (int size : new int[] {0, 1, 2, 100, 1471, 1472, 1473, 2960, 9000, 65_507}) {
                    byte[] data = new byte[size];
                    r.nextBytes(data);
                    kernel.send(ByteBuffer.wrap(data), to);
                    assertThat(socket.receive(into.clear(), from, PATIENCE)).as("%d bytes", size).isTrue();
                    assertThat(into.flip()).isEqualTo(ByteBuffer.wrap(data));
                    assertThat(from.toSocketAddress()).isEqualTo(kernel.getLocalAddress());
                    socket.send(into, from);
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
    void aPortWithoutSocketIsRefusedByBothEnds(Link link) throws Exception {
        StackLink.run(link, stack -> {
            try (DatagramChannel kernel = DatagramChannel.open().connect(new InetSocketAddress(stack.address(), 99))) {
                kernel.write(ByteBuffer.allocate(10));
                assertThatThrownBy(() -> kernel.read(ByteBuffer.allocate(10))).isInstanceOf(
                        PortUnreachableException.class);
            }
            try (UdpSocket socket = stack.bindUdp(0)) {
                UdpPeer nobody = UdpPeer.of(new InetSocketAddress(KERNEL, 99));
                socket.send(ByteBuffer.allocate(10), nobody);
                assertThat(socket.receive(ByteBuffer.allocate(10), new UdpPeer(), Duration.ofMillis(100))).as(
                        "not connected").isFalse();
                socket.connect(nobody);
                socket.send(ByteBuffer.allocate(10), nobody);
                assertThatThrownBy(() -> socket.receive(ByteBuffer.allocate(10), new UdpPeer(), PATIENCE))
                        .isInstanceOf(PortUnreachableException.class);
            }
        });
    }

    @ParameterizedTest
    @EnumSource(Link.class)
    void broadcastsGoBothWays(Link link) throws Exception {
        StackLink.run(link, stack -> {
            try (DatagramChannel kernel = DatagramChannel.open(); UdpSocket socket = stack.bindUdp(7)) {
                kernel.setOption(java.net.StandardSocketOptions.SO_BROADCAST, true);
                kernel.bind(new InetSocketAddress("0.0.0.0", 0));
                UdpPeer from = new UdpPeer();
                ByteBuffer b = ByteBuffer.allocate(10);
                kernel.send(ByteBuffer.wrap(new byte[] {1}), new InetSocketAddress("10.78.0.255", 7));
                assertThat(socket.receive(b, from, PATIENCE)).isTrue();
                for (String all : new String[] {"10.78.0.255", "255.255.255.255"}) {
                    socket.send(b.clear(), UdpPeer.of(new InetSocketAddress(all, from.toSocketAddress().getPort())));
                    assertThat(kernel.receive(ByteBuffer.allocate(20))).isEqualTo(new InetSocketAddress(OURS, 7));
                }
            }
        });
    }

    /** Which is what a program does that is started again: the kernel knows the address of the one before. */
    @ParameterizedTest
    @EnumSource(Link.class)
    void anotherStackWithTheAddressIsFoundAtOnce(Link link) throws Exception {
        StackLink.run(link, stack -> {
            ping(1);
            Matcher m = Pattern.compile("lladdr (\\S+)").matcher(TapInterface.ip("neigh", "show", OURS));
            assertThat(m.find()).isTrue();
            String before = m.group(1);
            stack.close();
            try (Context context = Verbs.open(link.device);
                    Stack other = Stack.open(context, StackConfig.of(OURS + "/24").withMac(0x0200_0000_0077L))) {
                LinkState.awaitUp("vrb0");
                Await.until("the kernel has heard of it", () -> !TapInterface.ip("neigh", "show", OURS).contains(
                        before));
                ping(1);
                assertThat(other.statistics().echoes()).isPositive();
            }
        });
    }

    @ParameterizedTest
    @EnumSource(Link.class)
    void whatCannotBeDoneIsSaid(Link link) throws Exception {
        StackLink.run(link, stack -> {
            try (UdpSocket socket = stack.bindUdp(7)) {
                assertThatThrownBy(() -> stack.bindUdp(7)).isInstanceOfSatisfying(VerbsException.class, e -> assertThat(
                        e.errno())
                        .isEqualTo(Errno.EADDRINUSE)).hasMessageContaining("port 7");
                assertThatThrownBy(() -> socket.send(ByteBuffer.allocate(1), UdpPeer.of(new InetSocketAddress(
                        "10.79.0.1", 7))))
                        .isInstanceOf(NoRouteToHostException.class).hasMessageContaining("10.79.0.1:7")
                        .hasMessageContaining("gateway");
                assertThatThrownBy(() -> socket.send(ByteBuffer.allocate(65_508), UdpPeer.of(new InetSocketAddress(
                        KERNEL, 7))))
                        .isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.errno()).isEqualTo(
                                Errno.EMSGSIZE));
                assertThatThrownBy(() -> UdpPeer.of(InetSocketAddress.createUnresolved("nowhere", 7))).isInstanceOf(
                        IllegalArgumentException.class);
                assertThatThrownBy(() -> socket.send(ByteBuffer.allocate(1), UdpPeer.of(new InetSocketAddress(
                        "fd00:78::1", 7)))).isInstanceOf(NoRouteToHostException.class).hasMessageContaining("IPv6");
                ByteBuffer small = ByteBuffer.allocate(3);
                try (DatagramChannel kernel = kernelSocket()) {
                    kernel.send(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}), new InetSocketAddress(stack.address(), 7));
                    assertThat(socket.receive(small, new UdpPeer(), PATIENCE)).isTrue();
                    assertThat(small.flip()).isEqualTo(ByteBuffer.wrap(new byte[] {1, 2, 3}));
                }
                FutureTask<Throwable> waiting = new FutureTask<>(() -> org.assertj.core.api.Assertions.catchThrowable(
                        () -> socket
                                .receive(ByteBuffer.allocate(1), new UdpPeer(), Duration.ofDays(2000))));
                Thread t = Thread.ofVirtual().start(waiting);
                Await.until("a receive waits", () -> t.getState() == Thread.State.TIMED_WAITING);
                stack.close();
                assertThat(waiting.get()).isInstanceOf(ClosedChannelException.class);
                assertThatThrownBy(() -> stack.bindUdp(8)).isInstanceOf(ClosedChannelException.class);
            }
        });
    }

    /** The interface goes while a thread waits. */
    @ParameterizedTest
    @EnumSource(Link.class)
    void anInterfaceThatGoesFailsTheSockets(Link link) throws Exception {
        StackLink.run(link, stack -> {
            try (UdpSocket socket = stack.bindUdp(7)) {
                TapInterface.ip("link", "delete", "vrb0");
                assertThatThrownBy(() -> socket.receive(ByteBuffer.allocate(1), new UdpPeer(), PATIENCE))
                        .hasMessageContaining("the stack has failed");
                link.make(); // for the end of the test
            }
        });
    }

    @ParameterizedTest
    @EnumSource(Link.class)
    void aDatagramAllocatesNothing(Link link) throws Exception {
        StackLink.run(link, stack -> {
            try (DatagramChannel kernel = kernelSocket(); UdpSocket socket = stack.bindUdp(7)) {
                UdpPeer to = peer(kernel);
                UdpPeer from = new UdpPeer();
                ByteBuffer b = ByteBuffer.allocateDirect(1000);
                ByteBuffer answer = ByteBuffer.allocateDirect(1000);
                InetSocketAddress ours = new InetSocketAddress(stack.address(), 7);
                socket.send(b.clear(), to);
                long least = AllocatedBytes.leastOf(() -> {
                    for (int i = 0; i < 200; i++) {
                        socket.send(b.clear(), to);
                    }
                });
                assertThat(least).as("bytes of 200 sends").isZero();
                for (int i = 0; i < 200; i++) {
                    kernel.send(answer.clear(), ours);
                }
                Await.until("all have come", () -> stack.statistics().datagramsIn() == 200);
                assertThat(AllocatedBytes.leastOf(() -> {
                    for (int i = 0; i < 20; i++) {
                        socket.receive(b.clear(), from, Duration.ZERO);
                    }
                })).as("bytes of 20 receives").isZero();
                while (socket.receive(b.clear(), from, Duration.ZERO)) {
                    // until nothing is there
                }
                if (link == Link.VETH) { // a look at a TAP interface is a foreign call, which allocates until it is compiled
                    assertThat(AllocatedBytes.leastOf(() -> {
                        for (int i = 0; i < 1000; i++) {
                            socket.receive(b.clear(), from, Duration.ZERO);
                        }
                    })).as("bytes of 1000 looks").isZero();
                }
            }
        });
    }

    @ParameterizedTest
    @EnumSource(Link.class)
    void whoPollsDoesTheWorkOfAllAndTheStacksThreadGoesOnWithIt(Link link) throws Exception {
        StackLink.run(link, stack -> {
            try (DatagramChannel kernel = kernelSocket();
                    UdpSocket polling = stack.bindUdp(7);
                    UdpSocket other = stack.bindUdp(8)) {
                AtomicBoolean ends = new AtomicBoolean();
                FutureTask<Integer> poller = new FutureTask<>(() -> {
                    int got = 0;
                    ByteBuffer b = ByteBuffer.allocateDirect(100);
                    UdpPeer from = new UdpPeer();
                    boolean last;
                    do {
                        last = ends.get(); // all have come before, whoever has taken them from the device
                        while (polling.receive(b.clear(), from, Duration.ZERO)) {
                            got++;
                        }
                    } while (!last);
                    return got;
                });
                Thread.ofPlatform().daemon().start(poller);
                ping(3);
                for (int i = 0; i < 10; i++) {
                    kernel.send(ByteBuffer.allocate(10), new InetSocketAddress(stack.address(), 7));
                    kernel.send(ByteBuffer.allocate(10), new InetSocketAddress(stack.address(), 8));
                    assertThat(other.receive(ByteBuffer.allocate(10), new UdpPeer(), PATIENCE)).isTrue();
                }
                ends.set(true);
                assertThat(poller.get()).isEqualTo(10);
                ping(3);
                assertThat(stack.statistics().echoes()).isGreaterThanOrEqualTo(6);
            }
        });
    }

    /** While nothing comes, the stack's thread sleeps. */
    @ParameterizedTest
    @EnumSource(Link.class)
    void anIdleStackTakesNoProcessor(Link link) throws Exception {
        StackLink.run(link, stack -> {
            ping(1);
            long before = ticks();
            Thread.sleep(500);
            assertThat(ticks() - before).as("hundredths of a second").isLessThan(10);
        });
    }

    /** Processor time of the engine, in hundredths of a second. */
    private static long ticks() throws Exception {
        try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
            for (Path t : threads.toList()) {
                if (Files.readString(t.resolve("comm")).startsWith("verbena-stack-")) {
                    String[] words = Files.readString(t.resolve("stat")).split(" ", -1);
                    return Long.parseLong(words[13]) + Long.parseLong(words[14]);
                }
            }
        }
        throw new AssertionError("no such thread");
    }

    /** The kernel routes to a link with a lower MTU. */
    @ParameterizedTest
    @EnumSource
    void datagramsToWhereALinkIsShorterAreFragmented(Link link) throws Exception {
        StackLink.run(link, StackLink.KERNEL + "/24", StackConfig.of(StackLink.OURS + "/24").withGateway(
                StackLink.KERNEL), stack -> {
                    TapInterface.ip("link", "add", "far0", "mtu", "1000", "type", "veth", "peer", "name", "far1");
                    TapInterface.ip("link", "set", "far1", "up");
                    TapInterface.up("far0", "10.79.0.1/24");
                    TapInterface.ip("neighbour", "add", "10.79.0.9", "lladdr", "02:00:00:00:00:09", "dev", "far0");
                    Files.writeString(Path.of("/proc/sys/net/ipv4/ip_forward"), "1");
                    UdpPeer far = UdpPeer.of(new InetSocketAddress("10.79.0.9", 9));
                    try (UdpSocket socket = stack.bindUdp(0)) {
                        socket.send(ByteBuffer.allocate(1400), far);
                        Await.until("the kernel says that it is too long", () -> stack.statistics().errorsIn() == 1);
                        long before = sentBy("far0");
                        socket.send(ByteBuffer.allocate(1400), far);
                        assertThat(stack.statistics().fragmentsOut()).isEqualTo(2);
                        Await.until("the kernel forwards both", () -> sentBy("far0") == before + 2);
                    } finally {
                        TapInterface.ip("link", "delete", "far0");
                    }
                });
    }

    /** Packets that an interface of this thread's namespace has sent. */
    private static long sentBy(String link) throws Exception {
        String line = Files.readAllLines(Path.of("/proc/thread-self/net/dev")).stream().filter(l -> l.strip()
                .startsWith(link + ":")).findFirst().orElseThrow();
        Scanner numbers = new Scanner(line.substring(line.indexOf(':') + 1));
        for (int i = 0; i < 9; i++) { // of what it has received, and its bytes
            numbers.nextLong();
        }
        return numbers.nextLong();
    }
}
