// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import org.verbena.stack.ip.Host;

/** What holds of each connection at any time. */
final class Invariants {
    private Invariants() {}

    static void check(Host h) {
        h.tcp.forEach(Invariants::check);
    }

    private static void check(Connection c) {
        Sender s = c.sender;
        assertThat(s.next - s.una).isNotNegative();
        assertThat(s.end + 1 - s.next).isNotNegative();
        assertThat(s.held()).isLessThanOrEqualTo(s.limit);
        SentSegments q = s.sent;
        int flight = 0;
        int sacked = 0;
        int lost = 0;
        for (int i = 0; i < q.size(); i++) {
            int n = q.length(i);
            assertThat(n).isPositive();
            flight += q.is(i, SentSegments.IN_FLIGHT) ? n : 0;
            sacked += q.is(i, SentSegments.SACKED) ? n : 0;
            lost += q.is(i, SentSegments.LOST) ? n : 0;
            assertThat(q.is(i, SentSegments.SACKED) && q.is(i, SentSegments.IN_FLIGHT)).isFalse();
        }
        assertThat(q.inFlight()).isEqualTo(flight);
        assertThat(q.sackedBytes()).isEqualTo(sacked);
        assertThat(q.lostBytes()).isEqualTo(lost);
        if (c.state.isSynchronized() && q.size() > 0) {
            assertThat(q.start(0)).isEqualTo(s.una);
            assertThat(q.end(q.size() - 1)).isEqualTo(s.next);
        }
        if (c.state.isSynchronized() && s.outstanding() > 0) {
            assertThat(q.size()).isPositive();
            assertThat(c.timers.retransmission()).as("%s", c.info()).isNotEqualTo(Timers.NEVER);
        }
        if (c.state.sends() && s.outstanding() == 0 && (s.unsent() > 0 && !c.corked || s.isFinDue())) {
            assertThat(c.timers.retransmission()).as("%s", c.info()).isNotEqualTo(Timers.NEVER);
        }
        Receiver r = c.receiver;
        assertThat(r.readable()).isNotNegative();
        assertThat(r.readable()).isLessThan(r.limit + (1 << r.scale));
        assertThat(r.window()).isNotNegative();
        int before = r.next;
        for (int i = 0; i < r.ranges(); i++) {
            assertThat(r.left(i) - before).isPositive();
            assertThat(r.right(i) - r.left(i)).isPositive();
            assertThat(r.edge - r.right(i)).isNotNegative();
            before = r.right(i);
        }
        assertThat(c.recovery.congestion.window).as("%s", c.info()).isNotNegative();
    }
}
