// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

/** What a connection does not tell its users, for tests: segments on their way, and what it recovers from. */
public final class TcpInsight {
    private TcpInsight() {}

    /** Segments that were sent and not acknowledged. */
    public static long unacknowledged(Connection c) {
        return count(c, 0, 0);
    }

    /** Of those that were acknowledged selectively. */
    public static long sacked(Connection c) {
        return count(c, SentSegments.SACKED, 0);
    }

    /** Of those that are taken for lost, sent again or not. */
    public static long lost(Connection c) {
        return count(c, SentSegments.LOST, 0);
    }

    /** Of those that were sent again and are thought to be in the network. */
    public static long retransmitted(Connection c) {
        return count(c, SentSegments.RETRANSMITTED, SentSegments.IN_FLIGHT);
    }

    /** The maximum segment size that the peer was told. */
    public static int toldSegment(Connection c) {
        return c.ports.tellSegment(c.settings, c.path);
    }

    /** Bytes that were written and not acknowledged. */
    public static long held(Connection c) {
        return c.sender.held();
    }

    /** 0 for nothing, 1 for segments that are missing, 3 for a fast recovery, 4 after a time-out. */
    public static int recovers(Connection c) {
        return switch (c.recovery.phase) {
            case OPEN -> sacked(c) > 0 ? 1 : 0;
            case FAST -> 3;
            case TIMEOUT -> 4;
        };
    }

    private static long count(Connection c, int flag, int another) {
        SentSegments s = c.sender.sent;
        long n = 0;
        for (int i = 0; i < s.size(); i++) {
            if ((flag == 0 || s.is(i, flag)) && (another == 0 || s.is(i, another))) {
                n += (s.length(i) + c.sender.segment - 1) / c.sender.segment;
            }
        }
        return n;
    }
}
