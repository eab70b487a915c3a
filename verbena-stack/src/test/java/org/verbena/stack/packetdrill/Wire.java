// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/** The peer's side: makes packets of what a script says, and compares those of the stack with it. */
final class Wire {
    /** Of what a message of ICMP is about, behind the header of IP. */
    private static final int ECHOED = 8;

    private final Profile profile;
    private final long tolerance;
    private final Stream sentByStack;
    private final List<Flow> flows = new ArrayList<>();
    private @Nullable Flow current;
    private boolean connecting;
    private boolean listening;
    private int nextPeerPort;

    Wire(Profile profile, long tolerance, Stream sentByStack) {
        this.profile = profile;
        this.tolerance = tolerance;
        this.sentByStack = sentByStack;
    }

    /** The connection that packets are of; null before the first. */
    @Nullable
    Flow current() {
        return current;
    }

    /** A socket connects: its first packet tells its port. */
    void connecting() {
        connecting = true;
        mayBeOver();
    }

    /** A socket listens: the next SYN of the peer is from another port than those before. */
    void listening() {
        listening = true;
    }

    /** Whether a packet is of a connection that the script has gone on from. */
    boolean isPast(WirePacket p) {
        return p.protocol() == Packets.TCP && current != null && !current.has(p) && flows.stream().anyMatch(f -> f.has(
                p));
    }

    /** Connections may have ended, without a segment that says so. */
    void mayBeOver() {
        flows.forEach(Flow::mayBeOver);
    }

    private Flow flow() {
        if (current == null) {
            current = new Flow(profile.localPort(), profile.peerPort(), profile.sequenceOffset());
            flows.add(current);
        }
        return current;
    }

    /** The packet that a script sends to the stack. */
    byte[] make(Action.Packet p) throws Failure {
        supported(p);
        IpMarks m = p.ip();
        int tos = Objects.requireNonNullElse(m.tos(), 0) & ~3 | (m.ecn() == null
                ? Objects.requireNonNullElse(m.tos(), 0) & 3
                : m.ecnBits());
        Packets.Ip ip = new Packets.Ip(profile.remote(), profile.local(), tos,
                Objects.requireNonNullElse(m.ttl(), Packets.DEFAULT_TTL), Objects.requireNonNullElse(m.flowLabel(), 0));
        return switch (p.body()) {
            case PacketBody.Tcp t -> make(t, ip);
            case PacketBody.Udp u -> Packets.udp(ip, flow().remotePort, flow().localPort, new byte[u.length()]);
            case PacketBody.Icmp i -> make(i, ip);
        };
    }

    private static void supported(Action.Packet p) throws Failure {
        if (!p.ip().others().isEmpty()) {
            throw new Failure(Failure.Kind.UNSUPPORTED, "packets with " + p.ip().others().getFirst());
        }
        if (p.body() instanceof PacketBody.Tcp t && t.udp() != null) {
            throw new Failure(Failure.Kind.UNSUPPORTED, "TCP over UDP");
        }
    }

    private byte[] make(PacketBody.Tcp t, Packets.Ip ip) throws Failure {
        if (listening && t.flags() == TcpFlags.SYN && current != null) {
            current = new Flow(profile.localPort(), profile.peerPort() + ++nextPeerPort, profile.sequenceOffset());
            flows.add(current);
        }
        listening &= t.flags() != TcpFlags.SYN;
        Flow f = flow();
        Long start = t.range().start();
        if (start == null || t.options() == null) {
            throw new Failure(Failure.Kind.UNSUPPORTED, "a packet to the stack with ...");
        }
        f.sending(t);
        long first = (t.flags() & TcpFlags.SYN) != 0 ? start + 1 : start;
        long sequence = t.absolute() ? start : f.wireOfPeer(start);
        long ack = t.ack() == null && (t.flags() & TcpFlags.ACK) == 0
                ? 0
                : f.wireOfStack(Objects.requireNonNullElse(t.ack(), 0L));
        return Packets.tcp(ip, f.remotePort, f.localPort, sequence, ack, t.flags(),
                Objects.requireNonNullElse(t.window(), 0), Objects.requireNonNullElse(t.urgent(), 0),
                OptionBytes.write(f.wireOptions(t.options())), Stream.bytes(first, t.range().length()));
    }

    private byte[] make(PacketBody.Icmp i, Packets.Ip ip) throws Failure {
        IcmpNames names = IcmpNames.of(ip.isIpv4());
        int type = names.type(i.type());
        int code = names.code(i.type(), i.code());
        if (type < 0 || code < 0) {
            throw new Failure(Failure.Kind.UNSUPPORTED, "ICMP " + i.type() + " " + i.code() + " over IPv"
                    + (ip.isIpv4() ? 4 : 6));
        }
        return Packets.icmp(ip, type, code, Objects.requireNonNullElse(i.mtu(), 0), echoed(i, ip.back()));
    }

    /** The first bytes of the packet that a message is about. */
    private byte[] echoed(PacketBody.Icmp i, Packets.Ip ip) {
        Flow f = flow();
        if (i.echoedUdp() != null) {
            byte[] whole = Packets.udp(ip, f.localPort, f.remotePort, new byte[i.echoedUdp()]);
            return Arrays.copyOf(whole, ip.headerBytes() + ECHOED);
        }
        if (i.echoed() == null) {
            return new byte[0];
        }
        Long start = i.echoed().start();
        byte[] whole = Packets.tcp(ip, f.localPort, f.remotePort, f.wireOfStack(start == null ? 0 : start), 0,
                TcpFlags.ACK, 0, 0, new byte[0], new byte[i.echoed().length()]);
        return Arrays.copyOf(whole, ip.headerBytes() + ECHOED);
    }

    /** Fails unless a packet of the stack is what the script expects. */
    void match(Action.Packet expected, WirePacket p) throws Failure {
        supported(expected);
        List<Matcher.Difference> different = switch (expected.body()) {
            case PacketBody.Tcp t when p.protocol() == Packets.TCP -> match(expected, t, p);
            case PacketBody.Udp u when p.protocol() == Packets.UDP -> {
                learn(p, true);
                yield u.length() == p.payload().length
                        ? List.of()
                        : List.of(new Matcher.Difference(
                                Failure.Kind.LENGTH, "length: " + u.length() + " expected, " + p.payload().length
                                        + " sent"));
            }
            case PacketBody.Icmp i when p.protocol() == p.ip().icmp() && text(p).equals(new PacketBody.Icmp(i.type(),
                    i.code(), null, null, null).toString()) -> List.of();
            default -> throw new Failure(Failure.Kind.PACKET, "expected " + expected + "; sent > " + text(p));
        };
        if (different.isEmpty()) {
            different = Matcher.compare(expected.ip(), p.ip());
        }
        fail(expected, text(p), different);
    }

    private static void fail(Action.Packet expected, String sent, List<Matcher.Difference> different)
            throws Failure {
        if (!different.isEmpty()) {
            StringBuilder b = new StringBuilder("expected ").append(expected).append("; sent > ").append(sent);
            different.forEach(d -> b.append("; ").append(d.text()));
            throw new Failure(different.getFirst().kind(), b.toString());
        }
    }

    private List<Matcher.Difference> match(Action.Packet expected, PacketBody.Tcp t, WirePacket p) throws Failure {
        boolean opens = (p.flags() & (TcpFlags.SYN | TcpFlags.ACK)) == TcpFlags.SYN;
        Flow f = learn(p, opens);
        PacketBody.Tcp sent = f.read(p, t);
        IpMarks marks = new IpMarks(IpMarks.ecnName(p.ip().tos()), p.ip().tos(), p.ip().ttl(),
                expected.ip().flowLabel() == null ? null : (Integer) p.ip().flowLabel(), List.of());
        boolean marked = !expected.ip().equals(IpMarks.NONE);
        List<Matcher.Difference> different = new ArrayList<>(Matcher.compare(t, sent, profile, tolerance));
        different.addAll(Matcher.compare(expected.ip(), p.ip()));
        fail(expected, (marked ? marks.toString() : "") + sent, different);
        Long start = sent.range().start();
        if (start != null && sentByStack.known()) {
            long first = (p.flags() & TcpFlags.SYN) != 0 ? start + 1 : start;
            byte[] payload = p.payload();
            boolean probe = payload.length == 1; // of a zero window or keep-alive: its byte may be any
            if (!probe && !Arrays.equals(payload, Stream.bytes(first, payload.length))) {
                throw new Failure(Failure.Kind.DATA, "sent > " + sent + " with other bytes than were written");
            }
        }
        return List.of();
    }

    private Flow learn(WirePacket p, boolean opens) throws Failure {
        if (!p.ip().source().equals(profile.local()) || !p.ip().destination().equals(profile.remote())) {
            throw new Failure(Failure.Kind.PACKET, "a packet was sent with other addresses: > " + text(p));
        }
        for (Flow f : flows) {
            if (f.has(p)) {
                current = f;
                return f;
            }
        }
        if (!opens || !connecting) {
            throw new Failure(Failure.Kind.PACKET, "a packet was sent with ports of no connection of the script ("
                    + p.sourcePort() + " to " + p.destinationPort() + "): > " + text(p));
        }
        connecting = false;
        Flow f = new Flow(p.sourcePort(), p.destinationPort(), profile.sequenceOffset());
        flows.add(f);
        current = f;
        return f;
    }

    /** A packet of the stack that nothing is expected of, in packetdrill's notation. */
    String text(byte[] packet) throws Failure {
        return text(WirePacket.read(packet));
    }

    private String text(WirePacket p) throws Failure {
        if (p.protocol() == Packets.TCP) {
            Flow f = flows.stream().filter(x -> x.has(p)).findFirst().orElseGet(
                    () -> new Flow(p.sourcePort(), p.destinationPort(), profile.sequenceOffset()));
            PacketBody.Tcp nothing = new PacketBody.Tcp(0, new PacketBody.Range(null, null, 0), false, null, null,
                    null, null, null);
            return f.read(p, nothing).toString();
        }
        if (p.protocol() == Packets.UDP) {
            return new PacketBody.Udp(p.payload().length).toString();
        }
        ByteBuffer b = p.bytes();
        if (p.protocol() != p.ip().icmp()) {
            return "protocol " + p.protocol();
        }
        IcmpNames names = IcmpNames.of(p.ip().isIpv4());
        int type = b.get(0) & 0xff;
        return new PacketBody.Icmp(names.typeName(type), names.codeName(type, b.get(1) & 0xff), null, null, null)
                .toString();
    }
}
