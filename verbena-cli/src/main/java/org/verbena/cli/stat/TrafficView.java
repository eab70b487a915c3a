// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HumanText;
import org.verbena.xdp.monitor.MonitorSample;

/** The full-screen view of {@code verbena monitor} of an interface. Not safe for use by several threads. */
final class TrafficView implements ScreenView<TrafficLook> {
    private static final int LEAST_BARS = 8;
    private static final int WIDE = 120;

    private final TrafficOptions options;
    private final long begun;
    private final StatList list = new StatList();
    private TrafficBy by;
    private StatHistory history = new StatHistory();
    private @Nullable TrafficReport report;
    private boolean blocks;
    private boolean paused;
    private boolean quit;
    private String problem = "";

    /** @param begun when the run began, by {@link System#nanoTime} */
    TrafficView(TrafficOptions options, long begun) {
        this.options = options;
        this.begun = begun;
        by = options.by();
        list.sortBy(options.sort(), false);
    }

    /** Why the screen was left, other than by a key; empty for a key. */
    String problem() {
        return problem;
    }

    @Override
    public void drawsBlocks(boolean has) {
        blocks = has;
    }

    @Override
    public long wanted() {
        return 0;
    }

    @Override
    public boolean isPaused() {
        return paused;
    }

    @Override
    public boolean hasQuit() {
        return quit;
    }

    @Override
    public void show(long of, TrafficLook look) {
        if (!paused) {
            TrafficReport last = report;
            set(look, last == null ? null : last.look().sample());
        }
    }

    private void set(TrafficLook look, @Nullable MonitorSample before) {
        TrafficReport r = TrafficReport.of(options, by, begun, look, before, -1);
        report = r;
        r.remember(history);
        list.show(r.table(history, blocks));
    }

    @Override
    public void lost(long of, String why) {
        problem = why;
        quit = true;
    }

    @Override
    public void press(StatKey key) {
        switch (key.name()) {
            case INTERRUPT, ESCAPE -> quit = true;
            case LEFT -> list.sortBeside(-1);
            case RIGHT -> list.sortBeside(1);
            case TEXT -> letter(key.text());
            default -> list.move(key);
        }
        TrafficReport r = report;
        if (r != null) {
            list.show(r.table(history, blocks));
        }
    }

    private void letter(String letter) {
        switch (letter) {
            case "q" -> quit = true;
            case "f" -> by(TrafficBy.FLOW);
            case "a" -> by(TrafficBy.ADDRESS);
            case "o" -> by(TrafficBy.PORT);
            case "<" -> list.sortBeside(-1);
            case ">" -> list.sortBeside(1);
            case "r" -> list.reverse();
            case "j" -> list.move(StatKey.of(StatKey.Name.DOWN));
            case "k" -> list.move(StatKey.of(StatKey.Name.UP));
            case "p", " " -> paused = !paused;
            default -> { // the last line has the keys
            }
        }
    }

    private void by(TrafficBy wanted) {
        TrafficReport r = report;
        if (by != wanted) {
            by = wanted;
            history = new StatHistory();
            list.sortBy("", false);
            if (r != null) {
                set(r.look(), r.before());
            }
        }
    }

    @Override
    public List<StatLine> lines(int rows, int columns) {
        List<StatLine> lines = new ArrayList<>();
        TrafficReport r = report;
        String order = list.order();
        lines.add(new StatLine(fit("verbena monitor  " + options.netdev() + "  " + by.count(list.size()) + (order
                .isEmpty() ? "" : "  " + order) + (paused ? "  PAUSED" : "") + (options.filter()
                        .isEmpty() ? "" : "  [" + HumanText.printable(options.filter()) + "]"), columns),
                StatLine.Style.TITLE));
        if (r != null) {
            lines.add(StatLine.plain(fit(r.sums(history, columns < WIDE ? LEAST_BARS : StatTable.TREND, blocks),
                    columns)));
            r.notes().forEach(n -> lines.add(new StatLine(fit(n, columns), StatLine.Style.ALERT)));
            lines.addAll(list.lines(Math.max(2, rows - lines.size() - 1), columns));
        }
        List<StatLine> all = new ArrayList<>(lines.subList(0, Math.clamp(rows - 1L, 0, lines.size())));
        while (all.size() < rows - 1) {
            all.add(StatLine.plain(""));
        }
        all.add(new StatLine(fit("f flows  a addresses  o ports  < > sort  r reverse  p " + (paused
                ? "go on"
                : "pause") + "  q quit", columns), StatLine.Style.FAINT));
        return all;
    }

    private static String fit(String text, int width) {
        return text.length() > width ? StatText.fit(text, width, true) : text;
    }
}
