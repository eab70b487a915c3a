// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

import org.verbena.xdp.monitor.MonitorSample;
import org.verbena.xdp.monitor.MonitorSample.Count;
import org.verbena.xdp.monitor.MonitoredFlow;

/** What is shown of samples whose figures are given. */
class TrafficReportTest {
    private static final long SECOND = 1_000_000_000;
    private static final MonitoredFlow WEB = flow(true, -1, 6, 4000, 80);
    private static final MonitoredFlow NAMES = flow(false, 5, 17, 53, 4001);
    private static final MonitoredFlow PING = flow(false, -1, 1, -1, -1);
    private static final MonitoredFlow ARP = new MonitoredFlow(false, 0x0806, -1, Optional.empty(), Optional.empty(),
            -1,
            false, -1, -1);
    private static final MonitorSample FIRST = new MonitorSample(SECOND, Map.of(WEB, new Count(100, 100_000, 1), NAMES,
            new Count(10, 1000, 2)), new Count(10, 1000), new Count(100, 100_000), 0, Count.NONE, 0);
    /** NAMES made room and came back, and is smaller than it was. */
    private static final MonitorSample SECOND_ONE = new MonitorSample(3 * SECOND, Map.of(WEB, new Count(300, 500_000,
            1),
            NAMES, new Count(4, 400, 9), PING, new Count(2, 200, 7), ARP, new Count(1, 60, 8)), new Count(17, 1660),
            new Count(300, 500_000), 1, new Count(10, 1000), 3);

    private static MonitoredFlow flow(boolean sent, int vlan, int protocol, int source, int destination) {
        return new MonitoredFlow(sent, 0x0800, vlan, Optional.of(InetAddress.ofLiteral("10.0.0.1")), Optional.of(
                InetAddress.ofLiteral("10.0.0.2")), protocol, false, source, destination);
    }

    private static TrafficOptions options(String... arguments) {
        TrafficOptions options = CommandLine.populateCommand(new TrafficOptions(), arguments);
        options.target("eth0", "not port 22");
        return options;
    }

    private static TrafficReport report(TrafficBy by, String... arguments) {
        return TrafficReport.of(options(arguments), by, 0, new TrafficLook(Instant.EPOCH, SECOND_ONE,
                "XDP program 7 \"x\" (native)"), FIRST, 20);
    }

    @Test
    void mappedAddressesAreThoseOfIpv6() throws Exception {
        byte[] mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 10, 0, 0, 1};
        Optional<InetAddress> address = Optional.of(Inet6Address.getByAddress(null, mapped, -1));
        MonitoredFlow flow = new MonitoredFlow(false, 0x86dd, -1, address, Optional.of(InetAddress.ofLiteral("::2")),
                17,
                false, 53, 54);
        MonitorSample sample = new MonitorSample(2 * SECOND, Map.of(flow, new Count(1, 70, 1), WEB, new Count(1, 60,
                1)),
                new Count(1, 70), new Count(1, 60), 0, Count.NONE, 0);
        TrafficLook look = new TrafficLook(Instant.EPOCH, sample, "");
        TrafficReport flows = TrafficReport.of(options(), TrafficBy.FLOW, 0, look, null, 0);
        assertThat(flows.text(null, true, 200)).anyMatch(l -> l.startsWith(
                "in  udp [::ffff:10.0.0.1]:53 > [0:0:0:0:0:0:0:2]:54 "));
        JsonNode line = new ObjectMapper().readTree(flows.json()).get("lines").get(0);
        assertThat(line.get("source").asText()).isEqualTo("::ffff:10.0.0.1");
        assertThat(line.get("type").asText()).isEqualTo("ip6");
        assertThat(flows.csv(false)).anyMatch(l -> l.contains(",::ffff:10.0.0.1,53,"));
        TrafficReport addresses = TrafficReport.of(options(), TrafficBy.ADDRESS, 0, look, null, 0);
        assertThat(new ObjectMapper().readTree(addresses.json()).get("lines").findValuesAsText("address"))
                .containsExactlyInAnyOrder("::ffff:10.0.0.1", "0:0:0:0:0:0:0:2", "10.0.0.1", "10.0.0.2");
    }

    private static List<String> words(String line) {
        return List.of(line.strip().split(" {2,}", -1));
    }

    @Test
    void textHasRatesOfTheIntervalAndOfTheRunAndWhatIsMissing() {
        List<String> text = report(TrafficBy.FLOW, "-w", "x.pcap").text(null, true, 200);
        assertThat(text.get(0)).contains("  eth0  received 3.50 packets/s 330 B/s, sent 100 packets/s 200000 B/s  over"
                + " 2.000 s  [not port 22]");
        assertThat(words(text.get(1))).containsExactly("FLOW", "PKT/s", "B/s", "AVG-PKT/s", "AVG-B/s", "PACKETS",
                "BYTES");
        assertThat(words(text.get(2))).containsExactly("out tcp 10.0.0.1:4000 > 10.0.0.2:80", "100", "200000", "100",
                "166667", "300", "500000");
        assertThat(words(text.get(3))).containsExactly("in", "vlan 5 udp 10.0.0.1:53 > 10.0.0.2:4001", "2.00", "200",
                "1.33", "133", "4", "400");
        assertThat(words(text.get(4)).subList(0, 2)).containsExactly("in", "icmp 10.0.0.1 > 10.0.0.2");
        assertThat(words(text.get(5)).subList(0, 2)).containsExactly("in", "arp");
        assertThat(text.subList(6, text.size())).containsExactly(
                "1 flow had to make room for others (--flows): 10 packets of 1000 bytes are in the sums alone",
                "20 packets written to x.pcap; 3 lost there, because the ring was full (--ring): they are counted",
                "an XDP program 7 \"x\" (native) is attached: what it takes or drops is not counted here");
    }

    @Test
    void linesMayBeFewerAndInAnotherOrder() {
        List<String> text = report(TrafficBy.FLOW, "-l", "2", "-s", "packets").text(null, true, 200);
        assertThat(text.get(2)).startsWith("out tcp ");
        assertThat(text.get(4)).isEqualTo("(2 more: --lines)");
        assertThat(report(TrafficBy.FLOW, "-s", "flow").text(null, true, 200).get(2)).startsWith("in  arp");
    }

    @Test
    void addressesAndPortsAreSums() throws Exception {
        JsonNode addresses = new ObjectMapper().readTree(report(TrafficBy.ADDRESS).json());
        assertThat(addresses.get("lines")).hasSize(2);
        JsonNode one = addresses.get("lines").get(0);
        assertThat(one.get("address").asText()).isEqualTo("10.0.0.1");
        assertThat(one.get("packets").asLong()).isEqualTo(306);
        assertThat(one.get("from").get("bytes").asLong()).isEqualTo(500_600);
        assertThat(one.get("to").get("bytes").asLong()).isZero();
        assertThat(addresses.get("outside").get("bytes").asLong()).isEqualTo(1000);
        assertThat(addresses.get("evicted_flows").asLong()).isOne();
        assertThat(addresses.get("capture_lost").asLong()).isEqualTo(3);
        JsonNode ports = new ObjectMapper().readTree(report(TrafficBy.PORT).json());
        assertThat(ports.get("lines").findValuesAsText("port")).containsExactly("4000", "80", "4001", "53");
        assertThat(ports.get("lines").get(3).get("protocol").asText()).isEqualTo("udp");
    }

    @Test
    void csvHasNamesOnce() {
        TrafficReport r = report(TrafficBy.FLOW);
        assertThat(r.csv(true)).hasSize(5).first().asString().isEqualTo("time,interface,direction,type,vlan,protocol,"
                + "fragment,source,source_port,destination,destination_port,packets,bytes,packets_per_second,"
                + "bytes_per_second,average_packets_per_second,average_bytes_per_second");
        assertThat(r.csv(false)).hasSize(4).last().asString().isEqualTo(
                "1970-01-01T00:00:00Z,eth0,received,arp,,,false,"
                        + ",,,,1,60,0.5,30.0,0.333333,20.0");
    }

    @Test
    void screenChangesItsLinesByKeys() {
        TrafficView view = new TrafficView(options(), 0);
        view.drawsBlocks(false);
        view.show(0, new TrafficLook(Instant.EPOCH, FIRST, ""));
        view.show(0, new TrafficLook(Instant.EPOCH, SECOND_ONE, ""));
        assertThat(screen(view)).startsWith("verbena monitor  eth0  4 flows  [not port 22]").contains("FLOW ", "TREND",
                "out tcp 10.0.0.1:4000", "1 flow had to make room", "#");
        view.press(StatKey.text("a"));
        assertThat(screen(view)).startsWith("verbena monitor  eth0  2 addresses");
        view.press(StatKey.text("o"));
        view.press(StatKey.text(">"));
        view.press(StatKey.text("r"));
        assertThat(screen(view)).startsWith("verbena monitor  eth0  4 ports  sorted by packets/s, reversed");
        view.press(StatKey.text("p"));
        view.show(0, new TrafficLook(Instant.EPOCH, FIRST, ""));
        assertThat(screen(view)).contains("4 ports", "PAUSED");
        assertThat(view.hasQuit()).isFalse();
        view.lost(0, "gone");
        assertThat(view.hasQuit()).isTrue();
        assertThat(view.problem()).isEqualTo("gone");
        for (int rows = 0; rows < 12; rows++) {
            assertThat(view.lines(rows, 10)).hasSizeLessThanOrEqualTo(Math.max(1, rows)).allMatch(l -> l.text()
                    .length() <= 10);
        }
    }

    private static String screen(TrafficView view) {
        return String.join("\n", view.lines(24, 120).stream().map(StatLine::text).toList());
    }
}
