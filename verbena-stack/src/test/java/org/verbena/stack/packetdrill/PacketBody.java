// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/** What a packet of a script carries. */
public sealed interface PacketBody {
    /** A sequence range {@code start:end(length)}; {@code ...(length)} has no start and no end. */
    record Range(@Nullable Long start, @Nullable Long end, int length) {
        @Override
        public String toString() {
            return (start == null ? "..." : start + ":" + end) + "(" + length + ")";
        }
    }

    /** The ports of the UDP that carries TCP (RFC 6951's way): {@code /udp(1 > 2)}. */
    record UdpPorts(int source, int destination) {
        @Override
        public String toString() {
            return "/udp(" + source + " > " + destination + ")";
        }
    }

    /**
     * A TCP segment.
     *
     * @param flags bits of {@link TcpFlags}
     * @param range sequence numbers
     * @param absolute whether they are as on the wire, and not relative to the first ({@code !})
     * @param ack the acknowledged number, or null
     * @param window as on the wire, or null for any
     * @param urgent the urgent pointer, or null for none
     * @param options null for any ({@code <...>})
     * @param udp the ports of UDP around it, or null
     */
    record Tcp(int flags, Range range, boolean absolute, @Nullable Long ack, @Nullable Integer window,
            @Nullable Integer urgent, @Nullable List<TcpOption> options, @Nullable UdpPorts udp) implements PacketBody {
        @Override
        public String toString() {
            StringBuilder b = new StringBuilder(TcpFlags.text(flags)).append(' ').append(range);
            b.append(absolute ? "!" : "");
            b.append(ack == null ? "" : " ack " + ack);
            b.append(window == null ? "" : " win " + window);
            b.append(urgent == null ? "" : " urg " + urgent);
            if (options == null) {
                b.append(" <...>");
            } else if (!options.isEmpty()) {
                b.append(options.stream().map(Object::toString).collect(Collectors.joining(",", " <", ">")));
            }
            return b.append(Objects.toString(udp, "")).toString();
        }
    }

    /** A datagram of UDP with a payload of that many bytes. */
    record Udp(int length) implements PacketBody {
        @Override
        public String toString() {
            return "udp (" + length + ")";
        }
    }

    /**
     * A message of ICMP.
     *
     * @param type as named in {@link IcmpNames}
     * @param code as named there, or null for 0
     * @param mtu that of the next hop, or null
     * @param echoed the sequence numbers of the segment that it is about, or null
     * @param echoedUdp the payload length of the datagram that it is about, or null
     */
    record Icmp(String type, @Nullable String code, @Nullable Integer mtu, @Nullable Range echoed,
            @Nullable Integer echoedUdp) implements PacketBody {
        @Override
        public String toString() {
            return "icmp " + type + (code == null ? "" : " " + code) + (mtu == null ? "" : " mtu " + mtu)
                    + (echoed == null ? "" : " [" + echoed + "]")
                    + (echoedUdp == null ? "" : " [udp (" + echoedUdp + ")]");
        }
    }
}
