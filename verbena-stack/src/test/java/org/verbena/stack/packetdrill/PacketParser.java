// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/** Reads packets, behind {@code <} or {@code >}. */
final class PacketParser {
    private static final String FLAGS = "FSRP.UEWA-01234567";
    private static final List<String> CODEPOINTS = List.of("noecn", "ect01", "ect0", "ect1", "ce", "ecn");
    private static final String MARKS = "tos, ttl, class, hlim or flowlabel";
    private static final long U32 = 0xffff_ffffL;

    private final Cursor in;

    PacketParser(Cursor in) {
        this.in = in;
    }

    Action.Packet read(boolean outgoing) throws ParseException {
        IpMarks ip = marks();
        return new Action.Packet(outgoing, ip, body());
    }

    private IpMarks marks() throws ParseException {
        String ecn = null;
        Integer tos = null;
        Integer ttl = null;
        Integer flowLabel = null;
        List<String> others = new ArrayList<>();
        while (true) {
            if (in.take("[")) {
                ecn = in.word("an ECN codepoint");
                if (!CODEPOINTS.contains(ecn)) {
                    throw in.wrong("an ECN codepoint instead of '" + ecn + "' before");
                }
                in.expect("]");
            } else if (in.take("(")) {
                do {
                    String name = in.word(MARKS);
                    long value = in.anyNumber("a number", U32);
                    switch (name) {
                        case "tos", "class" -> tos = (int) value & 0xff;
                        case "ttl", "hlim" -> ttl = (int) value & 0xff;
                        case "flowlabel" -> flowLabel = (int) value & 0xf_ffff;
                        case "mark" -> others.add("(" + name + " " + value + ")");
                        default -> throw in.wrong(MARKS + " instead of '" + name + "' before");
                    }
                } while (in.take(","));
                in.expect(")");
            } else if (List.of("ipv4", "ipv6", "gre", "mpls").contains(in.peekWord())) {
                others.add(in.until(":").strip() + ":");
            } else {
                return others.isEmpty() && ecn == null && tos == null && ttl == null && flowLabel == null
                        ? IpMarks.NONE
                        : new IpMarks(ecn != null && ecn.equals("ecn") ? "ce" : ecn, tos, ttl, flowLabel, List.copyOf(
                                others));
            }
        }
    }

    private PacketBody body() throws ParseException {
        if (in.takeWord("icmp") || in.takeWord("icmpv4") || in.takeWord("icmpv6")) {
            return icmp();
        }
        if (in.takeWord("udp")) {
            return new PacketBody.Udp(length());
        }
        return tcp();
    }

    private int length() throws ParseException {
        in.expect("(");
        int length = (int) in.number("a length", 0xffff);
        in.expect(")");
        return length;
    }

    private PacketBody.Range range() throws ParseException {
        if (in.take("...")) {
            return new PacketBody.Range(null, null, length());
        }
        long start = in.number("a sequence number", U32);
        in.expect(":");
        long end = in.number("a sequence number", U32);
        int length = length();
        if ((start + length & U32) != end) {
            throw in.wrong("an end that is " + (start + length) + " instead of " + end + " before");
        }
        return new PacketBody.Range(start, end, length);
    }

    private PacketBody tcp() throws ParseException {
        in.skip();
        int start = in.place();
        int flags = TcpFlags.parse(in.run(FLAGS));
        if (flags < 0) {
            in.back(start);
            throw in.wrong("flags, icmp or udp");
        }
        PacketBody.Range range = range();
        boolean absolute = in.take("!");
        Long ack = in.takeWord("ack") ? (Long) in.number("a sequence number", U32) : null;
        Integer window = in.takeWord("win") ? (Integer) (int) in.number("a window", 0xffff) : null;
        Integer urgent = in.takeWord("urg") ? (Integer) (int) in.number("a pointer", 0xffff) : null;
        List<TcpOption> options = in.take("<") ? new OptionParser(in).read() : List.of();
        return new PacketBody.Tcp(flags, range, absolute, ack, window, urgent, options, udp());
    }

    private PacketBody.@Nullable UdpPorts udp() throws ParseException {
        if (!in.take("/udp")) {
            return null;
        }
        in.expect("(");
        int source = (int) in.number("a port", 0xffff);
        in.expect(">");
        int destination = (int) in.number("a port", 0xffff);
        in.expect(")");
        return new PacketBody.UdpPorts(source, destination);
    }

    private PacketBody icmp() throws ParseException {
        String type = in.peekWord();
        if (!IcmpNames.isType(type)) {
            throw in.wrong("a type of ICMP");
        }
        in.word("");
        String code = IcmpNames.isCode(in.peekWord()) ? in.word("") : null;
        Integer mtu = in.takeWord("mtu") ? (Integer) (int) in.number("an MTU", 0xffff) : null;
        PacketBody.Range echoed = null;
        Integer udp = null;
        if (in.take("[")) {
            if (in.takeWord("udp")) {
                udp = length();
            } else if (in.peek() != ']') {
                echoed = range();
            }
            in.expect("]");
        }
        return new PacketBody.Icmp(type, code, mtu, echoed, udp);
    }
}
