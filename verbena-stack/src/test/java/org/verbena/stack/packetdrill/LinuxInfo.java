// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.OptionalLong;

import org.verbena.stack.model.TcpInfo;
import org.verbena.stack.tcp.Connection;
import org.verbena.stack.tcp.TcpInsight;

/** TCP_INFO of a connection, by the names and in the units of Linux. */
final class LinuxInfo {
    private static final long NANOS_OF_MICRO = 1000;

    private LinuxInfo() {}

    /** A field; empty if the stack does not know it. */
    static OptionalLong field(Connection c, String name) {
        TcpInfo i = c.info();
        return switch (name) {
            case "tcpi_state" -> OptionalLong.of(state(i));
            case "tcpi_options" -> OptionalLong.of((i.timestamps() ? 1 : 0) | (i.sack() ? 2 : 0)
                    | (i.sendScale() + i.receiveScale() > 0 ? 4 : 0) | (i.ecn() ? 8 : 0));
            case "tcpi_ca_state" -> OptionalLong.of(TcpInsight.recovers(c));
            case "tcpi_snd_cwnd" -> OptionalLong.of(segments(i.congestionWindow(), i));
            case "tcpi_snd_ssthresh" -> OptionalLong.of(i.slowStartThreshold() == Integer.MAX_VALUE
                    ? Integer.MAX_VALUE
                    : segments(i.slowStartThreshold(), i));
            case "tcpi_unacked" -> OptionalLong.of(TcpInsight.unacknowledged(c));
            case "tcpi_sacked" -> OptionalLong.of(TcpInsight.sacked(c));
            case "tcpi_lost" -> OptionalLong.of(TcpInsight.lost(c));
            case "tcpi_retrans" -> OptionalLong.of(TcpInsight.retransmitted(c));
            case "tcpi_rtt" -> OptionalLong.of(i.roundTrip() / NANOS_OF_MICRO);
            case "tcpi_min_rtt" -> OptionalLong.of(i.leastRoundTrip() / NANOS_OF_MICRO);
            case "tcpi_advmss" -> OptionalLong.of(TcpInsight.toldSegment(c));
            case "tcpi_snd_wscale" -> OptionalLong.of(i.sendScale());
            case "tcpi_snd_mss" -> OptionalLong.of(i.segment());
            default -> OptionalLong.empty();
        };
    }

    private static long segments(int bytes, TcpInfo i) {
        return Math.round((double) bytes / i.segment());
    }

    private static long state(TcpInfo i) {
        return switch (i.state()) {
            case ESTABLISHED -> 1;
            case SYN_SENT -> 2;
            case SYN_RECEIVED -> 3;
            case FIN_WAIT_1 -> 4;
            case FIN_WAIT_2 -> 5;
            case TIME_WAIT -> 6;
            case CLOSED -> 7;
            case CLOSE_WAIT -> 8;
            case LAST_ACK -> 9;
            case CLOSING -> 11;
        };
    }
}
