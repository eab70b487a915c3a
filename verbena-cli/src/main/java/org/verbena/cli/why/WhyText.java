// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.why;

import java.io.PrintWriter;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import picocli.CommandLine.Help.Ansi;

import org.verbena.cli.doctor.SocketConditions;
import org.verbena.cli.stat.StatText;
import org.verbena.cli.support.HumanText;
import org.verbena.cli.support.Paragraph;

/** An answer for people, in lines of at most 80 columns. */
final class WhyText {
    private static final int WIDTH = 80;
    private static final int LABEL = 9;
    private static final int SOME = 3;
    private static final int GROUPS = 12;
    private static final int PROCESSES = 6;
    private static final int ADDRESSES = 8;
    private static final DateTimeFormatter TODAY = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);
    private static final DateTimeFormatter BEFORE = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);

    private final PrintWriter out;
    private final Ansi ansi;
    private final boolean all;

    /** @param all whether to print each connection, however many there are */
    WhyText(PrintWriter out, Ansi ansi, boolean all) {
        this.out = out;
        this.ansi = ansi;
        this.all = all;
    }

    void print(WhyAnswer answer) {
        if (answer.port() != 0) {
            bold("port " + answer.port() + ": " + (answer.processes().size() == 1
                    ? "1 process"
                    : answer.processes().size() + " processes") + " here");
            out.println();
        }
        List<WhyProcess> sorted = new ArrayList<>(answer.processes());
        sorted.sort(Comparator.comparing(p -> p.listeners().isEmpty() && p.plain().isEmpty())); // who listens goes first
        List<WhyProcess> printed = all ? sorted : sorted.subList(0, Math.min(PROCESSES, sorted.size()));
        printed.forEach(this::process);
        if (printed.size() < sorted.size()) {
            paragraph("", "and " + (sorted.size() - printed.size()) + " more processes: --all, or --json, has them");
            out.println();
        }
        answer.notes().forEach(n -> paragraph("", n));
        host(answer.host());
        out.flush();
    }

    private void process(WhyProcess p) {
        String command = p.command().isEmpty() ? "" : "  " + StatText.command(p.command());
        String title = "process " + p.pid() + command;
        bold(title.length() > WIDTH ? title.substring(0, WIDTH - 1) + ">" : title);
        paragraph("Verbena", p.state());
        remedy(p.remedy());
        paragraph("sockets", counts(p));
        p.notes().forEach(n -> paragraph("note", n));
        Map<WhyConnection.Group, List<WhyConnection>> groups = p.connections().stream().collect(Collectors.groupingBy(
                WhyConnection::group, LinkedHashMap::new, Collectors.toList()));
        List<List<WhyConnection>> sorted = new ArrayList<>(groups.values());
        sorted.sort(Comparator.comparing((List<WhyConnection> g) -> g.getFirst().carrier()).thenComparingInt(g -> -g
                .size()));
        List<List<WhyConnection>> printed = all ? sorted : sorted.subList(0, Math.min(GROUPS, sorted.size()));
        printed.forEach(g -> group(p, g));
        if (printed.size() < sorted.size()) {
            out.println();
            paragraph("", "and " + sorted.subList(printed.size(), sorted.size()).stream().mapToInt(List::size).sum()
                    + " more connections in " + (sorted.size() - printed.size())
                    + " more kinds: --all, or --json, has them");
        }
        listeners(p);
        out.println();
    }

    private static String counts(WhyProcess p) {
        String by = Stream.of(WhyConnection.Carrier.values()).filter(c -> p.count(c) != 0).map(c -> p.count(c) + " " + c
                .words()).collect(Collectors.joining(", "));
        return HumanText.count(p.connections().size(), "connection") + (by.isEmpty() ? "" : ": " + by) + "; "
                + HumanText.count(p.listeners().size() + p.plain().size(), "listener");
    }

    private void group(WhyProcess p, List<WhyConnection> group) {
        WhyConnection c = group.getFirst();
        out.println();
        String reason = c.reason().isEmpty() || c.carrier() != WhyConnection.Carrier.TCP ? "" : " (" + c.reason() + ")";
        bold(c.carrier().words().substring(0, 1).toUpperCase(Locale.ROOT) + c.carrier().words().substring(1) + reason
                + ": " + HumanText.count(group.size(), "connection"));
        int shown = all ? group.size() : Math.min(SOME, group.size());
        for (WhyConnection one : group.subList(0, shown)) {
            connection(one);
        }
        if (shown < group.size()) {
            out.println("  ... and " + (group.size() - shown) + " more");
        }
        if (c.peer() != null) {
            paragraph("peer", c.peer().name());
        }
        if (c.carrier() == WhyConnection.Carrier.NOT_VERBENA && !p.hasVerbena()) {
            return; // said above
        }
        WhyAdvice advice = advice(group);
        paragraph("why", advice.meaning());
        if (c.rule() != null) {
            paragraph("rule", c.rule().toString());
            if (!c.rule().explanation().isEmpty()) {
                paragraph(" ", c.rule().explanation());
            }
        }
        remedy(advice.remedy());
    }

    /** About all connections of a group; how much one has carried is said of a single one only. */
    private static WhyAdvice advice(List<WhyConnection> group) {
        WhyConnection c = group.getFirst();
        return group.size() == 1 || c.carrier() != WhyConnection.Carrier.TCP
                ? WhyAdvice.of(c)
                : WhyAdvice.ofReason(c.reason(), c.peer(), c.rule(), -1);
    }

    private void connection(WhyConnection c) {
        Instant since = c.since();
        String more = (c.role().isEmpty() ? "" : "  " + c.role()) + (since == null ? "" : "  since " + time(since));
        String line = "  " + c.ends();
        if (line.length() + more.length() <= WIDTH) {
            out.println(line + more);
        } else {
            paragraph("", c.ends());
            out.println("   " + more);
        }
    }

    private static String time(Instant t) {
        ZonedDateTime then = t.atZone(ZoneId.systemDefault());
        return (then.toLocalDate().equals(LocalDate.now(ZoneId.systemDefault())) ? TODAY : BEFORE).format(then);
    }

    private void listeners(WhyProcess p) {
        if (!p.listeners().isEmpty()) {
            out.println();
            bold("Listeners of Verbena's: " + addressesOf(p.listeners()));
        }
        if (!p.plain().isEmpty()) {
            out.println();
            bold((p.hasVerbena() ? "Listeners that stay plain: " : "Listeners: ") + p.plain().size());
            paragraph("", addressesOf(p.plain()));
            if (p.hasVerbena()) {
                paragraph("why", "They are from before Verbena came into the process, or not Java's: TCP carries what"
                        + " they accept.");
                remedy("Let the program open them anew, or start it with 'verbena run -- COMMAND'.");
            }
        }
    }

    private static String addressesOf(List<String> addresses) {
        int n = Math.min(ADDRESSES, addresses.size());
        return String.join(", ", addresses.subList(0, n)) + (n < addresses.size()
                ? ", and " + (addresses.size() - n) + " more"
                : "");
    }

    private void host(List<SocketConditions.Condition> host) {
        if (host.isEmpty()) {
            return;
        }
        List<SocketConditions.Condition> bad = host.stream().filter(c -> !c.isOk()).toList();
        String tried = String.join(", ", host.stream().map(SocketConditions.Condition::check).toList());
        bold("This machine");
        if (bad.isEmpty()) {
            paragraph("", "Nothing stands in the way of rings (tried: " + tried + ").");
        }
        for (SocketConditions.Condition c : bad) {
            paragraph(c.verdict(), c.check() + ": " + c.evidence());
            remedy(c.remedy());
        }
    }

    private void remedy(String text) {
        if (!text.isEmpty()) {
            paragraph("do", text);
        }
    }

    private void bold(String text) {
        for (String line : Paragraph.wrap(text, WIDTH)) {
            out.println(bolded(line));
        }
    }

    private String bolded(String line) {
        return ansi.enabled() ? "\033[1m" + line + "\033[0m" : line; // markup of picocli may stand in a command line
    }

    /** A text behind a label, or below those of others. */
    private void paragraph(String label, String text) {
        String start = label.isEmpty() ? "  " : "  " + label + " ".repeat(Math.max(1, LABEL - label.length()));
        String next = label.isEmpty() ? "  " : " ".repeat(2 + LABEL);
        for (String line : Paragraph.wrap(text, WIDTH - next.length())) {
            out.println(start + line);
            start = next;
        }
    }
}
