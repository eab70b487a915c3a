// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.datagrams;

import java.io.IOException;

import org.verbena.cli.perf.run.PerfControl;

/** The initiator of {@code udp-rate}, {@code raw-rate} and {@code raw-bw}: sends as long as the peer has room, which it says. */
final class PerfDatagramSender extends PerfDatagramLoop {
    private final int underWay;
    private final int perCredit;
    private long sent;
    private long allowed;

    PerfDatagramSender(PerfControl peer, PerfDatagrams end) {
        super(peer, end);
        underWay = end.underWay();
        perCredit = PerfDatagramReceiver.perCredit(underWay);
        allowed = underWay;
    }

    @Override
    protected void burst(int n) throws IOException {
        long until = sent + n;
        long turns = 0;
        while (sent < until) {
            if (end.receive()) {
                allowed += perCredit;
                turns = 0;
            }
            if (sent < allowed && end.send((byte) sent)) {
                sent++;
                turns = 0;
            } else {
                turns = peer.spin(turns);
            }
        }
    }

    @Override
    public String toString() {
        return sent + " messages, of which at most " + underWay + " were under way";
    }
}
