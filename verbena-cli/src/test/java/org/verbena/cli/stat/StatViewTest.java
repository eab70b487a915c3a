// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

/** The screens at several sizes, and what keys do to them. */
class StatViewTest {
    private static StatView view(long pid) {
        StatView v = new StatView(pid, Set.of());
        v.begin(true, "", false, "");
        return v;
    }

    private static StatSnapshot processes(long seconds) {
        return StatSamples.snapshot(
                StatSamples.process(4711, seconds * StatSamples.SECOND, StatSamples.port(100 * seconds, 1)),
                StatSamples.process(4712, seconds * StatSamples.SECOND, StatSamples.port(200 * seconds, 2)));
    }

    private static StatSnapshot objects(long seconds) {
        return StatSamples.snapshot(StatSamples.process(4711, seconds * StatSamples.SECOND, StatSamples.device(),
                StatSamples
                        .port(7, 7), StatSamples.queuePair(0x11, 10 * seconds, 0), StatSamples.queuePair(0x12, 30
                                * seconds, 0),
                StatSamples.completionQueue(7)));
    }

    private static List<String> text(StatView v, int rows, int columns) {
        return v.lines(rows, columns).stream().map(StatLine::text).toList();
    }

    private static String all(StatView v) {
        return String.join("\n", text(v, 24, 100));
    }

    private static String selected(StatView v) {
        return v.lines(24, 100).stream().filter(l -> l.style() == StatLine.Style.SELECTED).map(StatLine::text)
                .findFirst()
                .orElse("");
    }

    private static void press(StatView v, StatKey.Name... keys) {
        for (StatKey.Name k : keys) {
            v.press(StatKey.of(k));
        }
    }

    private static void type(StatView v, String text) {
        text.chars().forEach(c -> v.press(StatKey.text(String.valueOf((char) c))));
    }

    @Test
    void fitsEverySize() {
        for (int rows : new int[] {8, 9, 24, 50}) {
            for (int columns : new int[] {80, 100, 132, 300}) {
                for (String keys : new String[] {"", "h", "/abc", "t"}) {
                    StatView v = view(0);
                    assertThat(text(v, rows, columns)).hasSize(rows);
                    v.show(0, processes(1));
                    type(v, keys);
                    assertThat(text(v, rows, columns)).hasSize(rows).allSatisfy(l -> assertThat(l.length())
                            .isLessThanOrEqualTo(columns));
                    StatView o = view(4711);
                    o.show(4711, objects(1));
                    press(o, StatKey.Name.DOWN, StatKey.Name.DOWN, StatKey.Name.ENTER);
                    assertThat(text(o, rows, columns)).hasSize(rows).allSatisfy(l -> assertThat(l.length())
                            .isLessThanOrEqualTo(columns)).anyMatch(l -> l.startsWith("SAMPLE POINT"));
                }
            }
        }
    }

    @Test
    void tooSmallScreenStatesRequiredSize() {
        StatView v = view(0);
        v.show(0, processes(1));
        for (int[] size : new int[][] {{24, 75}, {7, 200}, {1, 1}, {5, 20}, {0, 0}}) {
            List<String> lines = text(v, size[0], size[1]);
            assertThat(lines.size()).isLessThanOrEqualTo(size[0]);
            assertThat(lines).allSatisfy(l -> assertThat(l.length()).isLessThanOrEqualTo(size[1]));
        }
        assertThat(String.join(" ", text(v, 24, 40))).startsWith(
                "The terminal is too small: 80 columns and 8 lines are needed, there are 40 and 24.");
        assertThat(all(v)).as("and recovers").contains("4711").doesNotContain("small");
    }

    @Test
    void keysNavigateProcessesObjectsAndPoints() {
        StatView v = view(0);
        assertThat(all(v)).contains("looking...");
        v.show(0, processes(1));
        v.show(0, processes(2));
        assertThat(all(v)).contains("2 processes").contains("4711").contains("4712").contains("TX/s")
                .contains("100").contains("200");
        press(v, StatKey.Name.DOWN, StatKey.Name.UP, StatKey.Name.ENTER);
        assertThat(v.wanted()).isEqualTo(4711);
        v.show(0, processes(3));
        assertThat(all(v)).as("a late snapshot").contains("looking...");
        v.show(4711, objects(1));
        v.show(4711, objects(2));
        assertThat(all(v)).contains("process 4711, 5 objects", "qp:0x11", "cq:0x7", "10.0", "30.0");
        press(v, StatKey.Name.DOWN, StatKey.Name.DOWN, StatKey.Name.ENTER);
        assertThat(all(v)).contains("qp:0x11 of process 4711", "state RTS", "send cq cq:0x7", "peer qp 0x12",
                "created 2026-01-02", "service RC", "tx_sends");
        assertThat(selected(v)).startsWith("tx_sends").contains(" 20 ").endsWith("10.0");
        press(v, StatKey.Name.ESCAPE);
        assertThat(selected(v)).as("what was chosen before").startsWith("qp:0x11");
        press(v, StatKey.Name.ESCAPE);
        assertThat(v.wanted()).isZero();
        press(v, StatKey.Name.ESCAPE);
        assertThat(v.hasQuit()).isFalse();
        type(v, "q");
        assertThat(v.hasQuit()).isTrue();
    }

    @Test
    void sortingKeepsTheSelection() {
        StatView v = view(4711);
        v.show(4711, objects(1));
        press(v, StatKey.Name.DOWN, StatKey.Name.DOWN);
        assertThat(selected(v)).startsWith("qp:0x11");
        press(v, StatKey.Name.RIGHT, StatKey.Name.RIGHT);
        v.show(4711, objects(2));
        assertThat(all(v)).contains("sorted by tx");
        List<String> lines = text(v, 24, 100);
        assertThat(lines.get(3)).startsWith("OBJECT");
        assertThat(lines.get(4)).startsWith("total");
        assertThat(lines.get(5)).startsWith("qp:0x12");
        assertThat(selected(v)).startsWith("qp:0x11");
        type(v, "r");
        assertThat(all(v)).contains("sorted by tx, reversed");
        press(v, StatKey.Name.LEFT, StatKey.Name.LEFT, StatKey.Name.LEFT);
        assertThat(all(v)).as("round the corner").contains("sorted by about");
    }

    @Test
    void filterNarrowsTheList() {
        StatView v = view(4711);
        v.show(4711, objects(1));
        type(v, "/qp");
        assertThat(all(v)).contains("show lines with: qp_", "qp:0x11").doesNotContain("cq:0x7");
        type(v, "x");
        assertThat(all(v)).contains("nothing with \"qpx\" in it");
        press(v, StatKey.Name.BACKSPACE, StatKey.Name.ENTER);
        assertThat(all(v)).contains("lines with: qp").contains("qp:0x12");
        type(v, "d"); // a key again, not a letter
        assertThat(all(v)).contains("lines with: qp  (");
        press(v, StatKey.Name.ESCAPE);
        assertThat(all(v)).contains("cq:0x7");
        assertThat(v.wanted()).isEqualTo(4711);
    }

    @Test
    void keysToggleTotalsPauseAndHelp() {
        StatView v = view(0);
        v.show(0, processes(1));
        assertThat(all(v)).contains(" rates", "TX/s", "-");
        type(v, "t");
        assertThat(all(v)).contains(" totals").doesNotContain("TX/s");
        type(v, "p");
        assertThat(all(v)).contains("PAUSED");
        v.show(0, processes(9));
        assertThat(all(v)).doesNotContain("900").contains("100");
        type(v, " ");
        v.show(0, processes(9));
        assertThat(all(v)).contains("900").doesNotContain("PAUSED");
        type(v, "?");
        assertThat(all(v)).contains("the other way round", "choose a line");
        type(v, "x");
        assertThat(all(v)).contains("4711");
        type(v, "x");
        assertThat(all(v)).contains("no key x: h shows them");
    }

    @Test
    void endOfAProcessIsReported() {
        StatView v = view(4711);
        v.show(4711, objects(1));
        v.lost(4711, "process 4711 has ended");
        assertThat(v.wanted()).isZero();
        v.show(0, processes(1));
        assertThat(all(v)).contains("process 4711 has ended", "4712");
        press(v, StatKey.Name.DOWN);
        assertThat(all(v)).as("until a key").doesNotContain("has ended");
        v.lost(4711, "late");
        assertThat(all(v)).doesNotContain("late");
    }

    @Test
    void closedObjectReturnsToTheList() {
        StatView v = view(4711);
        v.show(4711, objects(1));
        press(v, StatKey.Name.DOWN, StatKey.Name.DOWN, StatKey.Name.ENTER);
        v.show(4711, StatSamples.snapshot(StatSamples.process(4711, 9, StatSamples.device())));
        assertThat(all(v)).contains("qp:0x11 was closed", "OBJECT  ", "shm0").doesNotContain("SAMPLE POINT");
    }

    @Test
    void problemsAndSilentProcessesAreReported() {
        StatView v = view(0);
        v.show(0, new StatSnapshot(StatSamples.CREATED, List.of(), List.of("a file is broken", "another")));
        assertThat(all(v)).contains("a file is broken (and 1 more)", StatStream.NOBODY);
        type(v, "/java");
        press(v, StatKey.Name.ENTER);
        assertThat(all(v)).contains("lines with: java  (Esc shows all)  a file is broken (and 1 more)");
        StatProcess p = StatSamples.process(4711, 1, StatSamples.device());
        StatView o = view(4711);
        o.show(4711, StatSamples.snapshot(new StatProcess(p.pid(), p.command(), p.created(), 1, true, true, p.kinds(), p
                .objects())));
        assertThat(all(o)).contains("does not answer (stopped? another network namespace?)");
    }

    @Test
    void scrollsThroughThousandsOfObjects() {
        StatObject[] many = IntStream.range(0, 5000).mapToObj(i -> StatSamples.queuePair(i, i, i)).toArray(
                StatObject[]::new);
        StatView v = view(4711);
        v.show(4711, StatSamples.snapshot(StatSamples.process(4711, 1, many)));
        press(v, StatKey.Name.END);
        assertThat(selected(v)).startsWith("qp:0x1387");
        press(v, StatKey.Name.PAGE_UP, StatKey.Name.HOME);
        assertThat(selected(v)).startsWith("qp:0x0");
        for (int i = 0; i < 3; i++) {
            press(v, StatKey.Name.PAGE_DOWN);
            assertThat(selected(v)).isNotEmpty();
        }
        v.show(4711, StatSamples.snapshot(StatSamples.process(4711, 2, many[0])));
        assertThat(selected(v)).startsWith("qp:0x0");
    }

    @Test
    void ctrlCQuitsEverywhere() {
        for (String before : List.of("", "h", "/x")) {
            StatView v = view(0);
            type(v, before);
            press(v, StatKey.Name.INTERRUPT);
            assertThat(v.hasQuit()).isTrue();
        }
    }
}
