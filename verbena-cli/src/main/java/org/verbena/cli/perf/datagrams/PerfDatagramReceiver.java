// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.datagrams;

import java.io.IOException;

import org.verbena.cli.perf.run.PerfControl;

/** The target of {@code udp-rate}, {@code raw-rate} and {@code raw-bw}: allows more with every quarter of what may be under way. */
final class PerfDatagramReceiver extends PerfDatagramLoop {
    private static final int PARTS = 4;

    private final int perCredit;
    private int uncredited;
    private byte expected;
    private long number;

    PerfDatagramReceiver(PerfControl peer, PerfDatagrams end) {
        super(peer, end);
        perCredit = perCredit(end.underWay());
    }

    /** How many messages a credit stands for. */
    static int perCredit(int underWay) {
        return Math.max(1, underWay / PARTS);
    }

    @Override
    protected boolean receives() {
        return true;
    }

    @Override
    protected void burst(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            receive();
            arrived();
            number++;
            if (end.mark() != expected++) {
                throw lost(number);
            }
            if (++uncredited == perCredit) {
                uncredited = 0;
                long turns = 0;
                while (!end.sendCredit()) {
                    turns = peer.spin(turns);
                }
            }
        }
    }
}
