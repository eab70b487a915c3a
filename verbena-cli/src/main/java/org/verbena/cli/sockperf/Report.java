// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.Json;

/** What a client prints and writes after its run: the lines of sockperf, and files. */
final class Report {
    private static final double[] PERCENTILES = {99.999, 99.99, 99.9, 99, 90, 75, 50, 25};
    private static final double MEGA = 1024.0 * 1024;
    private static final double GIGA = 1024.0 * MEGA;
    private static final int BITS = 8;
    /** What a packet of Ethernet has of a datagram. */
    private static final int PACKET_BYTES = 1_472;
    private static final int BAR = 60;
    private static final double NANOS_IN_MICRO = 1e3;

    private final ReportOptions options;
    private final Run run;
    private final Plan plan;
    private final List<String> lines = new ArrayList<>();
    private @Nullable Observations observations;
    private final ObjectNode json = JsonNodeFactory.instance.objectNode();

    Report(ReportOptions options, Run run, String protocol, List<String> servers) {
        this.options = options;
        this.run = run;
        plan = run.plan();
        json.put("mode", plan.mode().word);
        json.put("protocol", protocol);
        servers.forEach(json.putArray("servers")::add);
    }

    /** Prints it, and writes the files. */
    void write(PrintWriter out) throws IOException {
        if (plan.every() == 0) {
            throughput();
        } else {
            latency();
        }
        boolean alone = "-".equals(options.json);
        if (alone) {
            out.println(Json.text(json));
        } else {
            lines.forEach(l -> out.println("sockperf: " + l));
        }
        out.flush();
        String file = options.json;
        if (file != null && !alone) {
            Files.writeString(Path.of(file), Json.text(json) + "\n");
        }
        Observations v = observations;
        if (v != null) {
            writeLog(v);
            writePercentiles(v);
        }
    }

    @SuppressWarnings("AnnotateFormatMethod") // the annotation belongs to Error Prone, which is no dependency
    private void line(String format, Object... values) {
        lines.add(String.format(Locale.ROOT, format, values));
    }

    // ---- latency

    private void latency() throws CommandException {
        Times t = run.times();
        String warmUp = plan.isTimed() || plan.playback() != null
                ? "Warm up time=" + (plan.playback() == null ? Plan.WARM_UP_NANOS / 1_000_000 : 0) + " msec"
                : "Warm up packets=" + Plan.WARM_UP_MESSAGES;
        if (t.lastIndex() == 0) {
            line("No message asked for an answer: fewer than --reply-every, %d, were sent", t.every());
        } else if (t.answered() == 0) {
            line("No messages were received from the server. Is the server down?");
        }
        line("[Total Run] RunTime=%.3f sec; %s; SentMessages=%d; ReceivedMessages=%d%s", run.seconds(), warmUp, t
                .sent(), t
                        .answered(), run.skipped() == 0 ? "" : "; SkippedMessages=" + run.skipped());
        json.putObject("run").put("seconds", Json.seconds(run.seconds())).put("sent", t.sent()).put("received", t
                .answered())
                .put("skipped", run.skipped()).put("malformed", run.malformed()).put("unexpected", t.unexpected());
        Observations v = run.valid();
        if (v == null || v.count() == 0) {
            line("No valid observations found. Try tune parameters: --time/--number-of-packets/--mps/--reply-every");
            return;
        }
        line("========= Printing statistics for Server No: 0");
        line("[Valid Duration] RunTime=%.3f sec; SentMessages=%d; ReceivedMessages=%d", v.seconds(), v.sent(), v
                .count());
        json.putObject("valid").put("seconds", Json.seconds(v.seconds())).put("sent", v.sent()).put("received", v
                .count())
                .put("dropped", v.dropped()).put("duplicated", t.duplicated()).put("out_of_order", v.disordered());
        Statistics s = v.latencies(false, options.fullRtt);
        figures(s, v);
        intended(v);
        observations = v;
        ReportOptions.Bins bins = options.bins();
        if (bins != null) {
            histogram(s, bins);
        }
    }

    private String what() {
        return options.fullRtt ? "round trip" : "latency";
    }

    private void figures(Statistics s, Observations v) {
        double half = s.confidence(options.confidence);
        line("====> avg-%s=%.3f (std-dev=%.3f, mean-ad=%.3f, median-ad=%.3f, siqr=%.3f, cv=%.3f, std-error=%.3f,"
                + " %.1f%% ci=[%.3f, %.3f])", options.fullRtt ? "rtt" : "latency", s.average(), s.standardDeviation(), s
                        .meanAbsoluteDeviation(), s.medianAbsoluteDeviation(), s.semiInterquartileRange(), s
                                .coefficientOfVariation(), s.standardError(), options.confidence, s.average() - half, s
                                        .average() + half);
        line("# dropped messages = %d; # duplicated messages = %d; # out-of-order messages = %d", v.dropped(), run
                .times()
                .duplicated(), v.disordered());
        String title = options.fullRtt ? "Round trip" : "Latency";
        line("Summary: %s is %.3f usec", plan.burst() == 1
                ? title
                : title + " of burst of " + plan.burst() + " messages", s
                        .average());
        line("Total %d observations; each percentile contains %.2f observations", s.count(), s.count() / 100.0);
        line("---> <MAX> observation = %8.3f", s.max());
        for (double p : PERCENTILES) {
            line("---> percentile %6.3f = %8.3f", p, s.percentile(p));
        }
        line("---> <MIN> observation = %8.3f", s.min());
        ObjectNode o = json.putObject(options.fullRtt ? "round_trip_usec" : "latency_usec");
        put(o, s);
        o.put("mean_ad", Json.rate(s.meanAbsoluteDeviation())).put("median_ad", Json.rate(s.medianAbsoluteDeviation()))
                .put("siqr", Json.rate(s.semiInterquartileRange())).put("cv", Json.rate(s.coefficientOfVariation()))
                .put("std_error", Json.rate(s.standardError()));
        o.putArray("ci").add(Json.rate(s.average() - half)).add(Json.rate(s.average() + half));
    }

    private static void put(ObjectNode o, Statistics s) {
        o.put("avg", Json.rate(s.average())).put("std_dev", Json.rate(s.standardDeviation())).put("min", Json.rate(s
                .min()))
                .put("max", Json.rate(s.max()));
        ObjectNode p = o.putObject("percentiles");
        for (double x : PERCENTILES) {
            p.put(String.format(Locale.ROOT, "%s", x).replaceFirst("\\.0$", ""), Json.rate(s.percentile(x)));
        }
    }

    /** What a sender that was held up delays is a delay, too: sockperf leaves it out. */
    private void intended(Observations v) {
        if (plan.periodNanos() > 0 || plan.playback() != null) {
            Statistics s = v.latencies(true, options.fullRtt);
            line("From the intended send time: avg-%s=%.3f; percentile 99.900 = %.3f; 99.000 = %.3f; 50.000 = %.3f; <MAX> = %.3f",
                    options.fullRtt ? "rtt" : "latency", s.average(), s.percentile(99.9), s.percentile(99), s
                            .percentile(50), s
                                    .max());
            put(json.putObject(options.fullRtt ? "intended_round_trip_usec" : "intended_latency_usec"), s);
        }
    }

    private void writeLog(Observations v) throws IOException {
        Path file = options.fullLog;
        if (file == null) {
            return;
        }
        try (PrintWriter w = new PrintWriter(Files.newBufferedWriter(file))) {
            lines.forEach(l -> w.println("sockperf: " + l));
            w.println("------------------------------");
            w.println("packet, txTime(sec), rxTime(sec), " + what() + "(usec)");
            for (int i = 0; i < v.count(); i++) {
                double tx = (v.sentAt(i) - run.start()) / 1e9;
                double rx = (v.answeredAt(i) - run.start()) / 1e9;
                w.printf(Locale.ROOT, "%d, %.9f, %.9f, %.3f%n", i, tx, rx, v.latency(i, false, options.fullRtt)
                        / NANOS_IN_MICRO);
            }
            w.println("------------------------------");
            if (w.checkError()) {
                throw new IOException(file + " could not be written");
            }
        }
    }

    private void writePercentiles(Observations v) throws IOException {
        Path file = options.hgrm;
        if (file == null) {
            return;
        }
        Histogram h = new Histogram(3);
        for (int i = 0; i < v.count(); i++) {
            h.recordValue(Math.max(1, (long) v.latency(i, true, options.fullRtt)));
        }
        try (PrintStream out = new PrintStream(Files.newOutputStream(file), false, StandardCharsets.US_ASCII)) {
            h.outputPercentileDistribution(out, NANOS_IN_MICRO);
            if (out.checkError()) {
                throw new IOException(file + " could not be written");
            }
        }
    }

    private void histogram(Statistics s, ReportOptions.Bins b) {
        int most = Math.max(s.between(0, b.low()), s.between(b.end(), Double.POSITIVE_INFINITY));
        for (int at = b.low(); at < b.end(); at += b.bin()) {
            most = Math.max(most, s.between(at, (double) at + b.bin()));
        }
        int each = Math.max(1, Math.ceilDiv(most, BAR));
        line("[Histogram] of the %s, usec; each # stands for up to %d observations", what(), each);
        bar("< " + b.low(), s.between(0, b.low()), each, " (outliers)");
        for (int at = b.low(); at < b.end(); at += b.bin()) {
            bar(at + "-" + (at + b.bin()), s.between(at, (double) at + b.bin()), each, "");
        }
        bar(">= " + b.end(), s.between(b.end(), Double.POSITIVE_INFINITY), each, " (outliers)");
    }

    private void bar(String bin, int count, int each, String remark) {
        if (count > 0) {
            line("%15s  %s %d%s", bin, "#".repeat(Math.ceilDiv(count, each)), count, remark);
        }
    }

    // ---- throughput

    private void throughput() {
        long sent = run.times().sent();
        double seconds = Math.max(run.seconds(), 1e-9);
        double rate = sent / seconds;
        line("Total of %d messages sent in %.3f sec%s", sent, seconds, run.skipped() == 0
                ? ""
                : " (" + run.skipped() + " messages skipped)");
        boolean datagrams = json.path("protocol").asText().equals("udp");
        int packets = datagrams ? Math.ceilDiv(plan.bytes(), PACKET_BYTES) : 1;
        line("Summary: Message Rate is %.0f [msg/sec]%s", rate, packets == 1
                ? ""
                : String.format(Locale.ROOT, ", Packet Rate is about %.0f [pkt/sec] (%d ip frags / msg)", rate
                        * packets,
                        packets));
        double bytes = rate * plan.bytes();
        if (options.giga) {
            line("Summary: BandWidth is %s GBps (%s Gbps)", digits(bytes / GIGA), digits(bytes * BITS / GIGA));
        } else {
            line("Summary: BandWidth is %s MBps (%s Mbps)", digits(bytes / MEGA), digits(bytes * BITS / MEGA));
        }
        json.put("sent", sent).put("seconds", Json.seconds(seconds)).put("skipped", run.skipped()).put(
                "messages_per_second", Json
                        .rate(rate)).put("bytes_per_second", Json.rate(bytes));
    }

    private String digits(double value) {
        return String.format(Locale.ROOT, options.precise ? "%.9f" : "%.3f", value);
    }

}
