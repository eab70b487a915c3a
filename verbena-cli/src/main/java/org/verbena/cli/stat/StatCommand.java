// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import org.verbena.verbs.ObjectType;

/** {@code verbena stat}: shows what processes do with verbs. */
@Command(name = "stat", description = {
    "Shows the processes that use Verbena, the objects of one, or sockets, with what they have counted.",
    "On a terminal like top, h shows the keys; otherwise, or with --once, --count or --json, line by line."})
public final class StatCommand implements Callable<Integer> {
    /** The bound of object types: a number that this version does not know has no name. */
    private static final int MAX_TYPE = 255;

    /** The meaning of the figures. */
    enum View {
        TOTALS, RATES, BASIC, QUEUE, FULL, NETSTAT, SOCKETS;

        private boolean isFigures() {
            return this == TOTALS || this == RATES;
        }

        /** As it is written on the command line. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private StatOptions options;

    @Parameters(arity = "0..1", paramLabel = "PID", converter = StatOptions.Pid.class,
            description = "Show the objects of this process.") private @Nullable Long pid;

    @Option(names = {"-1", "--once"}, description = "Look once, print, end.") private boolean once;

    @Option(names = {"-v", "--view"}, paramLabel = "WHAT", split = ",",
            description = {"totals, or rates (deltas by the time between two samples). Default: rates on the whole"
                    + " screen, else totals.",
                "Of sockets: sockets, a line for each connection, which fits a terminal and is shown on the whole screen,"
                        + " too; line by line: basic, queue, full, netstat; with a comma also rates."}) private List<View> views = List
                                .of();

    @Option(names = {"-t", "--type"}, paramLabel = "TYPE", split = ",",
            description = "Objects of these types only: qp, cq, srq, wq, mr, port, device, pd, flow, connection, listener,"
                    + " remote_memory, rule, rule_counter, sockets, stack, tcp, tcp_listener, udp.") private List<String> types = List
                            .of();

    @Option(names = {"-f", "--filter"}, paramLabel = "TEXT", defaultValue = "",
            description = "Lines with this text in them only.") private String filter = "";

    @Option(names = {"-s", "--sort"}, paramLabel = "COLUMN", defaultValue = "",
            description = "Sort by a column: pid or object, state, tx, tx-bytes, rx, rx-bytes, errors, waits, command.") private String sort = "";

    @Option(names = {"-r", "--reverse"}, description = "Sort the other way round.") private boolean reverse;

    @Override
    public Integer call() throws IOException, InterruptedException {
        options.check(spec);
        Long p = pid;
        long process = p == null ? 0 : p;
        StatSelection selection = new StatSelection(types(), filter, sort, reverse);
        StatSocketView sockets = sockets();
        boolean rates = views.contains(View.RATES);
        StatTable columns = sockets != null
                ? StatSocketTable.of(sockets, List.of(), false)
                : process == 0
                        ? StatTable.processes(List.of(), false)
                        : StatTable.objects(StatDelta.none(), Set.of(), false);
        if (!sort.isEmpty() && columns.column(sort) < 0) {
            throw wrong("there is no column '" + sort + "': " + String.join(", ", columns.columns().stream().map(
                    StatTable.Column::name).toList()));
        }
        if (once && options.count() > 0) {
            throw wrong("--once and --count exclude each other");
        }
        boolean screen = (sockets == null || sockets == StatSocketView.SOCKETS) && !once && !options.json() && options
                .count() == 0 && StatScreen.isPossible();
        if (sockets != null && !types.isEmpty()) {
            throw wrong("--type is for objects, and --view " + name(sockets) + " shows sockets");
        }
        if (process == 0 && !types.isEmpty() && !screen) {
            throw wrong("--type chooses among the objects of a process: which PID? 'verbena stat' lists them");
        }
        try (StatReader reader = new StatReader(options.cached(), sockets != null)) {
            if (screen) {
                StatView v = new StatView(process, selection.types());
                if (sockets != null) {
                    v.openSockets();
                }
                v.begin(!views.contains(View.TOTALS), sort, reverse, filter);
                if (process != 0) {
                    reader.one(process); // a wrong number is reported where it was typed
                }
                return new StatScreen<>(v, reader, options.intervalNanos()).run();
            }
            PrintWriter out = spec.commandLine().getOut();
            return new StatStream(options, selection, sockets, out, spec.commandLine().getErr()).run(reader, process,
                    once ? 1 : options.count(), rates);
        } catch (StatFailure.Ended e) {
            return options.ended(String.valueOf(e.getMessage()), spec.commandLine().getErr());
        }
    }

    /** The requested view of sockets; null for objects. */
    private @Nullable StatSocketView sockets() {
        List<View> chosen = views.stream().filter(v -> !v.isFigures()).toList();
        if (chosen.size() > 1 || views.size() - chosen.size() > 1) {
            throw wrong("--view takes one of totals and rates, and one of sockets, basic, queue, full and netstat");
        }
        return chosen.isEmpty() ? null : StatSocketView.valueOf(chosen.getFirst().name());
    }

    private static String name(StatSocketView view) {
        return view.name().toLowerCase(Locale.ROOT);
    }

    private Set<Integer> types() {
        Set<Integer> chosen = new TreeSet<>();
        for (String t : types) {
            int type = type(t.strip());
            if (type < 0) {
                throw wrong("there is no type of objects '" + t + "': qp, cq, srq, wq, mr, port, device, pd, flow,"
                        + " connection, listener, remote_memory, rule, rule_counter, sockets, stack, tcp, tcp_listener, udp");
            }
            chosen.add(type);
        }
        return chosen;
    }

    private static int type(String name) {
        for (int t = 0; t <= MAX_TYPE; t++) {
            if (ObjectType.toString(t).equals(name.toUpperCase(Locale.ROOT))) {
                return t;
            }
        }
        return -1;
    }

    private ParameterException wrong(String sentence) {
        return new ParameterException(spec.commandLine(), sentence);
    }
}
