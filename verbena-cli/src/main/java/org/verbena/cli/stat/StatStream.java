// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.io.PrintWriter;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.Terminal;
import org.verbena.verbs.VerbsException;

/** Prints one sample after another, as text or JSON. */
final class StatStream {
    /** The text in place of missing processes. */
    static final String NOBODY = "no process that you may look at uses Verbena";

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);
    /** Lines are not truncated. */
    private static final int UNLIMITED = 10_000;

    private final StatOptions options;
    private final StatSelection selection;
    private final @Nullable StatSocketView sockets;
    private final PrintWriter out;
    private final PrintWriter err;
    private final Set<String> complained = new HashSet<>();
    private final StatLastKnown lastKnown = new StatLastKnown();

    /** @param sockets how sockets are shown; null for processes and objects */
    StatStream(StatOptions options, StatSelection selection, @Nullable StatSocketView sockets, PrintWriter out,
            PrintWriter err) {
        this.options = options;
        this.selection = selection;
        this.sockets = sockets;
        this.out = out;
        this.err = err;
    }

    /**
     * Prints until its reader has gone, the process ends, or the count is reached.
     *
     * @param pid the process; 0 for all
     * @param count how often; 0 for no limit
     * @param rates whether the first sample needs an earlier one
     * @return the exit code
     */
    int run(StatReader reader, long pid, int count, boolean rates) throws VerbsException, InterruptedException {
        try {
            StatSnapshot before = rates ? read(reader, pid) : null;
            long due = System.nanoTime(); // the first sample takes longer than others: it loads classes
            for (int n = 0; count == 0 || n < count; n++) {
                if (before != null) {
                    due = options.pause(due);
                }
                StatSnapshot now = read(reader, pid).withMissed(before);
                if (before == null) {
                    due = System.nanoTime();
                }
                if (n > 0 && !options.json()) {
                    out.println();
                }
                print(now, before, pid, rates);
                if (!StatOptions.flush(out)) {
                    return 0;
                }
                before = now.base(before);
            }
            return 0;
        } catch (StatFailure.Ended e) {
            return options.ended(String.valueOf(e.getMessage()), err);
        }
    }

    private StatSnapshot read(StatReader reader, long pid)
            throws VerbsException, InterruptedException, StatFailure.Ended {
        StatSnapshot p = pid == 0 ? reader.all() : reader.one(pid);
        for (String problem : p.problems()) {
            if (complained.add(problem)) {
                err.println(Terminal.ERR.colours().errorText("verbena: " + problem));
            }
        }
        err.flush();
        return p;
    }

    private void print(StatSnapshot now, @Nullable StatSnapshot before, long pid, boolean rates) {
        List<StatDelta> deltas = now.processes().stream().map(p -> StatDelta.of(p, before)).toList();
        StatSocketView view = sockets;
        if (view != null) {
            printSockets(view, now, deltas, rates);
            return;
        }
        StatTable table = selection.of(pid == 0
                ? StatTable.processes(deltas, rates)
                : StatTable.objects(deltas.getFirst(), selection.types(), rates));
        if (!options.json()) {
            text(now, deltas, table, pid, rates);
        } else if (pid == 0) {
            out.println(StatJson.processes(now, chosen(deltas, table), chosen(lastKnown.of(deltas), table)));
        } else {
            out.println(StatJson.objects(now, deltas.getFirst(), selection.objects(deltas.getFirst(), table)));
        }
    }

    private void printSockets(StatSocketView view, StatSnapshot now, List<StatDelta> deltas, boolean rates) {
        StatTable table = selection.of(StatSocketTable.of(view, deltas, rates));
        if (options.json()) {
            Set<Object> wanted = new HashSet<>();
            table.rows().forEach(r -> wanted.add(r.key()));
            for (StatDelta d : deltas) {
                StatProcess p = d.process();
                List<StatObject> objects = p.objects().stream().filter(o -> StatSocketTable.TYPES.contains(o.type())
                        && (!StatSocketTable.isSocket(o)
                                || wanted.contains(new StatSocketTable.Key(p.key(), o.key())))).toList();
                if (!objects.isEmpty()) {
                    out.println(StatJson.objects(now, d, objects));
                }
            }
            return;
        }
        out.println(TIME.format(now.time().atZone(ZoneId.systemDefault())) + "  sockets  " + (rates
                ? "rates"
                : "totals"));
        if (deltas.isEmpty()) {
            out.println(NOBODY);
        } else if (view == StatSocketView.FULL) {
            deltas.forEach(d -> StatSocketText.full(d, table).forEach(out::println));
        } else {
            out.println(table.header(UNLIMITED));
            table.rows().forEach(r -> out.println(table.line(r, UNLIMITED)));
            deltas.forEach(d -> StatSocketText.totals(d.process()).forEach(out::println));
        }
        deltas.stream().map(d -> d.process().remark()).filter(s -> !s.isEmpty()).forEach(out::println);
    }

    private static List<StatDelta> chosen(List<StatDelta> all, StatTable table) {
        List<StatDelta> chosen = new ArrayList<>();
        for (StatRow r : table.rows()) {
            all.stream().filter(d -> d.process().key().equals(r.key())).forEach(chosen::add);
        }
        return chosen;
    }

    private void text(StatSnapshot now, List<StatDelta> deltas, StatTable table, long pid, boolean rates) {
        String time = TIME.format(now.time().atZone(ZoneId.systemDefault()));
        String over = rates && !deltas.isEmpty() && deltas.getFirst().isKnown()
                ? String.format(Locale.ROOT, "rates over %.3f s", deltas.getFirst().seconds())
                : rates ? "rates" : "totals";
        if (pid == 0) {
            out.println(time + "  " + (rates ? "rates" : "totals"));
            if (deltas.isEmpty()) {
                out.println(NOBODY);
                return;
            }
        } else {
            StatProcess p = now.processes().getFirst();
            out.println(time + "  process " + pid + "  " + StatText.command(p.command()) + "  " + over);
            if (!p.remark().isEmpty()) {
                out.println(p.remark());
            }
        }
        out.println(table.header(UNLIMITED));
        table.rows().forEach(r -> out.println(table.line(r, UNLIMITED)));
    }
}
