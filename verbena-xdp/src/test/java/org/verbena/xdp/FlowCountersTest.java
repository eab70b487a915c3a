// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.testkit.Await;
import org.verbena.verbs.CounterAttachAttributes;
import org.verbena.verbs.Counters;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowFlags;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.ReadCountersFlags;
import org.verbena.verbs.RemoteObject;
import org.verbena.verbs.RemoteProcess;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.VerbsException;

/** Counters of flows, with the kernel's sockets as the traffic: what is counted is what was sent, to the byte. */
class FlowCountersTest {
    private static final int HEADERS = 14 + 20 + 8;

    private static void attach(Counters c) throws VerbsException {
        c.attach(CounterAttachAttributes.of(SamplePoint.PACKETS, 0));
        c.attach(CounterAttachAttributes.of(SamplePoint.BYTES, 1));
    }

    private static void attach(Counters c, Flow flow) throws VerbsException {
        c.attach(CounterAttachAttributes.of(SamplePoint.PACKETS, 0), flow);
        c.attach(CounterAttachAttributes.of(SamplePoint.BYTES, 1), flow);
    }

    private static long[] read(Counters c) throws VerbsException {
        long[] values = new long[2];
        c.read(values, 0);
        return values;
    }

    private static FlowAttributes.Builder watch(FlowSpec... specs) {
        FlowAttributes.Builder b = FlowAttributes.builder().flags(FlowFlags.DONT_TRAP);
        for (FlowSpec s : specs) {
            b.spec(s);
        }
        return b;
    }

    private static FlowAttributes.Builder to(int port) {
        return watch(FlowSpec.udp().match(FlowField.DESTINATION_PORT, port));
    }

    private static FlowAttributes.Builder from(int port) {
        return watch(FlowSpec.udp().match(FlowField.SOURCE_PORT, port));
    }

    private static void send(DatagramChannel from, int port, int bytes) throws Exception {
        from.send(ByteBuffer.allocate(bytes), new InetSocketAddress(RawLink.RAW, port));
    }

    private interface Setting {
        void run(RawLink link, RawEnd end, DatagramChannel peer) throws Exception;
    }

    private static void with(Setting setting) throws Exception {
        RawLink.run(1500, link -> {
            try (RawEnd end = RawEnd.ready("other");
                    DatagramChannel peer = DatagramChannel.open().bind(new InetSocketAddress(RawLink.KERNEL, 0))) {
                setting.run(link, end, peer);
            }
        });
    }

    @Test
    void packetsAndBytesAreExact() throws Exception {
        with((link, end, peer) -> {
            Counters c = end.context.createCounters();
            attach(c);
            Flow flow = end.qp.createFlow(FlowAttributes.builder().spec(FlowSpec.udp().match(
                    FlowField.DESTINATION_PORT, 4000)).spec(FlowSpec.count(c)).build());
            long bytes = 0;
            for (int i = 0; i < 200; i++) {
                send(peer, 4000, i);
                send(peer, 4001, i);
                bytes += HEADERS + i;
            }
            assertThat(read(c)).containsExactly(200, bytes);
            Errors.expect(Errno.EBUSY, c::close);
            Errors.expect(Errno.EBUSY, () -> attach(c), "close what was created");
            flow.close();
            send(peer, 4000, 1);
            assertThat(read(c)).as("kept").containsExactly(200, bytes);
            c.close();
        });
    }

    @Test
    void eachFlowCountsWhatItTakes() throws Exception {
        with((link, end, peer) -> {
            Counters dropped = end.context.createCounters();
            attach(dropped);
            Counters source = end.context.createCounters();
            attach(source);
            Counters mac = end.context.createCounters();
            attach(mac);
            end.qp.createFlow(FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, 4000))
                    .spec(FlowSpec.drop()).spec(FlowSpec.count(dropped)).build());
            end.qp.createFlow(watch(FlowSpec.ipv4().match(FlowField.IPV4_SOURCE, InetAddress.getByName(RawLink.KERNEL)
                    .getAddress()), FlowSpec.count(source)).build());
            end.qp.createFlow(watch(FlowSpec.ethernet().match(FlowField.ETH_SOURCE, link.mac("one")), FlowSpec.count(
                    mac)).build());
            Flow late = end.qp.createFlow(watch(FlowSpec.ipv4().match(FlowField.IPV4_PROTOCOL, 17)).build());
            send(peer, 4000, 10);
            Counters protocol = end.context.createCounters();
            attach(protocol, late);
            send(peer, 4000, 10);
            send(peer, 4001, 20);
            assertThat(read(dropped)).containsExactly(2, 2 * (HEADERS + 10));
            assertThat(read(source)).containsExactly(3, 3 * HEADERS + 40);
            assertThat(read(mac)).containsExactly(3, 3 * HEADERS + 40);
            assertThat(read(protocol)).as("since it was attached").containsExactly(2, 2 * HEADERS + 30);
            assertThat(end.isIdle()).isTrue();
            protocol.detach(late);
            send(peer, 4001, 20);
            assertThat(read(protocol)).containsExactly(2, 2 * HEADERS + 30);
            assertThat(read(source)).containsExactly(4, 4 * HEADERS + 60);
        });
    }

    @Test
    void pointsAndFlowsAtOneIndexAddUp() throws Exception {
        with((link, end, peer) -> {
            Counters c = end.context.createCounters();
            Flow one = end.qp.createFlow(FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT,
                    4000)).build());
            Flow two = end.qp.createFlow(FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT,
                    4001)).build());
            for (Flow f : List.of(one, two)) {
                c.attach(CounterAttachAttributes.of(SamplePoint.PACKETS, 0), f);
                c.attach(CounterAttachAttributes.of(SamplePoint.BYTES, 0), f);
            }
            c.attach(CounterAttachAttributes.of(SamplePoint.PACKETS, 1), two);
            c.attach(CounterAttachAttributes.of(SamplePoint.QP_RX_PACKETS, 1), end.qp); // other objects, too
            send(peer, 4000, 8);
            send(peer, 4001, 8);
            send(peer, 4001, 8);
            assertThat(read(c)).containsExactly(3 + 3 * (HEADERS + 8), 2);
            for (int i = 0; i < 3; i++) {
                end.receive();
            }
            assertThat(read(c)).containsExactly(3 + 3 * (HEADERS + 8), 2 + 3);
            c.detach(CounterAttachAttributes.of(SamplePoint.PACKETS, 0), one);
            send(peer, 4000, 8);
            assertThat(read(c)).containsExactly(3 + 4 * (HEADERS + 8), 5);
            long[] cached = new long[2];
            send(peer, 4000, 8);
            c.read(cached, ReadCountersFlags.PREFER_CACHED);
            assertThat(cached).as("what was read last").containsExactly(3 + 4 * (HEADERS + 8), 5);
            assertThat(read(c)).containsExactly(3 + 5 * (HEADERS + 8), 5);
        });
    }

    @Test
    void wrongPointsAreRefused() throws Exception {
        with((link, end, peer) -> {
            Flow flow = end.qp.createFlow(watch(FlowSpec.udp()).build());
            Counters c = end.context.createCounters();
            assertThat(end.context.supportsSamplePoint(SamplePoint.BYTES)).isTrue();
            Errors.expect(Errno.EINVAL, () -> c.attach(CounterAttachAttributes.of(SamplePoint.QP_TX_SENDS, 0), flow),
                    "type QP");
            Errors.expect(Errno.EOPNOTSUPP, () -> c.attach(CounterAttachAttributes.of(SamplePoint.PACKETS, 0),
                    end.qp));
            Errors.expect(Errno.EOPNOTSUPP, () -> c.attach(CounterAttachAttributes.of(7, 0), flow));
            Errors.expect(Errno.EINVAL, () -> end.qp.createFlow(watch(FlowSpec.tcp(), FlowSpec.count(c)).build()),
                    "nothing was attached");
            c.attach(CounterAttachAttributes.of(SamplePoint.QP_RX_PACKETS, 0));
            Errors.expect(Errno.EINVAL, () -> end.qp.createFlow(watch(FlowSpec.tcp(), FlowSpec.count(c)).build()),
                    "type FLOW");
            flow.close();
            Errors.expect(Errno.EINVAL, () -> c.attach(CounterAttachAttributes.of(SamplePoint.PACKETS, 0), flow),
                    "closed");
        });
    }

    /** Counters are taken and given back many times, and each begins with 0. */
    @Test
    void countersAreUsedAgain() throws Exception {
        with((link, end, peer) -> {
            Counters sum = end.context.createCounters();
            attach(sum);
            int port = ((InetSocketAddress) peer.getLocalAddress()).getPort();
            end.qp.createFlow(to(1).build()); // others of the same masks stay
            end.qp.createFlow(from(1).build());
            for (int i = 0; i < 600; i++) {
                Counters c = end.context.createCounters();
                attach(c);
                try (Flow f = end.qp.createFlow(to(4000).spec(FlowSpec.count(c)).build());
                        Flow g = end.qp.createFlow(from(port).spec(FlowSpec.count(sum)).build())) {
                    send(peer, 4000, i % 7);
                    attach(c, g);
                    assertThat(f.attributes().specs()).hasSize(2);
                    assertThat(read(c)).containsExactly(1, HEADERS + i % 7);
                    c.detach(g);
                }
                assertThat(read(c)).containsExactly(1, HEADERS + i % 7);
                c.close();
            }
            assertThat(read(sum)[0]).isEqualTo(600);
        });
    }

    @Test
    void flowsOfAProcessAreSeenByOthers() throws Exception {
        with((link, end, peer) -> {
            Flow flow = end.qp.createFlow(watch(FlowSpec.udp()).priority(7).build());
            send(peer, 4000, 5);
            RemoteProcess own = RemoteProcess.open(ProcessHandle.current().pid());
            RemoteObject seen = own.objects(0).stream().filter(o -> o.type() == ObjectType.FLOW && o.device().equals(
                    "xdp_other")).findFirst().orElseThrow();
            assertThat(seen.value(SamplePoint.PACKETS)).isEqualTo(1);
            assertThat(seen.value(SamplePoint.BYTES)).isEqualTo(HEADERS + 5);
            assertThat(seen.attributes()).containsEntry("type", "NORMAL").containsEntry("priority", 7L);
            Counters c = own.createCounters();
            c.attach(CounterAttachAttributes.of(SamplePoint.BYTES, 0), seen);
            send(peer, 4000, 5);
            assertThat(read(c)[0]).isEqualTo(HEADERS + 5);
            flow.close();
            c.detach(seen);
            c.close();
            own.close();
        });
    }

    // ---- a connection of the kernel

    private static long statistic(String link, String name) throws Exception {
        return Long.parseLong(Files.readAllLines(Path.of("/proc/thread-self/net/dev")).stream().filter(l -> l.strip()
                .startsWith(link + ":")).findFirst().orElseThrow().split(":", -1)[1].strip().split(" +", -1)[name
                        .equals(
                                "packets") ? 1 : 0]);
    }

    /** The kernel's connection goes through, and the flow has counted just what the interface has. */
    @Test
    void connectionOfTheKernelIsCountedAndNotTouched() throws Exception {
        KernelLink.run(link -> {
            int bytes = 20 << 20;
            try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(RawLink.KERNEL,
                    7777)); RawEnd end = RawEnd.ready("one")) {
                Counters tcp = end.context.createCounters();
                attach(tcp);
                end.qp.createFlow(watch(FlowSpec.tcp().match(FlowField.DESTINATION_PORT, 7777), FlowSpec.count(tcp))
                        .build());
                Counters all = end.context.createCounters();
                attach(all);
                long packets = statistic("one", "packets");
                long octets = statistic("one", "bytes");
                end.qp.createFlow(watch(FlowSpec.count(all)).build());
                FutureTask<Integer> sender = new FutureTask<>(() -> send(bytes));
                link.peer(() -> {
                    Thread.ofPlatform().daemon().start(sender);
                    return "";
                });
                assertThat(receive(server)).isEqualTo(bytes);
                assertThat(sender.get(60, TimeUnit.SECONDS)).isEqualTo(bytes);
                Await.until("the last packets", () -> {
                    long before = statistic("one", "packets");
                    return read(all)[0] == before - packets && before == statistic("one", "packets");
                });
                long[] seen = read(tcp);
                assertThat(seen[1]).isGreaterThan(bytes);
                assertThat(seen[0]).isPositive();
                assertThat(read(all)[1]).isBetween(seen[1], statistic("one", "bytes") - octets);
                System.out.println("a connection of " + bytes + " bytes: " + seen[0] + " packets, " + seen[1]
                        + " bytes");
                assertThat(end.isIdle()).isTrue();
            }
        });
    }

    private static int send(int bytes) throws Exception {
        try (SocketChannel channel = SocketChannel.open(new InetSocketAddress(RawLink.KERNEL, 7777))) {
            ByteBuffer data = ByteBuffer.allocate(bytes);
            while (data.hasRemaining()) {
                channel.write(data);
            }
        }
        return bytes;
    }

    private static long receive(ServerSocketChannel server) throws Exception {
        long bytes = 0;
        try (SocketChannel channel = server.accept()) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 16);
            for (int n = 0; n >= 0; n = channel.read(buffer.clear())) {
                bytes += n;
            }
        }
        return bytes;
    }
}
