// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.PrintWriter;
import java.net.SocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a server has not received, of each sender: the numbers of messages follow each other. For one thread. */
final class Gaps {
    /** Beyond this number of senders those of longest ago are forgotten. */
    private static final int MOST = 10_000;
    /** How far messages overtake each other at most. */
    private static final int FAR = 1_000;

    private static final class Sender {
        long expected;
        long received;
        long gaps;
        long missing;
        long late;
    }

    private final Map<SocketAddress, Sender> senders = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<SocketAddress, Sender> eldest) {
            return size() > MOST;
        }
    };

    void received(SocketAddress from, long sequence) {
        if (sequence < 1) {
            return; // it only asks whether somebody is there
        }
        Sender s = senders.computeIfAbsent(from, f -> new Sender());
        if (sequence == 1 && s.expected > FAR) { // it begins anew
            s.expected = 1;
        }
        s.received++;
        if (sequence < s.expected) {
            s.late++;
            return;
        }
        if (s.received > 1 && sequence > s.expected) {
            s.gaps++;
            s.missing += sequence - s.expected;
        }
        s.expected = sequence + 1;
    }

    void print(PrintWriter out) {
        senders.forEach((from, s) -> out.printf(
                "sockperf: %s: %d messages received, %d gaps with %d messages, %d out of order or duplicated%n", from,
                s.received,
                s.gaps, s.missing, s.late));
    }
}
