// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import org.verbena.cli.support.HumanText;
import org.verbena.sockets.SocketObjectType;
import org.verbena.sockets.SocketSamplePoint;

/** The lines of text below or instead of a table of sockets. */
final class StatSocketText {
    private static final int WIDTH = 100;

    private StatSocketText() {}

    /** A block for each socket of a process that has a line in the table, its rules, and the totals. */
    static List<String> full(StatDelta d, StatTable table) {
        Set<Object> wanted = new HashSet<>();
        table.rows().forEach(r -> wanted.add(r.key()));
        StatProcess p = d.process();
        List<String> lines = new ArrayList<>();
        lines.add("process " + p.pid() + "  " + StatText.command(p.command()));
        for (StatObject o : p.objects()) {
            if (wanted.contains(new StatSocketTable.Key(p.key(), o.key()))) {
                lines.add("  " + o.name() + "  " + o.state() + "  " + StatSocketTable.about(o));
                StatDetail.head(p, o, WIDTH).forEach(l -> lines.add("    " + l));
                points(d, o, lines);
            } else if (o.type() == SocketObjectType.RULE || o.type() == SocketObjectType.RULE_COUNTER) {
                long n = o.value(o.type() == SocketObjectType.RULE
                        ? SocketSamplePoint.RULE_SOCKETS
                        : SocketSamplePoint.RULE_COUNTER_SOCKETS);
                lines.add("  " + o.name() + "  " + ruleText(o) + "  " + n + " sockets");
            }
        }
        lines.addAll(totals(p));
        return lines;
    }

    private static void points(StatDelta d, StatObject o, List<String> lines) {
        for (int point : o.points()) {
            if (o.value(point) != 0) {
                String rate = d.isKnown() ? "  " + StatText.rate(d.rate(o, point)) + "/s" : "";
                String bar = !StatResponses.isPoint(point)
                        ? ""
                        : "  " + StatResponses.of(o).map(r -> r.bar(point)).orElse(
                                "");
                lines.add(String.format(Locale.ROOT, "    %-16s %s%s%s", StatNames.shortName(o.type(), point),
                        Long.toUnsignedString(o.value(point)), rate, bar));
            }
        }
    }

    /** A rule, or the name of a counter. */
    static String ruleText(StatObject o) {
        return String.valueOf(o.attributes().getOrDefault(o.type() == SocketObjectType.RULE ? "text" : "name", ""));
    }

    /** The totals of all sockets of a process, including ended ones; nothing for a process without sockets. */
    static List<String> totals(StatProcess p) {
        List<String> lines = StatStackText.totals(p);
        for (StatObject o : p.objects()) {
            if (o.type() == SocketObjectType.SOCKETS) {
                lines.add("process " + p.pid() + ": "
                        + HumanText.count(o.value(SocketSamplePoint.SOCKETS_OPENED), "connection") + ", "
                        + o.attributes().get("open") + " open, " + o.attributes().get("listening") + " listening; "
                        + o.value(SocketSamplePoint.SOCKETS_HANDSHAKES) + " with rings" + reasons(o) + "; received "
                        + bytes(o, SocketSamplePoint.SOCKETS_RX_RING_BYTES) + " by ring and "
                        + bytes(o, SocketSamplePoint.SOCKETS_RX_TCP_BYTES) + " by TCP, sent "
                        + bytes(o, SocketSamplePoint.SOCKETS_TX_RING_BYTES) + " and "
                        + bytes(o, SocketSamplePoint.SOCKETS_TX_TCP_BYTES));
                if (o.attributes().get("inactive") instanceof String parts && !parts.isEmpty()) {
                    lines.add("process " + p.pid() + ": the JDK's, not Verbena's: " + parts + "; active: "
                            + o.attributes().get("active"));
                }
                if (o.attributes().get("listenersFromBefore") instanceof Long n && n != 0) {
                    lines.add("process " + p.pid() + ": listeners from before Verbena, TCP carries what they accept: "
                            + n);
                }
                memory(p.pid(), o, lines);
                polls(p.pid(), o, lines);
                if (o.attributes().get("notShown") instanceof Long n && n != 0) {
                    lines.add("process " + p.pid() + ": " + n + " of its sockets are not shown: see counters.sockets");
                }
            }
        }
        return lines;
    }

    /** The memory of rings and its limit; nothing for a process of a version that does not publish it. */
    private static void memory(long pid, StatObject o, List<String> lines) {
        if (o.attributes().get("ringBytes") instanceof Long taken && o.attributes().get(
                "ringLimit") instanceof Long most
                && o.attributes().get("memoryLimit") instanceof Long limit) {
            long refused = o.value(SocketSamplePoint.SOCKETS_RINGS_REFUSED);
            lines.add("process " + pid + ": rings take " + StatText.total(taken) + " B, large ones up to "
                    + StatText.total(most) + " B (an eighth of the " + ("control group".equals(o.attributes().get(
                            "memoryLimitOf")) ? "control group's limit" : "machine's memory") + ", "
                    + StatText.total(limit) + " B)" + (refused == 0 ? "" : "; " + refused + " refused")
                    + (Boolean.TRUE.equals(o.attributes().get("memoryShort")) ? "; memory is short" : ""));
        }
    }

    private static void polls(long pid, StatObject o, List<String> lines) {
        long found = o.value(SocketSamplePoint.SOCKETS_POLLS_FOUND);
        long inVain = o.value(SocketSamplePoint.SOCKETS_POLLS_IN_VAIN);
        if (found != 0 || inVain != 0) {
            lines.add("process " + pid + ": before they slept, waits polled memory " + (found + inVain) + " times, "
                    + inVain
                    + " of them in vain, for " + TimeUnit.NANOSECONDS.toMillis(o.value(
                            SocketSamplePoint.SOCKETS_POLL_NANOS)) + " ms");
        }
    }

    private static String bytes(StatObject o, int point) {
        return StatText.total(o.value(point)) + " B";
    }

    private static String reasons(StatObject o) {
        StringBuilder b = new StringBuilder();
        for (int p = SocketSamplePoint.SOCKETS_BY_TCP_REMOTE_PEER; p <= SocketSamplePoint.SOCKETS_BY_TCP_NOT_EARNED; p++) {
            if (o.value(p) != 0) {
                b.append(", ").append(o.value(p)).append(" by TCP: ").append(StatNames.shortName(o.type(), p)
                        .replace("by_tcp_", ""));
            }
        }
        return b.toString();
    }
}
