// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

import org.verbena.verbs.ObjectType;
import org.verbena.verbs.SamplePoint;

/** Samples, deltas, tables, names and texts, without a process. */
class StatModelTest {
    private static StatDelta delta(StatProcess now, StatProcess before) {
        return StatDelta.of(now, StatSamples.snapshot(before));
    }

    @Test
    void rateIsDeltaDividedByInterval() {
        StatObject now = StatSamples.queuePair(0x11, 350, 7000);
        StatDelta d = delta(StatSamples.process(1, 3 * StatSamples.SECOND, now),
                StatSamples.process(1, StatSamples.SECOND, StatSamples.queuePair(0x11, 50, 1000)));
        assertThat(d.seconds()).isEqualTo(2);
        assertThat(d.rate(now, StatFigure.TX)).isEqualTo(150);
        assertThat(d.rate(now, SamplePoint.QP_TX_SEND_BYTES)).isEqualTo(3000);
    }

    @Test
    void countersWrapAt64BitsAndNeverDecrease() {
        assertThat(StatDelta.change(4, -6)).isEqualTo(10);
        assertThat(StatDelta.change(Long.MIN_VALUE + 5, Long.MAX_VALUE)).isEqualTo(6);
        assertThat(StatDelta.change(-1, -1)).isZero();
        assertThat(StatDelta.change(5, 7)).as("a sum that was read while it was moved").isZero();
    }

    @Test
    void objectsAppearAndDisappear() {
        StatObject comes = StatSamples.queuePair(0x12, 40, 80);
        StatDelta d = delta(StatSamples.process(1, 2 * StatSamples.SECOND, comes),
                StatSamples.process(1, 0, StatSamples.queuePair(0x11, 1000, 1)));
        assertThat(d.rate(comes, StatFigure.TX)).as("it has counted from 0").isEqualTo(20);
        StatObject sameNumber = new StatObject(comes.id(), comes.name(), comes.type(), comes.number(), 1, "shm0", "RTS",
                StatSamples.CREATED.plusSeconds(9), comes.attributes(), comes.points(), comes.values());
        d = delta(StatSamples.process(1, 2 * StatSamples.SECOND, sameNumber), StatSamples.process(1, 0, comes));
        assertThat(d.rate(sameNumber, StatFigure.TX)).as("a later one in its place").isEqualTo(20);
    }

    @Test
    void firstSampleHasNoRates() {
        StatObject o = StatSamples.queuePair(0x11, 1, 1);
        StatProcess p = StatSamples.process(1, 5, o);
        for (StatDelta d : List.of(StatDelta.of(p, null), delta(p, StatSamples.process(2, 1, o)), delta(p, p))) {
            assertThat(d.isKnown()).isFalse();
            assertThat(d.rate(o, StatFigure.TX)).isNaN();
            assertThat(d.rate(StatFigure.TX)).isNaN();
        }
    }

    @Test
    void processTotalsAreSumsOfPorts() {
        StatProcess before = StatSamples.process(7, 0, StatSamples.port(10, 100), StatSamples.queuePair(1, 9, 9));
        StatProcess now = StatSamples.process(7, StatSamples.SECOND, StatSamples.port(30, 500));
        assertThat(now.figure(StatFigure.TX)).isEqualTo(30);
        assertThat(delta(now, before).rate(StatFigure.TX_BYTES)).isEqualTo(400);
    }

    @Test
    void closedPortDoesNotLowerTheRate() {
        StatObject other = StatSamples.object(3, ObjectType.PORT, 1, SamplePoint.PORT + SamplePoint.QP_TX_SENDS, 1000);
        StatDelta d = delta(StatSamples.process(7, StatSamples.SECOND, StatSamples.port(30, 500)),
                StatSamples.process(7, 0, StatSamples.port(10, 100), other));
        assertThat(d.rate(StatFigure.TX)).isEqualTo(20);
    }

    @Test
    void silentProcessHasNoRatesUntilItAnswers() {
        StatSnapshot first = StatSamples.snapshot(StatSamples.process(7, 0, StatSamples.port(10, 100)),
                StatSamples.process(8, 0, StatSamples.port(1, 1)));
        StatProcess silent = silent(StatSamples.process(7, StatSamples.SECOND, StatSamples.port(12, 110)));
        StatProcess other = StatSamples.process(8, StatSamples.SECOND, StatSamples.port(5, 5));
        StatDelta d = StatDelta.of(silent, first);
        assertThat(d.isKnown()).isFalse();
        assertThat(d.rate(StatFigure.TX)).isNaN();
        assertThat(d.rate(silent.objects().getFirst(), StatFigure.TX)).isNaN();
        StatSnapshot base = StatSamples.snapshot(silent, other).base(first);
        base = StatSamples.snapshot(silent, other).base(base);
        d = StatDelta.of(StatSamples.process(7, 4 * StatSamples.SECOND, StatSamples.port(50, 100)), base);
        assertThat(d.seconds()).isEqualTo(4);
        assertThat(d.rate(StatFigure.TX)).isEqualTo(10);
        d = StatDelta.of(StatSamples.process(8, 3 * StatSamples.SECOND, StatSamples.port(9, 9)), base);
        assertThat(d.rate(StatFigure.TX)).as("the one that answered: since the last look").isEqualTo(2);
        assertThat(StatDelta.of(other, StatSamples.snapshot(silent, other).base(null)).process()).isEqualTo(other);
        assertThat(StatSamples.snapshot(silent).base(null).processes()).as("it has never answered").isEmpty();
    }

    private static StatProcess silent(StatProcess p) {
        return new StatProcess(p.pid(), p.command(), p.created(), p.nanos(), true, true, p.kinds(), p.objects());
    }

    @Test
    void queuePairWithoutWritesHasItsOtherFigures() {
        StatObject ud = StatSamples.object(5, ObjectType.QP, 5, SamplePoint.QP_TX_SENDS, 3, SamplePoint.QP_TX_LOST, 2);
        assertThat(ud.has(StatFigure.TX)).isTrue();
        assertThat(ud.figure(StatFigure.TX)).isEqualTo(3);
        assertThat(ud.figure(StatFigure.ERRORS)).isEqualTo(2);
        assertThat(ud.has(StatFigure.RX_BYTES)).isFalse();
    }

    @Test
    void everyFigureUsesPointsOfItsType() {
        for (StatFigure f : StatFigure.values()) {
            for (int type = 0; type < 10; type++) {
                for (int p : f.points(type)) {
                    assertThat(SamplePoint.objectType(p)).as(f + " " + SamplePoint.toString(p)).isEqualTo(type);
                    assertThat(SamplePoint.toString(p)).startsWith(type == ObjectType.FLOW
                            ? ""
                            : ObjectType.toString(type) + "_");
                }
            }
        }
    }

    private static StatTable table(boolean rates) {
        StatProcess before = StatSamples.process(1, 0, StatSamples.queuePair(0x11, 0, 0), StatSamples.queuePair(0x12, 0,
                0));
        StatProcess now = StatSamples.process(1, StatSamples.SECOND, StatSamples.queuePair(0x11, 5, 2_000_000),
                StatSamples.queuePair(0x12, 50, 10), StatSamples.device(), StatSamples.completionQueue(3));
        return StatTable.objects(delta(now, before), Set.of(), rates);
    }

    private static List<String> names(StatTable t) {
        return t.rows().stream().map(r -> r.cells().getFirst().text()).toList();
    }

    @Test
    void tablesAreSorted() {
        StatTable t = table(false);
        assertThat(names(t)).containsExactly("shm0", "qp:0x11", "qp:0x12", "cq:0x3");
        assertThat(names(t.sorted(t.column("tx"), false))).startsWith("qp:0x12", "qp:0x11");
        assertThat(names(t.sorted(t.column("TX-Bytes"), false))).startsWith("qp:0x11", "qp:0x12");
        assertThat(names(t.sorted(t.column("tx"), true))).endsWith("qp:0x11", "qp:0x12");
        assertThat(names(t.sorted(t.column("object"), false))).containsExactly("cq:0x3", "qp:0x11", "qp:0x12", "shm0");
        assertThat(names(t.sorted(-1, true))).startsWith("cq:0x3");
        assertThat(t.column("nix")).isEqualTo(-1);
    }

    @Test
    void tablesAreFiltered() {
        assertThat(names(table(false).filtered("QP:"))).containsExactly("qp:0x11", "qp:0x12");
        assertThat(names(table(false).filtered("process 4712"))).containsExactly("qp:0x11", "qp:0x12");
        assertThat(names(table(false).filtered("2.000M"))).as("figures are not searched").isEmpty();
        StatProcess p = StatSamples.process(1, 0, StatSamples.queuePair(1, 0, 0), StatSamples.completionQueue(3));
        assertThat(names(StatTable.objects(StatDelta.of(p, null), Set.of(ObjectType.CQ), false)))
                .containsExactly("cq:0x3");
    }

    /** Of thousands of lines those on the screen are made, and of the others what the order needs. */
    @Test
    void onlyWhatIsSeenIsMade() {
        int many = 600;
        AtomicInteger rows = new AtomicInteger();
        AtomicInteger numbers = new AtomicInteger();
        AtomicInteger texts = new AtomicInteger();
        StatTable t = new StatTable(List.of(new StatTable.Column("name", "NAME", 8, true), new StatTable.Column("n",
                "N", 8, false), new StatTable.Column("m", "M", 8, false)), IntStream.range(0, many).mapToObj(
                        i -> StatRow.late(i, () -> {
                            rows.incrementAndGet();
                            return List.of(StatRow.Cell.of("x" + i), cell(i, numbers, texts), cell(-i, numbers, texts));
                        })).toList());
        StatList list = new StatList();
        list.show(t);
        assertThat(list.lines(21, 80)).hasSize(21);
        assertThat(rows).hasValue(20);
        assertThat(texts).hasValue(40);
        list.sortBy("n", false);
        list.show(t);
        assertThat(list.chosen()).as("it stays selected").isEqualTo(0);
        list.move(StatKey.of(StatKey.Name.HOME));
        assertThat(list.lines(21, 80).get(1).text()).matches("x599 +599 +-599");
        assertThat(rows).hasValue(many);
        assertThat(numbers.get()).as("one of each line, and those of visible ones").isBetween(many, many + 100);
        assertThat(texts.get()).isLessThan(150);
    }

    private static StatRow.Cell cell(int value, AtomicInteger numbers, AtomicInteger texts) {
        return StatRow.Cell.of(() -> {
            numbers.incrementAndGet();
            return value;
        }, v -> {
            texts.incrementAndGet();
            return Integer.toString((int) v);
        });
    }

    @Test
    void barsAreNoTextToSearchFor() {
        StatRow r = new StatRow("key", List.of(StatRow.Cell.of("7", 7), StatRow.Cell.of("8", 8), StatRow.Cell.of("a"),
                StatRow.Cell.bars(() -> "_.=#")));
        assertThat(List.of("7", "A", "")).allMatch(r::contains);
        assertThat(List.of("8", "#", "b")).noneMatch(r::contains);
    }

    @Test
    void tableLines() {
        StatTable t = table(true);
        assertThat(t.header(200)).isEqualTo(
                "OBJECT        STATE    TX/s  TX-B/s    RX/s  RX-B/s   ERR/s  WAIT/s  ABOUT");
        assertThat(t.line(t.rows().get(1), 200)).isEqualTo(
                "qp:0x11       RTS      5.00  2.000M                       0       0  RC to 0x12 of process 4712");
        assertThat(t.line(t.rows().get(1), 80)).hasSize(80).endsWith("RC to 0x12>");
        StatTable p = StatTable.processes(List.of(StatDelta.of(StatSamples.process(4711, 0, StatSamples.port(3, 4)),
                null)), true);
        assertThat(p.line(p.rows().getFirst(), 200)).isEqualTo(
                "    4711    0   0   0    0    0       -       -       -       -       -       -  org.example.Main4711 x y");
    }

    @Test
    void figuresAreHumanReadable() {
        assertThat(StatText.total(0)).isEqualTo("0");
        assertThat(StatText.total(999_999)).isEqualTo("999999");
        assertThat(StatText.total(1_000_000)).isEqualTo("1.000M");
        assertThat(StatText.total(123_456_789)).isEqualTo("123.5M");
        assertThat(StatText.total(999_999_999)).isEqualTo("1.000G");
        assertThat(StatText.total(-1)).isEqualTo("18.45E");
        assertThat(StatText.total(Long.MIN_VALUE)).isEqualTo("9.223E");
        assertThat(StatText.rate(Double.NaN)).isEqualTo("-");
        assertThat(StatText.rate(0)).isEqualTo("0");
        assertThat(StatText.rate(0.5)).isEqualTo("0.50");
        assertThat(StatText.rate(12.34)).isEqualTo("12.3");
        assertThat(StatText.rate(2.5e9)).isEqualTo("2.500G");
        for (double v = 0.001; v < 1e23; v *= 1.07) {
            assertThat(StatText.rate(v).length()).as("%s", v).isLessThanOrEqualTo(7);
        }
    }

    @Test
    void commandLinesAreShortened() {
        assertThat(StatText.command("/opt/jdk/bin/java -Xmx1g --module-path a:b --module m/p.Main x")).isEqualTo(
                "p.Main x");
        assertThat(StatText.command("java -cp a -jar /opt/app.jar run")).isEqualTo("app.jar run");
        assertThat(StatText.command("java")).isEqualTo("java");
        assertThat(StatText.command("java -version")).isEqualTo("java");
        assertThat(StatText.command("/usr/bin/server --port 1")).isEqualTo("server --port 1");
        assertThat(StatText.command("")).isEmpty();
        assertThat(StatText.command("x\033[2J")).isEqualTo("x\\u{1b}[2J");
    }

    @Test
    void objectsAreSelectedByName() throws Exception {
        StatProcess p = StatSamples.process(9, 0, StatSamples.queuePair(0x11, 0, 0), StatSamples.device(), StatSamples
                .port(
                        0, 0));
        for (String name : List.of("qp:0x11", "QP:17", " qp:0X11 ", "qp:0x0011")) {
            assertThat(StatNames.object(p, name).name()).isEqualTo("qp:0x11");
        }
        assertThat(StatNames.object(p, "port:1").type()).isEqualTo(ObjectType.PORT);
        assertThat(StatNames.object(p, "shm0").type()).isEqualTo(ObjectType.DEVICE);
        assertThatThrownBy(() -> StatNames.object(p, "qp:0x99")).hasMessage(
                "process 9 has no object qp:0x99: it has shm0, port:1, qp:0x11");
        assertThatThrownBy(() -> StatNames.object(p, "qp:0xffffffffffffffffffff")).isInstanceOf(StatFailure.class);
    }

    @Test
    void ambiguousNamesAreDistinguished() {
        List<String> plain = List.of("port:1", "qp:0x11", "port:1");
        List<String> names = StatNames.distinct(plain, List.of(16L, 32L, 48L));
        assertThat(names).containsExactly("port:1@0x10", "qp:0x11", "port:1@0x30");
        StatObject a = StatSamples.port(0, 0);
        StatObject b = new StatObject(16, "port:1@0x10", a.type(), 1, 1, "shm0", "", a.created(), a.attributes(), a
                .points(), a.values());
        StatObject c = new StatObject(48, "port:1@0x30", a.type(), 1, 1, "shm0", "", a.created(), a.attributes(), a
                .points(), a.values());
        StatProcess p = StatSamples.process(9, 0, b, c);
        assertThatThrownBy(() -> StatNames.object(p, "port:1")).hasMessageContaining("port:1@0x10, port:1@0x30");
        assertThat(StatNames.canonical("PORT:01@0X30")).isEqualTo("port:1@0x30");
    }

    @Test
    void samplePointsAreSelectedByName() throws Exception {
        StatObject qp = StatSamples.queuePair(0x11, 0, 0);
        for (String name : List.of("QP_TX_SENDS", "tx_sends", "tx-sends", "Tx-Sends")) {
            assertThat(StatNames.points(qp, name)).containsExactly(SamplePoint.QP_TX_SENDS);
        }
        assertThat(StatNames.points(qp, "tx-bytes")).contains(SamplePoint.QP_TX_SEND_BYTES);
        assertThat(StatNames.points(StatSamples.port(0, 0), "tx_sends")).containsExactly(
                SamplePoint.PORT + SamplePoint.QP_TX_SENDS);
        assertThatThrownBy(() -> StatNames.points(qp, "rx_writes")).hasMessage(
                "qp:0x11 has no sample point rx_writes: it has"
                        + " tx_sends, tx_send_bytes, tx_rnr_waits, req_retries_exceeded");
        assertThatThrownBy(() -> StatNames.points(StatSamples.object(1, ObjectType.PD, 1), "x")).hasMessageContaining(
                "nothing is counted");
    }

    @Test
    void jsonHasAllFields() throws Exception {
        StatObject o = StatSamples.queuePair(0x11, -1, Long.MIN_VALUE);
        StatProcess now = StatSamples.process(1, StatSamples.SECOND, o);
        String line = StatJson.objects(StatSamples.snapshot(now), delta(now, StatSamples.process(1, 0,
                StatSamples.queuePair(0x11, -11, 0))), now.objects());
        assertThat(line).doesNotContain("\n").contains("\"QP_TX_SENDS\":18446744073709551615",
                "\"QP_TX_SEND_BYTES\":9223372036854775808");
        JsonNode n = new ObjectMapper().readTree(line);
        assertThat(n.get("objects").get(0).get("rates").get("QP_TX_SENDS").asDouble()).isEqualTo(10);
        assertThat(n.get("seconds").asDouble()).isEqualTo(1);
        String alone = StatJson.objects(StatSamples.snapshot(now), StatDelta.of(now, null), now.objects());
        JsonNode first = new ObjectMapper().readTree(alone);
        assertThat(first.get("seconds").isNull()).isTrue();
        assertThat(first.get("objects").get(0).get("rates").isNull()).isTrue();
        assertThat(first.get("objects").get(0).properties()).hasSameSizeAs(n.get("objects").get(0).properties());
    }

    @Test
    void lastRatesAreDrawnFromNothingToTheGreatest() {
        StatHistory h = new StatHistory();
        assertThat(h.bars("a", 3, true)).isEqualTo("   ");
        h.add("a", Double.NaN);
        for (double rate : new double[] {0, 1e-9, 50, 100}) {
            h.add("a", rate);
        }
        assertThat(h.bars("a", 6, true)).isEqualTo("  ▁▂▅█");
        assertThat(h.bars("a", 6, false)).isEqualTo("  _.=#");
        assertThat(h.bars("a", 2, true)).isEqualTo("▅█");
        for (int i = 0; i < 3 * StatHistory.LENGTH; i++) {
            h.add("a", i);
        }
        assertThat(h.bars("a", StatHistory.LENGTH, false)).hasSize(StatHistory.LENGTH).endsWith("#").startsWith("+");
        h.add("b", 0);
        h.retain(java.util.Set.of("b"));
        assertThat(h.bars("a", 1, true) + h.bars("b", 1, true)).isEqualTo(" ▁");
    }
}
