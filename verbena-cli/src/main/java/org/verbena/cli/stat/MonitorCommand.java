// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.io.PrintWriter;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import org.verbena.cli.support.Terminal;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.VerbsException;

/** {@code verbena monitor}: one counter, one line per second. */
@Command(name = "monitor",
        description = "Shows the rate of one counter of an object, a line for each sample, with a small plot.")
public final class MonitorCommand implements Callable<Integer> {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);
    private static final int WIDTH = 40;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private StatOptions options;

    @Parameters(index = "0", paramLabel = "PID", converter = StatOptions.Pid.class,
            description = "The process.") private long pid;

    @Parameters(index = "1", paramLabel = "OBJECT",
            description = "One of its objects, as 'verbena stat PID' names it: qp:0x11, mr:0x1, port:1, shm0.") private String object = "";

    @Parameters(index = "2", paramLabel = "POINT", description = "Its counter: a sample point, for instance"
            + " tx_send_bytes or QP_TX_SEND_BYTES, or one of the figures tx, tx-bytes, rx, rx-bytes, errors, waits.") private String point = "";

    @Override
    public Integer call() throws VerbsException, StatFailure, InterruptedException {
        options.check(spec);
        PrintWriter err = spec.commandLine().getErr();
        try (StatReader reader = new StatReader(options.cached(), false)) {
            StatSnapshot before = reader.one(pid);
            StatObject first = StatNames.object(before.processes().getFirst(), object);
            return watch(reader, before, first, StatNames.points(first, point));
        } catch (StatFailure.Ended e) {
            return options.ended(String.valueOf(e.getMessage()), err);
        }
    }

    private int watch(StatReader reader, StatSnapshot first, StatObject object, int[] points)
            throws VerbsException, InterruptedException, StatFailure.Ended {
        PrintWriter out = spec.commandLine().getOut();
        MonitorPlot plot = new MonitorPlot(WIDTH, System.out.charset().newEncoder().canEncode('█'));
        StatSnapshot before = first.base(null);
        long due = System.nanoTime();
        boolean silent = false;
        for (int n = 0; options.count() == 0 || n < options.count(); n++) {
            due = options.pause(due);
            StatSnapshot now = reader.one(pid);
            StatProcess process = now.processes().getFirst();
            Optional<StatObject> o = StatDetail.find(process, object.key());
            if (o.isEmpty()) {
                throw new StatFailure.Ended(object.name() + " of process " + pid + " was closed");
            }
            if (process.silent() && !silent) {
                PrintWriter err = spec.commandLine().getErr();
                err.println(Terminal.ERR.colours().errorText("verbena: " + process.remark()));
                err.flush();
            }
            silent = process.silent();
            StatDelta d = StatDelta.of(process, before);
            long total = sum(o.get(), points);
            double rate = Arrays.stream(points).mapToDouble(p -> d.rate(o.get(), p)).sum();
            if (options.json()) {
                out.println(json(now, d, o.get(), points, total, rate));
            } else {
                text(out, plot, now, total, rate);
            }
            if (!StatOptions.flush(out)) {
                return 0;
            }
            before = now.base(before);
        }
        return 0;
    }

    private static long sum(StatObject o, int[] points) {
        return Arrays.stream(points).mapToLong(o::value).sum();
    }

    private static void text(PrintWriter out, MonitorPlot plot, StatSnapshot now, long total, double rate) {
        if (plot.fit(rate)) {
            out.println(line("TIME", "RATE/s", "TOTAL", plot.axis()));
        }
        out.println(line(TIME.format(now.time().atZone(ZoneId.systemDefault())), StatText.rate(rate),
                Long.toUnsignedString(total), plot.bar(rate)));
    }

    private static String line(String time, String rate, String total, String bar) {
        return String.format(Locale.ROOT, "%-8s %10s %20s  %s", time, rate, total, bar).stripTrailing();
    }

    private String json(StatSnapshot now, StatDelta d, StatObject o, int[] points, long total, double rate) {
        StatProcess p = d.process();
        Map<String, @Nullable Object> m = new LinkedHashMap<>();
        m.put("time", now.time().toString());
        m.put("pid", p.pid());
        m.put("object", o.name());
        m.put("points", Arrays.stream(points).filter(o::has).mapToObj(SamplePoint::toString).toList());
        m.put("cached", p.cached());
        m.put("answers", p.cached() ? p.silent() ? Boolean.FALSE : null : Boolean.TRUE);
        m.put("seconds", StatJson.rounded(d.seconds()));
        m.put("total", StatJson.unsigned(total));
        m.put("rate", StatJson.rounded(rate));
        return StatJson.write(m);
    }
}
