// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.Arrays;

/** The part of one end in a test: its steps, and the exchanges in between. A server of a one-way test only waits. */
final class PerftestRun {
    private final PerftestEndpoint end;
    private final PerftestExchange exchange;
    private final boolean client;
    private final PerftestOptions options;
    private final PerftestTraffic traffic;
    private final PrintWriter out;

    PerftestRun(PerftestEndpoint end, PerftestExchange exchange, boolean client, PrintWriter out) {
        this.end = end;
        this.exchange = exchange;
        this.client = client;
        this.out = out;
        options = end.options;
        traffic = new PerftestTraffic(end, client);
    }

    void run() throws IOException {
        switch (options.type()) {
            case WRITE_BW, READ_BW, ATOMIC_BW -> {
                PerftestReport.printHeader(out);
                if (options.bothWays()) {
                    oneSidedBothWays();
                } else {
                    oneSided();
                }
            }
            case SEND_BW -> {
                PerftestReport.printHeader(out);
                sends();
            }
            case READ_LAT, ATOMIC_LAT, SEND_LAT, WRITE_LAT -> latency();
        }
        boolean agree = options.type() != PerftestType.WRITE_LAT; // the ends do not tell each other that they are done
        if (agree) {
            together();
        }
        exchange.end(agree);
    }

    /** Both ends have reached this point. */
    private void together() throws IOException {
        exchange.addresses(end.locals().getFirst());
    }

    private void oneSided() throws IOException {
        PerftestReport own = PerftestReport.NONE;
        if (client) {
            for (int size : options.sizes()) {
                own = report(size, traffic.sendAll(size));
                own.print(out);
            }
        }
        together(); // the client has done its work
        PerftestReport remote = exchange.reports(own);
        if (!client) {
            remote.print(out);
        }
    }

    private void oneSidedBothWays() throws IOException {
        for (int size : options.sizes()) {
            together();
            PerftestReport own = report(size, traffic.sendAll(size));
            if (options.allSizes()) {
                together();
            }
            own.and(exchange.reports(own)).print(out);
        }
    }

    private void sends() throws IOException {
        for (int size : options.sizes()) {
            if (!client || options.bothWays()) {
                traffic.postReceives(size);
            }
            together(); // the receives are posted
            if (options.bothWays()) {
                PerftestReport own = report(size, traffic.sendAndReceiveAll(size));
                own.and(exchange.reports(own)).print(out);
            } else {
                report(size, client ? traffic.sendAll(size) : traffic.receiveAll(size)).print(out);
            }
            if (options.allSizes()) {
                together();
            }
        }
    }

    private void latency() throws IOException {
        boolean oneSided = options.type() == PerftestType.READ_LAT || options.type() == PerftestType.ATOMIC_LAT;
        if (oneSided && !client) {
            return;
        }
        PerftestReport.printLatencyHeader(out);
        for (int size : options.sizes()) {
            if (options.type() == PerftestType.SEND_LAT) {
                traffic.postReceives(size);
                together();
            }
            PerftestReport.printLatency(out, size, options.iterations(), oneSided
                    ? traffic.oneByOne(size)
                    : inTurn(size));
        }
    }

    /** Half the time between two messages of one's own. */
    private long[] inTurn(int size) throws IOException {
        long[] at = traffic.inTurn(size);
        long[] nanos = new long[at.length - 1];
        Arrays.setAll(nanos, i -> (at[i + 1] - at[i]) / 2);
        return nanos;
    }

    private PerftestReport report(int size, long nanos) {
        return PerftestReport.of(size, (long) options.iterations() * options.queuePairs(), nanos);
    }
}
