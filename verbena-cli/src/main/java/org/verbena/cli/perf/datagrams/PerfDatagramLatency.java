// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.datagrams;

import java.io.IOException;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfPaced;

/**
 * {@code udp-lat-spin}, {@code raw-lat} and {@code stack-udp-lat}: a message and its answer. Where several are under way, the first byte of each has its
 * number, which the answer brings back, so that an answer is not taken for that of a lost one.
 */
final class PerfDatagramLatency extends PerfDatagramLoop implements PerfPaced {
    private final boolean initiator;
    private long sent;
    private long answers;

    PerfDatagramLatency(PerfControl peer, PerfDatagrams end, boolean initiator) {
        super(peer, end);
        this.initiator = initiator;
    }

    @Override
    public int inFlight() {
        return end.underWay();
    }

    @Override
    public void begin() {
        sent = 0;
        answers = 0;
    }

    @Override
    public boolean send() throws IOException {
        if (!end.send((byte) sent)) {
            return false;
        }
        sent++;
        return true;
    }

    @Override
    public void poll() throws IOException {
        if (end.receive()) {
            if (end.mark() != (byte) answers) {
                throw lost(answers + 1);
            }
            answers++;
            answered();
        }
    }

    @Override
    protected void burst(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            if (initiator) {
                pass((byte) 0);
                receive();
                roundTrip();
            } else {
                receive();
                pass(end.mark());
            }
        }
    }

    private void pass(byte mark) throws IOException {
        long turns = 0;
        while (!end.send(mark)) {
            turns = peer.spin(turns);
        }
    }
}
