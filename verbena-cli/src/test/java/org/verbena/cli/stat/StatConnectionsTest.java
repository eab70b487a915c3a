// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The screen of connections at several widths, of all processes and of one. */
class StatConnectionsTest {
    private static final int MANY = 700;
    private static final String IPV4 = "192.168.100.100:50000";
    private static final String IPV6 = "[2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff]:50000";

    private static StatProcess process(long pid, long seconds) {
        return StatSamples.process(pid, seconds * StatSamples.SECOND, StatSamples.device(), StatSamples.port(7, 7),
                StatSamples.connection(1, "127.0.0.1:40247", "127.0.0.1:59194", "", 1000 * seconds),
                StatSamples.connection(2, "127.0.0.1:40247", "127.0.0.1:59195", "plain_peer", 2000 * seconds),
                StatSamples.connection(3, "127.0.0.1:40247", "127.0.0.1:59196", "undecided", 0));
    }

    private static StatView all() {
        StatView v = new StatView(0, Set.of());
        v.begin(true, "", false, "");
        type(v, "s");
        assertThat(v.wanted()).isEqualTo(StatView.SOCKETS_OF_ALL);
        show(v, process(4711, 1), process(4712, 1));
        show(v, process(4711, 2), process(4712, 2));
        return v;
    }

    private static void show(StatView v, StatProcess... processes) {
        v.show(v.wanted(), StatSamples.snapshot(processes));
    }

    private static void type(StatView v, String text) {
        text.chars().forEach(c -> v.press(StatKey.text(String.valueOf((char) c))));
    }

    private static List<String> text(StatView v, int columns) {
        return v.lines(24, columns).stream().map(StatLine::text).toList();
    }

    /** The line with a text. */
    private static String line(StatView v, int columns, String with) {
        return text(v, columns).stream().filter(l -> l.contains(with)).findFirst().orElseThrow(
                () -> new AssertionError(with + " is not in\n" + String.join("\n", text(v, columns))));
    }

    @Test
    void eightyColumnsHaveWhatMattersMost() {
        StatView v = all();
        assertThat(line(v, 80, "LOCAL")).matches(
                " +PID  LOCAL +REMOTE +BY +RX-B/s +TX-B/s").hasSizeLessThanOrEqualTo(80);
        assertThat(line(v, 80, ":59194")).matches(" +4711  127.0.0.1:40247  127.0.0.1:59194 +ring +2000 +1000");
        assertThat(line(v, 80, ":59195")).matches(
                " +4711  127.0.0.1:40247  127.0.0.1:59195  tcp plain_peer +4000 +2000");
        assertThat(line(v, 80, ":59196")).matches(" +4711  127.0.0.1:40247  127.0.0.1:59196  undecided +0 +0");
        assertThat(text(v, 80).getFirst()).contains("6 connections", "rates");
        assertThat(text(v, 80).getLast()).isEqualTo(
                "h help  Enter open  Esc back  < > sort  r reverse  / filter  t totals  q quit");
    }

    @Test
    void hundredAndSixtyColumnsHaveAll() {
        StatView v = all();
        assertThat(line(v, 220, "LOCAL")).matches(".* TX-B  TREND +WAKES/s .* STATE +COMMAND");
        assertThat(line(v, 160, "LOCAL")).matches(" +PID  LOCAL +REMOTE +BY +RX-B/s +TX-B/s +RX-RING +TX-RING +RX-B"
                + " +TX-B +WAKES/s +BELLS/s +STALLS/s  STATE");
        assertThat(line(v, 160, ":59194")).matches(
                " +4711  127.0.0.1:40247  127.0.0.1:59194 +ring +2000 +1000 +1.5K/64K"
                        + " +4K/4K +4000 +2000 +1000 +1000 +0  OPEN.*");
        assertThat(line(v, 160, ":59195")).matches(".*  tcp plain_peer +4000 +2000 +- +- +8000 +4000 .*");
        type(v, "t");
        assertThat(line(v, 80, "LOCAL")).matches(" +PID  LOCAL +REMOTE +BY +RX-B +TX-B");
        assertThat(line(v, 80, ":59194")).matches(".*ring +4000 +2000");
    }

    @Test
    void sumsAndTheirLastRatesAreShown() {
        StatView v = all();
        v.drawsBlocks(true);
        assertThat(text(v, 80).get(2)).isEqualTo(
                "RX-B/s   12000          █  TX-B/s    6000          █  2 ring, 2 tcp, 2 undecided");
        assertThat(text(v, 160).get(2)).matches(
                "RX-B/s   12000 {30}█  TX-B/s    6000 {30}█  2 ring, 2 tcp, 2 undecided");
        assertThat(line(v, 80, " total ")).matches(" +total +12000 +6000");
        assertThat(line(v, 160, " total ")).matches(" +total +12000 +6000 +24000 +12000 +6000 +6000 +0");
        show(v, process(4711, 3), process(4712, 2)); // the second has not gone on
        assertThat(text(v, 80).get(2)).startsWith("RX-B/s    6000         █▅  TX-B/s    3000         █▅");
        v.drawsBlocks(false);
        assertThat(text(v, 80).get(2)).startsWith("RX-B/s    6000         #=  ").matches("\\p{ASCII}*");
        type(v, "/:59194");
        v.press(StatKey.of(StatKey.Name.ENTER));
        assertThat(line(v, 80, " total ")).as("of all").matches(" +total +6000 +3000");
        type(v, "t");
        assertThat(line(v, 80, " total ")).matches(" +total +30000 +15000");
        assertThat(v.lines(8, 80).stream().filter(l -> l.text().contains(":59194"))).as("8 lines").isNotEmpty();
    }

    @Test
    void linesHaveTheirLastRates() {
        StatView v = all();
        v.drawsBlocks(true);
        for (int i = 3; i < 40; i++) {
            show(v, process(4711, i), process(4712, i));
        }
        assertThat(line(v, 220, ":59194")).contains("  ████████████ ");
        assertThat(line(v, 220, ":59196")).contains("  ▁▁▁▁▁▁▁▁▁▁▁▁ ");
    }

    /** A process that does not answer, or cannot be looked at, has gone on meanwhile as far as anybody knows. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void sumsDoNotFallSinceALookWasMissed(boolean silent) {
        StatView v = all();
        String rates = "RX-B/s   12000 ";
        assertThat(text(v, 80).get(2)).startsWith(rates);
        missLook(v, silent, 3);
        assertThat(text(v, 80).get(2)).as("the last rates").startsWith(rates).endsWith("2 ring, 2 tcp, 2 undecided");
        assertThat(line(v, 80, " total ")).matches(" +total +12000 +6000");
        assertThat(text(v, 80)).filteredOn(l -> l.matches(" +4712 .* -  +-")).as("its own are unknown").hasSize(3);
        missLook(v, silent, 4);
        assertThat(text(v, 80).get(2)).as("it may have stopped").startsWith("RX-B/s    6000 ");
        type(v, "t");
        assertThat(line(v, 80, " total ")).as("what it has counted stays").matches(" +total +36000 +18000");
        type(v, "d");
        show(v, process(4711, 6), process(4712, 6));
        assertThat(text(v, 80).get(2)).as("since its last answer").startsWith(rates);
        show(v, process(4711, 7));
        assertThat(text(v, 80).get(2)).as("it has ended").startsWith("RX-B/s    6000 ").endsWith(
                "1 ring, 1 tcp, 1 undecided");
    }

    /** The second process is missed; the values in its file are those of its first second. */
    private static void missLook(StatView v, boolean silent, long seconds) {
        StatProcess other = process(4712, 1);
        v.show(v.wanted(), silent
                ? StatSamples.snapshot(process(4711, seconds), new StatProcess(other.pid(), other.command(), other
                        .created(), seconds * StatSamples.SECOND, true, true, other.kinds(), other.objects()))
                : new StatSnapshot(StatSamples.CREATED, List.of(process(4711, seconds)), List.of("no descriptor left"),
                        Set.of(4712L)));
    }

    /** No row is longer than the screen, and each has its address, whose port is not cut off. */
    @ParameterizedTest
    @ValueSource(ints = {80, 81, 100, 132, 160, 300})
    void addressesFitEveryWidth(int columns) {
        for (String address : List.of(IPV4, IPV6, "")) {
            for (String why : List.of("", "foreign_selector", "undecided")) {
                StatView v = new StatView(0, Set.of());
                v.begin(true, "", false, "");
                type(v, "s");
                show(v, StatSamples.process(4194304, 1, StatSamples.connection(1, address, address, why, 1)));
                assertThat(text(v, columns)).hasSize(24).allSatisfy(l -> assertThat(l.length()).isLessThanOrEqualTo(
                        columns));
                String row = line(v, columns, "4194304");
                if (!address.isEmpty()) {
                    assertThat(row.split(" +", -1)).filteredOn(w -> w.endsWith(":50000")).hasSize(2);
                }
                assertThat(line(v, columns, "LOCAL")).contains("RX-B/s", "TX-B/s", "BY");
            }
        }
    }

    @Test
    void hundredsAreSortedFilteredAndScrolled() {
        List<StatObject> objects = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            objects.add(StatSamples.connection(i, "10.0.0.1:80", "10.0.0.2:" + (20000 + i), i % 7 == 0 ? "rule" : "",
                    i));
        }
        StatView v = new StatView(4711, Set.of());
        v.begin(false, "", false, "");
        type(v, "s");
        assertThat(v.wanted()).isEqualTo(4711);
        show(v, StatSamples.process(4711, 1, objects.toArray(StatObject[]::new)));
        assertThat(text(v, 80).getFirst()).contains("700 connections of process 4711");
        Set<String> orders = new TreeSet<>();
        for (int i = 0; i < 30; i++) {
            type(v, ">");
            orders.add(text(v, 80).getFirst().replaceFirst(".*sorted by ([a-z-]+).*", "$1"));
        }
        assertThat(orders).as("only what is seen").hasSize(line(v, 80, "REMOTE").strip().split(" +", -1).length);
        v.begin(false, "", false, "");
        type(v, ">>>"); // remote, by, rx-bytes
        assertThat(text(v, 80).getFirst()).contains("sorted by rx-bytes");
        assertThat(first(v)).contains("10.0.0.2:20699");
        type(v, "r");
        assertThat(first(v)).contains("10.0.0.2:20000");
        v.press(StatKey.of(StatKey.Name.END));
        assertThat(selected(v)).contains("10.0.0.2:20699");
        v.press(StatKey.of(StatKey.Name.PAGE_UP));
        assertThat(selected(v)).contains("10.0.0.2:206");
        type(v, "/tcp rule");
        v.press(StatKey.of(StatKey.Name.ENTER));
        assertThat(text(v, 80).getFirst()).contains("100 connections");
        v.press(StatKey.of(StatKey.Name.HOME));
        assertThat(selected(v)).contains("10.0.0.2:20000", "tcp rule");
    }

    private static String selected(StatView v) {
        return v.lines(24, 80).stream().filter(l -> l.style() == StatLine.Style.SELECTED).map(StatLine::text)
                .findFirst().orElse("");
    }

    private static String first(StatView v) {
        v.press(StatKey.of(StatKey.Name.HOME));
        return selected(v);
    }

    @Test
    void enterOpensAConnectionAndEscapeReturns() {
        StatView v = all();
        v.press(StatKey.of(StatKey.Name.DOWN));
        v.press(StatKey.of(StatKey.Name.ENTER));
        assertThat(v.wanted()).isEqualTo(4711);
        show(v, process(4711, 3));
        assertThat(String.join("\n", text(v, 80))).contains("connection:0x2 of process 4711", "by tcp for plain_peer",
                "SAMPLE POINT", "tx_ring_bytes");
        type(v, "s");
        assertThat(text(v, 80).get(1)).contains("Esc first");
        v.press(StatKey.of(StatKey.Name.ESCAPE));
        assertThat(v.wanted()).isEqualTo(StatView.SOCKETS_OF_ALL);
        show(v, process(4711, 4), process(4712, 4));
        assertThat(selected(v)).as("what was chosen before").contains(":59195");
        type(v, "s");
        assertThat(v.wanted()).as("back").isZero();
    }

    @Test
    void endOfTheProcessLeadsBackToAllConnections() {
        StatView v = all();
        v.press(StatKey.of(StatKey.Name.ENTER));
        v.lost(4711, "process 4711 has ended");
        assertThat(v.wanted()).isEqualTo(StatView.SOCKETS_OF_ALL);
        show(v, process(4712, 5));
        assertThat(text(v, 80).get(1)).contains("process 4711 has ended");
    }

    @Test
    void nothingIsSaidOfNoConnections() {
        StatView v = new StatView(4711, Set.of());
        v.openSockets();
        v.begin(true, "", false, "");
        show(v, StatSamples.process(4711, 1, StatSamples.device()));
        assertThat(String.join("\n", text(v, 80))).contains("0 connections of process 4711", "no connections");
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "999, 999", "1000, 1.0K", "1024, 1K", "1536, 1.5K", "10239, 10K", "1023999, 1.0M",
        "1048576, 1M",
        "1572864, 1.5M", "-1, 16E"})
    void sizesHaveFourCharacters(long bytes, String text) {
        assertThat(StatText.size(bytes)).isEqualTo(text);
    }
}
