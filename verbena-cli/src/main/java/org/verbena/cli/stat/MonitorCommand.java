// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.Terminal;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.VerbsException;

/** {@code verbena monitor}: one counter of a process, or the flows of a network interface. */
@Command(name = "monitor", description = {
    "Of a process: shows the rate of one counter of an object, a line for each sample, with a small plot.",
    "Of a network interface: shows its flows in both directions, their packets and bytes. The traffic is not touched."})
public final class MonitorCommand implements Callable<Integer> {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);
    private static final int WIDTH = 40;
    private static final int OBJECT = 0;
    private static final int POINT = 1;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private StatOptions options;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private TrafficOptions traffic;

    @Parameters(index = "0", paramLabel = "PID|INTERFACE",
            description = "The process, or the network interface.") private String target = "";

    @Parameters(index = "1..*", paramLabel = "OBJECT POINT|FILTER", description = {
        "Of a process one of its objects, as 'verbena stat PID' names it: qp:0x11, mr:0x1, port:1, shm0; and its"
                + " counter: a sample point, for instance tx_send_bytes or QP_TX_SEND_BYTES, or one of the figures tx,"
                + " tx-bytes, rx, rx-bytes, errors, waits.",
        "Of an interface which packets, as for tcpdump: host 10.0.0.1 and not tcp port 22. Words: host, net, port,"
                + " portrange, proto, src, dst, tcp, udp, icmp, icmp6, ip, ip6, arp, vlan, inbound, outbound, and, or,"
                + " not, ( )."}) private List<String> words = List.of();

    private long pid;

    /** Optional, so that all other commands run without it; nothing here may refer to its types, therefore. */
    private static final String MODULE = "org.verbena.xdp";

    @Override
    public Integer call() throws IOException, StatFailure, InterruptedException {
        options.check(spec);
        PrintWriter err = spec.commandLine().getErr();
        try {
            if (!target.matches("[0-9]+")) {
                return watchInterface();
            }
            TrafficOptions.refuse(spec);
            pid = new StatOptions.Pid().convert(target);
            requireObject();
            try (StatReader reader = new StatReader(options.cached(), false)) {
                StatSnapshot before = reader.one(pid);
                StatObject first = StatNames.object(before.processes().getFirst(), words.get(OBJECT));
                return watch(reader, before, first, StatNames.points(first, words.get(POINT)));
            }
        } catch (StatFailure.Ended e) {
            return options.ended(String.valueOf(e.getMessage()), err);
        }
    }

    private void requireObject() {
        if (words.size() <= POINT) {
            throw wrong(words.isEmpty()
                    ? "Missing required parameters: 'OBJECT', 'POINT'"
                    : "Missing required parameter: 'POINT'");
        }
        if (words.size() > POINT + 1) {
            throw wrong("the argument '" + words.get(POINT + 1) + "' is one too many");
        }
    }

    private ParameterException wrong(String sentence) {
        return new ParameterException(spec.commandLine(), sentence);
    }

    private int watchInterface() throws IOException, InterruptedException, StatFailure.Ended {
        String text = String.join(" ", words);
        traffic.target(target, text);
        traffic.check(spec, options);
        ModuleLayer modules = getClass().getModule().getLayer();
        if (modules != null && modules.findModule(MODULE).isEmpty()) {
            throw new CommandException("watching an interface takes the module " + MODULE
                    + ", which is not on the module path: put the jar of verbena-xdp there");
        }
        return TrafficMonitor.of(spec.commandLine(), options, traffic, text).run();
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
