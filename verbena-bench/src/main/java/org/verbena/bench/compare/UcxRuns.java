// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.compare;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * {@code ucx_perftest} of Debian's ucx-utils over its shared memory transport. It prints one-way latencies, the median
 * of a ping-pong divided by two; doubled they are round trips.
 */
final class UcxRuns {
    private static final String TOOL = "ucx_perftest";
    private static final String ENVIRONMENT = "UCX_TLS";
    private static final int MICROS = 1000;
    private static final double MB = 1 << 20;

    private final int[] cpus;

    UcxRuns(int[] cpus) {
        this.cpus = cpus;
    }

    /** Whether the tool is on the path. */
    static boolean isInstalled() {
        return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":", -1))
                .anyMatch(d -> Files.isExecutable(Path.of(d.isEmpty() ? "." : d, TOOL)));
    }

    Sample latencies() throws IOException {
        Sample s = new Sample();
        s.put("ucx-put-8-rtt", 2 * MICROS * run("ucp_put_lat", 8, 1_000_000)[1]);
        s.put("ucx-tag-64-rtt", 2 * MICROS * run("tag_lat", 64, 1_000_000)[1]);
        return s;
    }

    /** The tool prints one percentile a run. */
    Sample percentiles() throws IOException {
        Sample s = new Sample();
        for (String rank : Sample.RANKS) {
            s.put(Sample.percentile("ucx-tag-64", rank), 2 * MICROS * run("tag_lat", 64, 1_000_000, "-R", rank)[1]);
        }
        return s;
    }

    Sample bandwidths() throws IOException {
        Sample s = new Sample();
        s.put("ucx-tag-64-rate", run("tag_bw", 64, 5_000_000)[7]);
        s.put("ucx-tag-1m-bw", run("tag_bw", 1 << 20, 5000)[5] * MB);
        s.put("ucx-put-1m-bw", run("ucp_put_bw", 1 << 20, 5000)[5] * MB);
        return s;
    }

    /**
     * The numbers of the last line: iterations; latency at the percentile (the median), average, overall in µs; bandwidth average, overall in
     * MB/s; rate average, overall in messages/s.
     */
    private double[] run(String test, int size, int iterations, String... options) throws IOException {
        int port = freePort();
        // large messages: cma copies once, from process to process, where posix alone would copy twice
        String transports = size > 65536 ? "posix,cma,self" : "posix,self";
        List<String> server = List.of("taskset", "-c", String.valueOf(cpus[1]), TOOL, "-p", String.valueOf(port));
        List<String> client = new ArrayList<>(List.of("taskset", "-c", String.valueOf(cpus[0]), TOOL, "127.0.0.1", "-p",
                String.valueOf(port), "-t", test, "-s", String.valueOf(size), "-n", String.valueOf(iterations), "-f",
                "-v"));
        client.addAll(List.of(options));
        try (Child s = new Child(server, ENVIRONMENT, transports)) {
            awaitListener(port);
            try (Child c = new Child(client, ENVIRONMENT, transports)) {
                String printed = c.rest();
                s.rest();
                return lastFigures(test, printed.split("\n", -1));
            }
        }
    }

    private static double[] lastFigures(String test, String[] lines) throws IOException {
        for (int i = lines.length - 1; i >= 0; i--) {
            if (lines[i].matches("[0-9][0-9.,]*")) {
                double[] n = Arrays.stream(lines[i].split(",", -1)).mapToDouble(Double::parseDouble).toArray();
                if (n.length >= 8) {
                    return n;
                }
            }
        }
        throw new IOException(TOOL + " -t " + test + " printed no figures: " + String.join(" | ", lines));
    }

    /** The tool says that it waits into a buffer, so the kernel is asked instead. */
    private static void awaitListener(int port) throws IOException {
        String listens = String.format(Locale.ROOT, ":%04X 00000000:0000 0A", port);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (!Files.readString(Path.of("/proc/net/tcp")).contains(listens)) {
            if (System.nanoTime() - end > 0) {
                throw new IOException(TOOL + " does not listen");
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket s = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
            return s.getLocalPort();
        }
    }
}
