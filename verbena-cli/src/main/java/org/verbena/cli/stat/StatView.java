// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HumanText;
import org.verbena.verbs.ObjectType;

/**
 * The full-screen view of {@code verbena stat} without a terminal: samples and keys go in, lines come out. Screens, from one
 * to the next with Enter and back with Escape: the processes, the objects of one, one object; the connections of all
 * processes or of one. Not safe for use by several threads.
 */
final class StatView implements ScreenView<StatSnapshot> {
    /** The minimum size of the terminal. */
    static final int COLUMNS = 80;
    static final int ROWS = 8;
    private static final String COMMAND = "verbena stat  ";
    private static final int LEAST_BARS = 10;
    private static final int RATE = 7;
    /** Instead of a process: all, with their sockets. */
    static final long SOCKETS_OF_ALL = -1;

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);
    private static final List<String> HELP = List.of(
            "up down PgUp PgDn Home End, j k   choose a line",
            "Enter   open it: a process's objects, an object   Esc, Backspace   back",
            "left right, < >   sort by another column          r   the other way round",
            "d, t    rates (deltas), totals    s   connections    p, Space   pause",
            "/, f    lines with a text: Enter keeps it, Esc takes it away    q   quit");

    /** The sums whose last rates are drawn. */
    private enum Sum {
        RX, TX, CONNECTIONS_RX, CONNECTIONS_TX
    }

    /** What a screen shows. */
    private enum Screen {
        PROCESSES, OBJECTS, OBJECT, SOCKETS
    }

    /** A screen, with what is chosen on it. */
    private static final class Place {
        private final Screen screen;
        /** 0 for all. */
        private final long pid;
        private final StatObject.@Nullable Key object;
        private final StatList list = new StatList();

        Place(Screen screen, long pid, StatObject.@Nullable Key object) {
            this.screen = screen;
            this.pid = pid;
            this.object = object;
        }

        long wanted() {
            return screen == Screen.SOCKETS && pid == 0 ? SOCKETS_OF_ALL : pid;
        }
    }

    private final Set<Integer> types;
    /** The screen that is shown is the last; those that lead to it are before it. */
    private final Deque<Place> places = new ArrayDeque<>();
    private @Nullable StatSnapshot snapshot;
    private @Nullable StatSnapshot before;
    /** Of the snapshot, since the one before. */
    private List<StatDelta> deltas = List.of();
    private StatTotals totals = new StatTotals(deltas);
    private StatLastKnown lastKnown = new StatLastKnown();
    private StatHistory history = new StatHistory();
    private boolean blocks;
    private boolean rates = true;
    private boolean paused;
    private boolean help;
    private boolean quit;
    private @Nullable String typing;
    private String message = "";

    /**
     * Makes a view.
     *
     * @param pid the process to begin with; 0 for the list of all
     * @param types the only types of objects to show; empty for all
     */
    StatView(long pid, Set<Integer> types) {
        this.types = types;
        places.add(new Place(Screen.PROCESSES, 0, null));
        if (pid != 0) {
            places.add(new Place(Screen.OBJECTS, pid, null));
        }
    }

    /** The contents of the first screen. */
    void begin(boolean showRates, String sort, boolean reverse, String filter) {
        rates = showRates;
        list().sortBy(sort, reverse);
        list().filter(filter);
    }

    /** Whether the terminal has block characters to draw rates with; otherwise they are drawn in ASCII. */
    @Override
    public void drawsBlocks(boolean has) {
        blocks = has;
    }

    /** Shows the connections of what is shown. */
    void openSockets() {
        to(new Place(Screen.SOCKETS, place().pid, null));
    }

    /** The process to sample; 0 for the list of all, {@link #SOCKETS_OF_ALL} for it with sockets. */
    @Override
    public long wanted() {
        return place().wanted();
    }

    @Override
    public boolean isPaused() {
        return paused;
    }

    @Override
    public boolean hasQuit() {
        return quit;
    }

    private Place place() {
        return places.getLast();
    }

    private Screen screen() {
        return place().screen;
    }

    private StatList list() {
        return place().list;
    }

    // ---- input

    /** A sample of what was {@link #wanted}; a late one is ignored. */
    @Override
    public void show(long of, StatSnapshot next) {
        if (of == wanted() && !paused) {
            before = snapshot == null ? null : snapshot.base(before);
            StatSnapshot shown = next.withMissed(before);
            snapshot = shown;
            deltas = shown.processes().stream().map(p -> StatDelta.of(p, before)).toList();
            totals = new StatTotals(lastKnown.of(deltas));
            remember();
            refresh();
        }
    }

    /** What was wanted could not be sampled, since the process has ended or never existed: back to what shows all. */
    @Override
    public void lost(long of, String why) {
        if (of == wanted()) {
            message = why;
            while (place().pid != 0) {
                back(place());
            }
        }
    }

    private void to(Place next) {
        moved(wanted(), next.wanted());
        places.add(next);
    }

    private void back(Place from) {
        if (places.size() > 1) {
            places.removeLast();
            moved(from.wanted(), wanted());
        }
    }

    /** What is known of another process, or of processes without sockets, is not kept. */
    private void moved(long from, long to) {
        if (from != to) {
            snapshot = null;
            before = null;
            deltas = List.of();
            totals = new StatTotals(deltas);
            lastKnown = new StatLastKnown();
            history = new StatHistory();
            paused = false;
            typing = null;
        }
    }

    private void remember() {
        history.add(Sum.RX, totals.rate(StatFigure.RX_BYTES));
        history.add(Sum.TX, totals.rate(StatFigure.TX_BYTES));
        history.add(Sum.CONNECTIONS_RX, totals.connections(true, o -> o.figure(StatFigure.RX_BYTES)));
        history.add(Sum.CONNECTIONS_TX, totals.connections(true, o -> o.figure(StatFigure.TX_BYTES)));
        Set<Object> keys = new HashSet<>(Set.of(Sum.values()));
        for (StatDelta d : deltas) {
            StatProcess.Key p = d.process().key();
            keys.add(p);
            history.add(p, d.rate(StatFigure.RX_BYTES) + d.rate(StatFigure.TX_BYTES));
            for (StatObject o : d.process().objects()) {
                if (o.has(StatFigure.RX_BYTES) || o.has(StatFigure.TX_BYTES)) {
                    Object key = new StatSocketTable.Key(p, o.key());
                    keys.add(key);
                    history.add(key, d.rate(o, x -> x.figure(StatFigure.RX_BYTES) + x.figure(StatFigure.TX_BYTES)));
                }
            }
        }
        history.retain(keys);
    }

    /** @param remembered the key in the history, by that of a line */
    private StatTable.Extras extras(UnaryOperator<Object> remembered) {
        return new StatTable.Extras(totals, key -> history.bars(remembered.apply(key), StatTable.TREND, blocks));
    }

    private void refresh() {
        if (snapshot == null) {
            return;
        }
        Place place = place();
        switch (place.screen) {
            case PROCESSES -> place.list.show(StatTable.processes(deltas, rates, extras(key -> key)));
            case SOCKETS -> place.list.show(StatConnectionTable.of(deltas, place.pid == 0, rates, extras(key -> key)));
            case OBJECTS -> {
                StatProcess.Key process = deltas.getFirst().process().key();
                place.list.show(StatTable.objects(deltas.getFirst(), types, rates, extras(
                        key -> new StatSocketTable.Key(
                                process, (StatObject.Key) key))));
            }
            case OBJECT -> {
                StatObject.Key key = Objects.requireNonNull(place.object);
                Optional<StatObject> o = StatDetail.find(deltas.getFirst().process(), key);
                if (o.isPresent()) {
                    place.list.show(StatDetail.points(deltas.getFirst(), o.get()));
                } else {
                    message = StatNames.plain(key.type(), key.number(), "the device") + " was closed";
                    back(place);
                    refresh();
                }
            }
        }
    }

    /** A key. */
    @Override
    public void press(StatKey key) {
        if (key.name() == StatKey.Name.INTERRUPT) {
            quit = true;
        } else if (typing != null) {
            type(key, typing);
        } else if (help) {
            help = false;
            quit = key.text().equals("q");
        } else {
            command(key);
        }
        refresh();
    }

    private void type(StatKey key, String text) {
        switch (key.name()) {
            case TEXT -> typing = text + key.text();
            case BACKSPACE -> typing = text.isEmpty()
                    ? null
                    : text.substring(0, text.offsetByCodePoints(text.length(),
                            -1));
            case ENTER -> typing = null;
            case ESCAPE -> {
                typing = null;
                list().filter("");
                return;
            }
            default -> list().move(key);
        }
        if (typing != null) {
            list().filter(typing);
        }
    }

    private void command(StatKey key) {
        message = "";
        switch (key.name()) {
            case LEFT -> list().sortBeside(-1);
            case RIGHT -> list().sortBeside(1);
            case ENTER -> open();
            case ESCAPE, BACKSPACE -> back();
            case TEXT -> letter(key.text());
            default -> list().move(key);
        }
    }

    private void letter(String letter) {
        switch (letter) {
            case "q" -> quit = true;
            case "h", "?" -> help = true;
            case "k" -> list().move(StatKey.of(StatKey.Name.UP));
            case "j" -> list().move(StatKey.of(StatKey.Name.DOWN));
            case "<" -> list().sortBeside(-1);
            case ">" -> list().sortBeside(1);
            case "r" -> list().reverse();
            case "d" -> rates = true;
            case "t" -> rates = false;
            case "/", "f" -> typing = list().filter();
            case "p", " " -> paused = !paused;
            case "s" -> sockets();
            default -> message = "no key " + letter + ": h shows them";
        }
    }

    private void open() {
        Object chosen = list().chosen();
        if (chosen instanceof StatProcess.Key p) {
            to(new Place(Screen.OBJECTS, p.pid(), null));
        } else if (chosen instanceof StatObject.Key o) {
            to(new Place(Screen.OBJECT, place().pid, o));
        } else if (chosen instanceof StatSocketTable.Key s) {
            to(new Place(Screen.OBJECT, s.process().pid(), s.socket()));
        }
    }

    private void sockets() {
        switch (screen()) {
            case PROCESSES, OBJECTS -> openSockets();
            case SOCKETS -> back(place());
            case OBJECT -> message = "Esc first: s shows the connections of a process, or of all";
        }
    }

    private void back() {
        if (!list().filter().isEmpty()) {
            list().filter("");
        } else {
            back(place());
        }
    }

    // ---- output

    /** The screen, for a terminal of this size. */
    @Override
    public List<StatLine> lines(int rows, int columns) {
        if (rows < ROWS || columns < COLUMNS) {
            return tooSmall(rows, columns);
        }
        List<StatLine> lines = new ArrayList<>();
        lines.add(new StatLine(fit(title(columns), columns), StatLine.Style.TITLE));
        lines.add(notice(columns));
        if (help) {
            HELP.forEach(l -> lines.add(StatLine.plain(fit(l, columns))));
        } else {
            StatSnapshot now = snapshot;
            if (now == null) {
                lines.add(StatLine.plain("looking..."));
            } else {
                body(lines, now, rows, columns);
            }
        }
        List<StatLine> all = new ArrayList<>(lines.subList(0, Math.min(lines.size(), rows - 1)));
        while (all.size() < rows - 1) {
            all.add(StatLine.plain(""));
        }
        all.add(new StatLine(fit(keys(columns), columns), StatLine.Style.FAINT));
        return all;
    }

    private static List<StatLine> tooSmall(int rows, int columns) {
        String sentence = "The terminal is too small: " + COLUMNS + " columns and " + ROWS
                + " lines are needed, there are "
                + columns + " and " + rows + ". Make it larger, or press q.";
        List<StatLine> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : sentence.split(" ", -1)) {
            if (!line.isEmpty() && line.length() + 1 + word.length() > columns) {
                lines.add(StatLine.plain(line.toString()));
                line.setLength(0);
            }
            line.append(line.isEmpty() ? "" : " ").append(fit(word, columns));
        }
        lines.add(StatLine.plain(line.toString()));
        return lines.subList(0, Math.min(lines.size(), Math.max(rows, 0)));
    }

    private void body(List<StatLine> lines, StatSnapshot now, int rows, int columns) {
        StatObject.Key object = place().object;
        if (object != null) {
            Optional<StatObject> o = StatDetail.find(now.processes().getFirst(), object);
            List<String> head = o.map(x -> StatDetail.head(now.processes().getFirst(), x, columns)).orElse(List.of());
            int room = Math.max(1, rows - lines.size() - 4);
            head.subList(0, Math.min(head.size(), room)).forEach(l -> lines.add(StatLine.plain(l)));
        }
        if (object == null) {
            lines.add(StatLine.plain(sums(columns)));
        }
        lines.addAll(list().lines(rows - lines.size() - 1, columns));
        if (list().size() == 0) {
            lines.add(StatLine.plain(nothing()));
        }
    }

    /** The last rates of the sum, and what there is of connections: as many of them as fit. */
    private String sums(int columns) {
        boolean sockets = screen() == Screen.SOCKETS;
        int bars = Math.clamp((columns - COLUMNS) / 4 + LEAST_BARS, LEAST_BARS, StatHistory.LENGTH);
        List<String> parts = new ArrayList<>();
        for (StatFigure f : List.of(StatFigure.RX_BYTES, StatFigure.TX_BYTES)) {
            boolean in = f == StatFigure.RX_BYTES;
            Sum sum = sockets
                    ? in ? Sum.CONNECTIONS_RX : Sum.CONNECTIONS_TX
                    : in ? Sum.RX : Sum.TX;
            double rate = sockets ? totals.connections(true, o -> o.figure(f)) : totals.rate(f);
            parts.add((in ? "RX-B/s " : "TX-B/s ") + StatText.fit(StatText.rate(rate), RATE, false) + " "
                    + history.bars(sum, bars, blocks));
        }
        if (sockets) {
            parts.add(totals.carriersText());
            parts.add(totals.polls(rates));
        }
        StringBuilder line = new StringBuilder();
        for (String part : parts) {
            String gap = line.isEmpty() ? "" : "  ";
            if (!part.isEmpty() && line.length() + gap.length() + part.length() <= columns) {
                line.append(gap).append(part);
            }
        }
        return line.toString().stripTrailing();
    }

    private String nothing() {
        if (!list().filter().isEmpty()) {
            return "nothing with \"" + list().filter() + "\" in it";
        }
        return switch (screen()) {
            case PROCESSES -> StatStream.NOBODY;
            case SOCKETS -> "no connections";
            case OBJECTS -> "no such objects";
            case OBJECT -> "nothing is counted of it";
        };
    }

    private String title(int columns) {
        StatSnapshot now = snapshot;
        String time = now == null ? "" : TIME.format(now.time().atZone(ZoneId.systemDefault())) + "  ";
        String mode = (rates ? "rates" : "totals") + (paused ? "  PAUSED" : "");
        String order = list().order();
        String title = time + what(now) + "  " + mode + (order.isEmpty() ? "" : "  " + order);
        return title.length() + COMMAND.length() > columns ? title : COMMAND + title;
    }

    private String what(@Nullable StatSnapshot now) {
        long pid = place().pid;
        String process = "process " + pid;
        if (screen() == Screen.SOCKETS) {
            return (now == null ? "connections" : HumanText.count(list().size(), "connection")) + (pid == 0
                    ? ""
                    : " of " + process);
        }
        if (pid == 0) {
            return now == null
                    ? "processes"
                    : now.processes().size() + (now.processes().size() == 1 ? " process" : " processes");
        }
        StatObject.Key o = place().object;
        if (o == null) {
            return process + (now == null
                    ? ""
                    : ", " + HumanText.count(now.processes().getFirst().objects().size(),
                            "object"));
        }
        String name = now == null
                ? ObjectType.toString(o.type())
                : StatDetail.find(now.processes().getFirst(), o).map(StatObject::name).orElse("");
        return name + " of " + process;
    }

    private StatLine notice(int columns) {
        if (typing != null) {
            return new StatLine(fit("show lines with: " + typing + "_", columns), StatLine.Style.PLAIN);
        }
        StatSnapshot now = snapshot;
        String text = message;
        long pid = place().pid;
        if (text.isEmpty() && now != null && pid != 0) {
            text = now.processes().getFirst().remark();
        }
        if (text.isEmpty() && now != null && !now.problems().isEmpty()) {
            int more = now.problems().size() - 1;
            text = now.problems().getFirst() + (more > 0 ? " (and " + more + " more)" : "");
        }
        String filter = list().filter();
        String shown = filter.isEmpty() ? "" : "lines with: " + filter + "  (Esc shows all)";
        if (!text.isEmpty()) { // this line may stay, so it does not hide the filter
            return new StatLine(fit(shown.isEmpty() ? text : shown + "  " + text, columns), StatLine.Style.ALERT);
        }
        if (!shown.isEmpty()) {
            return StatLine.plain(fit(shown, columns));
        }
        return StatLine.plain(pid != 0 && now != null
                ? fit(StatText.command(now.processes().getFirst().command()), columns)
                : "");
    }

    private String keys(int columns) {
        String choose = screen() == Screen.OBJECT ? "" : "Enter open  ";
        String back = screen() == Screen.PROCESSES ? "" : "Esc back  ";
        String sockets = switch (screen()) {
            case PROCESSES, OBJECTS -> "s sockets  ";
            case SOCKETS -> "r reverse  ";
            case OBJECT -> "";
        };
        String most = "h help  " + choose + back + "< > sort  " + sockets + "/ filter  " + (rates
                ? "t totals  "
                : "d rates  ");
        String pause = "p " + (paused ? "go on" : "pause") + "  ";
        String quit = "q quit";
        return most.length() + pause.length() + quit.length() <= columns ? most + pause + quit : most + quit;
    }

    private static String fit(String text, int width) {
        return text.length() > width ? StatText.fit(text, width, true) : text;
    }
}
