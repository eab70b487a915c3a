// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.Bpf;
import org.verbena.linux.Fd;
import org.verbena.linux.IoVectors;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.PacketSocket;
import org.verbena.linux.VnetHeader;
import org.verbena.testkit.Await;
import org.verbena.testkit.Capabilities;
import org.verbena.testkit.Finished;
import org.verbena.tests.CommandLane;

/** {@code verbena monitor} of a network interface, over which the kernel's own TCP and UDP go. */
@CommandLane
class MonitorInterfaceTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String NETDEV = "vcable0";
    private static final int PORT = 7101;
    private static final int OTHER_PORT = 7102;
    /** Ethernet, IPv4, UDP. */
    private static final int UDP_HEADERS = 14 + 20 + 8;
    private static final int MESSAGE = 1000;
    private static final int MESSAGES = 500;
    private static final int STREAM = 5_000_000;

    @TempDir Path folder;

    @BeforeEach
    void needsPrivileges() {
        Capabilities.requireNetworkAndBpf();
    }

    /** Sockets of the other namespace. */
    private record Sink(ServerSocketChannel tcp, DatagramChannel udp, DatagramChannel other, PacketSocket raw)
            implements
                AutoCloseable {
        static Sink open() throws IOException {
            try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
                return new Sink(ServerSocketChannel.open().bind(new InetSocketAddress(RoceNamespaces.ADDRESS_B, PORT)),
                        udp(PORT), udp(OTHER_PORT), PacketSocket.open(NetworkLinks.index(netlink, "vcable1"), false));
            }
        }

        /** Sends a frame as it is. */
        void send(byte[] frame) {
            MemorySegment memory = Arena.ofAuto().allocate(frame.length, 8);
            MemorySegment.copy(frame, 0, memory, ValueLayout.JAVA_BYTE, 0, frame.length);
            IoVectors v = new IoVectors(2);
            VnetHeader.plain(v.header(), 0);
            v.add(v.header(), 0, VnetHeader.BYTES).add(memory, 0, frame.length);
            assertThat(raw.send(v)).isEqualTo(VnetHeader.BYTES + frame.length);
        }

        private static DatagramChannel udp(int port) throws IOException {
            return DatagramChannel.open().setOption(StandardSocketOptions.SO_RCVBUF, 4 << 20).bind(
                    new InetSocketAddress(RoceNamespaces.ADDRESS_B, port));
        }

        @Override
        public void close() throws IOException {
            tcp.close();
            udp.close();
            other.close();
            raw.close();
        }
    }

    private static void with(RoceNamespaces.Action<Sink> action) throws Exception {
        RoceNamespaces.with(Sink::open, action);
    }

    /** Sends datagrams to both ports, and receives those of the first. */
    private static void datagrams(Sink sink) throws IOException {
        try (DatagramChannel from = DatagramChannel.open().bind(new InetSocketAddress(RoceNamespaces.ADDRESS_A,
                PORT))) {
            ByteBuffer got = ByteBuffer.allocate(2 * MESSAGE);
            for (int i = 0; i < MESSAGES; i++) {
                from.send(ByteBuffer.allocate(MESSAGE), new InetSocketAddress(RoceNamespaces.ADDRESS_B, PORT));
                from.send(ByteBuffer.allocate(1), new InetSocketAddress(RoceNamespaces.ADDRESS_B, OTHER_PORT));
                sink.udp.receive(got.clear());
                assertThat(got.position()).isEqualTo(MESSAGE);
            }
            sink.udp.send(ByteBuffer.allocate(MESSAGE / 2), new InetSocketAddress(RoceNamespaces.ADDRESS_A, PORT));
            from.receive(got.clear());
            assertThat(got.position()).isEqualTo(MESSAGE / 2);
        }
    }

    /** Sends a stream, and receives all of it. */
    private static void stream(Sink sink) throws Exception {
        try (SocketChannel from = SocketChannel.open(new InetSocketAddress(RoceNamespaces.ADDRESS_B, PORT));
                SocketChannel to = sink.tcp.accept()) {
            Thread sender = Thread.ofPlatform().start(() -> {
                try {
                    ByteBuffer all = ByteBuffer.allocate(STREAM);
                    while (all.hasRemaining()) {
                        from.write(all);
                    }
                    from.shutdownOutput();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            ByteBuffer got = ByteBuffer.allocate(1 << 16);
            long bytes = 0;
            for (int n = to.read(got); n >= 0; n = to.read(got.clear())) {
                bytes += n;
            }
            sender.join();
            assertThat(bytes).isEqualTo(STREAM);
        }
    }

    /** Packet sockets of this thread's namespace that have all packets. */
    private static long packetSockets() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/thread-self/net/packet"))) {
            return lines.filter(l -> l.strip().split("\\s+", -1)[3].equals("0003")).count();
        }
    }

    private static void awaitPacketSockets(int count) throws IOException {
        Await.until(count + " packet sockets", () -> packetSockets() == count);
    }

    private static JsonNode line(JsonNode sample, Predicate<JsonNode> wanted) {
        List<JsonNode> found = StreamSupport.stream(sample.get("lines").spliterator(), false).filter(wanted).toList();
        assertThat(found).as(sample.toString()).hasSize(1);
        return found.getFirst();
    }

    private static Predicate<JsonNode> flow(String direction, String protocol, int port) {
        return l -> l.get("direction").asText().equals(direction) && l.get("protocol").asText().equals(protocol)
                && l.get(direction.equals("sent") ? "destination_port" : "source_port").asInt() == port;
    }

    private static void assertCount(JsonNode node, long packets, long bytes) {
        assertThat(node.get("packets").asLong()).as(node.toString()).isEqualTo(packets);
        assertThat(node.get("bytes").asLong()).as(node.toString()).isEqualTo(bytes);
    }

    /** Ends it as Ctrl-C does, whose signal is ignored where a shell runs the tests in the background. */
    private static void interrupt(CommandProcess p) {
        p.process().toHandle().destroy(); // which leaves its output
    }

    @Test
    void packetsAndBytesOfFlowsAreExact() throws Exception {
        Path file = folder.resolve("udp.pcap");
        with(sink -> {
            try (CommandProcess p = CommandProcess.start("monitor", NETDEV, "--once", "--json", "-i", "200", "--write",
                    file.toString(), "udp", "and", "host", RoceNamespaces.ADDRESS_B, "and", "(", "dst", "port",
                    Integer.toString(PORT), "or", "src", "port", Integer.toString(PORT), ")")) {
                awaitPacketSockets(1);
                datagrams(sink);
                stream(sink);
                interrupt(p);
                CommandProcess.Result r = p.end();
                assertThat(r.code()).as(r.err()).isEqualTo(143);
                JsonNode sample = JSON.readTree(r.out());
                // those to the other port come from this one, too
                long sentBytes = MESSAGES * (UDP_HEADERS + MESSAGE + UDP_HEADERS + 1L);
                assertCount(sample.get("sent"), 2 * MESSAGES, sentBytes);
                assertCount(sample.get("received"), 1, UDP_HEADERS + MESSAGE / 2);
                assertThat(sample.get("lines")).hasSize(3);
                JsonNode sent = line(sample, flow("sent", "udp", PORT));
                assertCount(sent, MESSAGES, MESSAGES * (UDP_HEADERS + (long) MESSAGE));
                assertThat(sent.get("source").asText()).isEqualTo(RoceNamespaces.ADDRESS_A);
                assertThat(sent.get("destination").asText()).isEqualTo(RoceNamespaces.ADDRESS_B);
                assertThat(sent.get("source_port").asInt()).isEqualTo(PORT);
                assertThat(sent.get("rates").get("packets").asDouble()).isPositive();
                assertThat(sent.get("vlan").isNull()).isTrue();
                assertCount(line(sample, flow("sent", "udp", OTHER_PORT)), MESSAGES, MESSAGES * (UDP_HEADERS + 1L));
                assertCount(line(sample, flow("received", "udp", PORT)), 1, UDP_HEADERS + MESSAGE / 2);
                assertThat(sample.get("evicted_flows").asLong()).isZero();
                assertCount(sample.get("outside"), 0, 0);
                assertThat(sample.get("captured").asLong()).isEqualTo(2 * MESSAGES + 1);
                assertThat(sample.get("capture_lost").asLong()).isZero();
            }
        });
        List<String> frames = tshark(file, "-e", "frame.len", "-e", "udp.dstport");
        if (!frames.isEmpty()) {
            assertThat(frames).hasSize(2 * MESSAGES + 1);
            assertThat(frames).filteredOn(f -> f.equals(UDP_HEADERS + MESSAGE + "\t" + PORT)).hasSize(MESSAGES);
            assertThat(frames).filteredOn(f -> f.equals(UDP_HEADERS + 1 + "\t" + OTHER_PORT)).hasSize(MESSAGES);
        }
    }

    /** What tshark reads of a file, a line a packet; says that there is none. */
    private static List<String> tshark(Path file, String... fields) throws Exception {
        List<String> command = new ArrayList<>(List.of("tshark", "-r", file.toString(), "-T", "fields"));
        command.addAll(Arrays.asList(fields));
        try {
            Finished f = Finished.run(new ProcessBuilder(command).redirectErrorStream(false));
            assertThat(f.code()).as(f.output()).isZero();
            return f.output().lines().filter(l -> !l.isEmpty() && Character.isDigit(l.charAt(0))).toList();
        } catch (IOException e) {
            System.out.println("SKIPPED: the file of packets is not read: there is no tshark");
            return List.of();
        }
    }

    /** Totals of the kernel: packets and bytes received, and sent. */
    private static List<Long> statistics() throws Exception {
        Finished f = Finished.run("ip", "-s", "-j", "link", "show", NETDEV);
        JsonNode s = JSON.readTree(f.output()).get(0).get("stats64");
        return List.of(s.get("rx").get("packets").asLong(), s.get("rx").get("bytes").asLong(), s.get("tx").get(
                "packets").asLong(), s.get("tx").get("bytes").asLong());
    }

    /** The difference between the interface's own counters and the monitor's, of a moment without packets. */
    private static List<Long> difference(CommandProcess p) throws Exception {
        while (true) {
            List<Long> before = statistics();
            Instant taken = Instant.now();
            JsonNode sample = JSON.readTree(p.line());
            while (Instant.parse(sample.get("time").asText()).isBefore(taken)) { // older ones wait in the pipe
                sample = JSON.readTree(p.line());
            }
            sample = JSON.readTree(p.line()); // which is begun after the statistics were taken
            if (statistics().equals(before)) {
                List<Long> is = List.of(sample.get("received").get("packets").asLong(), sample.get("received").get(
                        "bytes").asLong(), sample.get("sent").get("packets").asLong(), sample.get("sent").get("bytes")
                                .asLong());
                List<Long> difference = new ArrayList<>();
                for (int i = 0; i < is.size(); i++) {
                    difference.add(before.get(i) - is.get(i));
                }
                return difference;
            }
        }
    }

    @Test
    void sumsAreThoseOfTheInterfaceAndTheStreamIsInTheFile() throws Exception {
        Path file = folder.resolve("all.pcap");
        with(sink -> {
            try (CommandProcess p = CommandProcess.start("monitor", NETDEV, "--json", "-i", "50ms", "--write", file
                    .toString())) {
                JSON.readTree(p.line());
                List<Long> before = difference(p);
                stream(sink);
                datagrams(sink);
                stream(sink);
                assertThat(difference(p)).isEqualTo(before);
                interrupt(p);
                CommandProcess.Result r = p.end();
                assertThat(r.code()).as(r.err()).isEqualTo(143);
                JsonNode last = JSON.readTree(r.out().lines().toList().getLast());
                assertThat(last.get("captured").asLong()).isEqualTo(last.get("sent").get("packets").asLong() + last
                        .get("received").get("packets").asLong());
                assertThat(last.get("capture_lost").asLong()).isZero();
                long inLines = StreamSupport.stream(last.get("lines").spliterator(), false).mapToLong(l -> l.get(
                        "bytes").asLong()).sum();
                assertThat(inLines).isEqualTo(last.get("sent").get("bytes").asLong() + last.get("received").get(
                        "bytes").asLong());
            }
        });
        List<String> lengths = tshark(file, "-Y", "tcp.dstport == " + PORT + " && !tcp.analysis.retransmission", "-e",
                "tcp.len");
        if (!lengths.isEmpty()) {
            assertThat(lengths.stream().mapToLong(Long::parseLong).sum()).isEqualTo(2L * STREAM);
        }
    }

    @Test
    void addressesPortsTextAndCsvShowTheSame() throws Exception {
        with(sink -> {
            String port = Integer.toString(PORT);
            try (CommandProcess addresses = CommandProcess.start("monitor", NETDEV, "--once", "--json", "-i", "200",
                    "-b", "address", "udp", "dst", "port", port);
                    CommandProcess ports = CommandProcess.start("monitor", NETDEV, "--once", "--json", "-i", "200",
                            "--by=port", "udp", "src", "and", "dst", "port", port);
                    CommandProcess text = CommandProcess.start("monitor", NETDEV, "--once", "-i", "200", "udp", "port",
                            port, "and", "outbound", "and", "not", "dst", "port", Integer.toString(OTHER_PORT));
                    CommandProcess csv = CommandProcess.start("monitor", NETDEV, "--once", "--csv", "-i", "200", "-s",
                            "packets", "udp")) {
                awaitPacketSockets(4);
                datagrams(sink);
                for (CommandProcess p : List.of(addresses, ports, text, csv)) {
                    interrupt(p);
                }
                long there = MESSAGES * (UDP_HEADERS + (long) MESSAGE);
                long back = UDP_HEADERS + MESSAGE / 2;
                JsonNode byAddress = JSON.readTree(addresses.end().out());
                for (String a : List.of(RoceNamespaces.ADDRESS_A, RoceNamespaces.ADDRESS_B)) {
                    JsonNode line = line(byAddress, l -> l.get("address").asText().equals(a));
                    assertCount(line, MESSAGES + 1, there + back);
                    boolean first = a.equals(RoceNamespaces.ADDRESS_A);
                    assertCount(line.get(first ? "from" : "to"), MESSAGES, there);
                    assertCount(line.get(first ? "to" : "from"), 1, back);
                }
                JsonNode byPort = JSON.readTree(ports.end().out());
                assertThat(byPort.get("lines")).hasSize(1);
                assertCount(byPort.get("lines").get(0), MESSAGES + 1, there + back);
                assertThat(byPort.get("lines").get(0).get("port").asInt()).isEqualTo(PORT);
                List<String> shown = text.end().out().lines().toList();
                assertThat(shown).hasSize(3);
                assertThat(shown.get(0)).contains(NETDEV + "  received 0 packets/s 0 B/s, sent ", "  [udp port " + port
                        + " and outbound and not dst port " + OTHER_PORT + "]");
                assertThat(shown.get(1)).startsWith("FLOW ").contains("PKT/s", "B/s", "AVG-PKT/s", "AVG-B/s",
                        "PACKETS", "BYTES");
                assertThat(shown.get(2)).startsWith("out udp " + RoceNamespaces.ADDRESS_A + ":" + port + " > "
                        + RoceNamespaces.ADDRESS_B + ":" + port + " ").endsWith(" " + MESSAGES + "   " + there);
                List<String> values = csv.end().out().lines().toList();
                assertThat(values.getFirst()).startsWith("time,interface,direction,type,vlan,protocol,fragment,source,"
                        + "source_port,destination,destination_port,packets,bytes,packets_per_second,");
                assertThat(values.subList(1, values.size())).filteredOn(v -> v.contains(",sent,ip,,udp,false,"
                        + RoceNamespaces.ADDRESS_A + "," + port + "," + RoceNamespaces.ADDRESS_B + "," + port + ","
                        + MESSAGES + "," + there + ",")).hasSize(1);
            }
        });
    }

    /** A monitor that is killed leaves nothing, and the traffic and another monitor go on. */
    @Test
    void killedMonitorLeavesNothing() throws Exception {
        Path file = folder.resolve("killed.pcap");
        with(sink -> {
            try (CommandProcess killed = CommandProcess.start("monitor", NETDEV, "--json", "-i", "20ms", "-w", file
                    .toString(), "udp", "port", Integer.toString(PORT));
                    CommandProcess other = CommandProcess.start("monitor", NETDEV, "--once", "--json", "-i", "200",
                            "udp", "dst", "port", Integer.toString(PORT))) {
                awaitPacketSockets(2);
                datagrams(sink);
                while (JSON.readTree(killed.line()).get("captured").asLong() < 2 * MESSAGES + 1) {
                    // the next sample
                }
                killed.process().destroyForcibly().waitFor();
                awaitPacketSockets(1);
                datagrams(sink);
                interrupt(other);
                JsonNode sample = JSON.readTree(other.end().out());
                assertCount(line(sample, flow("sent", "udp", PORT)), 2 * MESSAGES, 2 * MESSAGES * (UDP_HEADERS
                        + (long) MESSAGE));
                awaitPacketSockets(0);
            }
        });
        List<String> frames = tshark(file, "-e", "frame.len");
        if (!frames.isEmpty()) { // all that was captured, and whole packets only
            assertThat(frames).hasSize(2 * MESSAGES + 1);
        }
    }

    /** More flows than there is room for are said, and the sums have them. */
    @Test
    void evictedFlowsAreSaid() throws Exception {
        int flows = 3000;
        with(sink -> {
            try (CommandProcess p = CommandProcess.start("monitor", NETDEV, "--once", "--json", "-i", "200", "--flows",
                    "512", "udp", "and", "outbound");
                    CommandProcess text = CommandProcess.start("monitor", NETDEV, "--once", "-i", "200", "--flows",
                            "512", "-l", "3", "udp", "and", "outbound");
                    DatagramChannel from = DatagramChannel.open()) {
                awaitPacketSockets(2);
                for (int port = 10_000; port < 10_000 + flows; port++) {
                    from.send(ByteBuffer.allocate(10), new InetSocketAddress(RoceNamespaces.ADDRESS_B, port));
                    sink.udp.send(ByteBuffer.allocate(0), new InetSocketAddress(RoceNamespaces.ADDRESS_A, port));
                }
                interrupt(p);
                interrupt(text);
                JsonNode sample = JSON.readTree(p.end().out());
                int shown = sample.get("lines").size();
                assertThat(shown).isBetween(1, 512);
                assertCount(sample.get("sent"), flows, flows * (UDP_HEADERS + 10L));
                assertThat(sample.get("evicted_flows").asInt()).isEqualTo(flows - shown);
                assertCount(sample.get("outside"), flows - shown, (flows - shown) * (UDP_HEADERS + 10L));
                assertThat(text.end().out().lines().toList()).hasSize(7).last().asString().contains(
                        " had to make room for others (--flows): ", "are in the sums alone");
            }
        });
    }

    /** An XDP program takes packets away before they are seen: its name is said. */
    @Test
    void foreignXdpProgramIsLeftAloneAndNamed() throws Exception {
        long[] pass = {Bpf.instruction(0xb7, 0, 0, 0, Bpf.XDP_PASS), Bpf.instruction(0x95, 0, 0, 0, 0)};
        with(sink -> {
            try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE);
                    Fd program = Bpf.load(Bpf.BPF_PROG_TYPE_XDP, pass, "Apache-2.0", "somebody", 0);
                    Fd attached = Bpf.attach(program, NetworkLinks.index(netlink, NETDEV), Bpf.XDP_FLAGS_SKB_MODE);
                    CommandProcess p = CommandProcess.start("monitor", NETDEV, "--json", "-n", "1", "-i", "10ms");
                    CommandProcess text = CommandProcess.start("monitor", NETDEV, "-n", "1", "-i", "10ms")) {
                assertThat(attached.isClosed()).isFalse();
                assertThat(JSON.readTree(p.end().out()).get("xdp").asText()).contains("\"somebody\" (generic");
                assertThat(text.end().out().lines().toList()).last().asString().startsWith("an XDP program ").contains(
                        "\"somebody\"").endsWith(" is attached: what it takes or drops is not counted here");
            }
        });
    }

    @Test
    void interfaceWithoutEthernetHeadersIsRefused() throws Exception {
        with(_ -> {
            Finished made = Finished.run("ip", "tuntap", "add", "dev", "tun9", "mode", "tun");
            assertThat(made.code()).as(made.output()).isZero();
            refused("the packets of tun9 are no Ethernet frames", 1, "monitor", "tun9");
        });
    }

    @Test
    void goneInterfaceEndsIt() throws Exception {
        with(sink -> {
            try (CommandProcess p = CommandProcess.start("monitor", NETDEV, "-i", "20ms");
                    Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
                assertThat(p.line()).contains(NETDEV);
                NetworkLinks.delete(netlink, NetworkLinks.index(netlink, NETDEV));
                CommandProcess.Result r = p.end();
                assertThat(r.code()).as(r.err()).isZero();
                assertThat(r.err()).contains("watching " + NETDEV, "the network interface " + NETDEV + " is gone");
            }
        });
    }

    @Test
    void screenShowsFlowsAddressesAndPorts() throws Exception {
        with(sink -> {
            try (ScreenProcess p = new ScreenProcess("xterm", 20, 120, TerminalTest.verbena() + "monitor " + NETDEV
                    + " -i 0.1 udp; echo \"ended with $?\"")) {
                awaitPacketSockets(1);
                datagrams(sink);
                p.await("verbena monitor  vcable0", "[udp]", "FLOW", "TREND", "out udp " + RoceNamespaces.ADDRESS_A
                        + ":"
                        + PORT + " > " + RoceNamespaces.ADDRESS_B + ":" + PORT, Long.toString(MESSAGES * (UDP_HEADERS
                                + (long) MESSAGE)));
                assertThat(p.screen().isAlternate()).isTrue();
                p.type("a");
                p.await("2 addresses", "ADDRESS", RoceNamespaces.ADDRESS_B);
                p.type("o");
                p.await("2 ports", "PORT", "udp " + OTHER_PORT);
                p.type("p");
                p.await("PAUSED");
                p.type("q");
                p.await("ended with 0");
            }
        });
    }

    /** The kernel takes the tag out of a received frame; it is counted and written all the same. */
    @Test
    void tagsOfVlansAreSeen() throws Exception {
        Path file = folder.resolve("vlan.pcap");
        byte[] frame = HexFormat.of().parseHex("020000000001" + "020000000002" + "81006007" + "0800"
                + "4500002c00004000401100000a0000010a000002" + "0035003500180000" + "00".repeat(16));
        with(sink -> {
            try (CommandProcess p = CommandProcess.start("monitor", NETDEV, "--once", "--json", "-i", "200", "-w", file
                    .toString(), "vlan", "7")) {
                awaitPacketSockets(1);
                sink.send(frame);
                frame[15] = 8;
                sink.send(frame);
                frame[15] = 7;
                sink.send(frame);
                interrupt(p);
                JsonNode sample = JSON.readTree(p.end().out());
                JsonNode flow = line(sample, l -> l.get("vlan").asInt() == 7);
                assertCount(flow, 2, 2L * frame.length);
                assertThat(flow.get("direction").asText()).isEqualTo("received");
                assertThat(flow.get("source_port").asInt()).isEqualTo(53);
                assertThat(sample.get("lines")).hasSize(1);
            }
        });
        List<String> frames = tshark(file, "-e", "frame.len", "-e", "vlan.id", "-e", "udp.srcport");
        if (!frames.isEmpty()) {
            assertThat(frames).containsExactly(frame.length + "\t7\t53", frame.length + "\t7\t53");
        }
    }

    @Test
    void mappedAddressesInIpv6AreShownAsThoseOfIpv6() throws Exception {
        String mapped = "00000000000000000000ffff0a0000";
        byte[] frame = HexFormat.of().parseHex("020000000001" + "020000000002" + "86dd" + "6000000000081140" + mapped
                + "01" + mapped + "02" + "0035003600080000");
        with(sink -> {
            try (CommandProcess p = CommandProcess.start("monitor", NETDEV, "--once", "--csv", "-i", "200", "host",
                    "::ffff:10.0.0.1")) {
                awaitPacketSockets(1);
                sink.send(frame);
                interrupt(p);
                assertThat(p.end().out().lines().toList()).hasSize(2).last().asString().contains(
                        ",received,ip6,,udp,false,::ffff:10.0.0.1,53,::ffff:10.0.0.2,54,1,62,");
            }
        });
    }

    private static void refused(String what, int code, String... arguments) {
        CommandProcess.Result r = CommandProcess.refuse(arguments);
        assertThat(r.code()).as(r.err()).isEqualTo(code);
        assertThat(r.err()).contains(what);
    }

    @Test
    void mistakesAreNamed() {
        refused("""
                column 14 of the filter: the number of a port is expected, 0 to 65535, not 'http'
                  tcp dst port http
                               ^""", 2, "monitor", "lo", "tcp", "dst", "port", "http");
        refused("there is no network interface 'nix': there are lo", 1, "monitor", "nix");
        refused("--cached is for processes", 2, "monitor", "lo", "--cached");
        refused("--csv and --json exclude each other", 2, "monitor", "lo", "--csv", "--json");
        refused("--once and --count exclude each other", 2, "monitor", "lo", "--once", "-n", "2");
        refused("there is no column 'x': flow, packets/s", 2, "monitor", "lo", "-s", "x");
        refused("--flows must be 512 to", 2, "monitor", "lo", "--flows", "0");
        refused("--ring must be 1 to 1023", 2, "monitor", "lo", "--ring", "1024");
        refused("--lines must be 1", 2, "monitor", "lo", "-l", "0");
        refused("the filter is too long", 1, "monitor", "lo", "host 1.2.3.4" + " or 1.2.3.5".repeat(600));
        refused("/nowhere/x.pcap", 1, "monitor", "lo", "-w", "/nowhere/x.pcap");
        refused("--once is for network interfaces", 2, "monitor", "1", "qp:1", "tx", "--once");
        refused("'2' is one too many", 2, "monitor", "1", "qp:1", "tx", "2");
    }
}
