// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * One connection, and how its numbers in the script and on the wire belong together: sequence numbers of the stack count
 * from its first SYN, those of the peer from a number of the profile; time stamps of the stack from the first.
 */
final class Flow {
    private static final long U32 = 0xffff_ffffL;

    final int localPort;
    final int remotePort;
    private final long peerOffset;
    private final Map<Long, Long> stamps = new HashMap<>();
    private @Nullable Long offset;
    private @Nullable Long stampOffset;
    private boolean over;
    private long firstOfStack;
    private long firstOfPeer;

    Flow(int localPort, int remotePort, long peerOffset) {
        this.localPort = localPort;
        this.remotePort = remotePort;
        this.peerOffset = peerOffset;
    }

    boolean has(WirePacket p) {
        return p.sourcePort() == localPort && p.destinationPort() == remotePort;
    }

    /** The connection may be over: the next SYN of the stack may start another, with a new first number. */
    void mayBeOver() {
        over = true;
    }

    /** The first byte of the stack's stream, as the script counts. */
    long firstOfStack() {
        return firstOfStack;
    }

    /** The first byte of the peer's stream. */
    long firstOfPeer() {
        return firstOfPeer;
    }

    /** Sequence number of the stack on the wire. */
    long wireOfStack(long script) {
        return script + (offset == null ? 0 : offset) & U32;
    }

    /** Sequence number of the peer on the wire. */
    long wireOfPeer(long script) {
        return script + peerOffset & U32;
    }

    /** Options of the peer, as they go over the wire. */
    List<TcpOption> wireOptions(List<TcpOption> options) {
        List<TcpOption> wire = new ArrayList<>();
        for (TcpOption o : options) {
            wire.add(switch (o) {
                case TcpOption.Sack s -> new TcpOption.Sack(s.blocks().stream().map(
                        b -> new TcpOption.Block(wireOfStack(b.left()), wireOfStack(b.right()))).toList());
                case TcpOption.Timestamps t -> new TcpOption.Timestamps(t.value(), wireStamp(t.echo()));
                default -> o;
            });
        }
        return wire;
    }

    private long wireStamp(long echo) {
        Long exact = stamps.get(echo);
        return exact != null ? exact : stampOffset == null || echo == 0 ? echo : echo + stampOffset & U32;
    }

    /** The peer sends a segment. */
    void sending(PacketBody.Tcp segment) {
        if ((segment.flags() & TcpFlags.SYN) != 0 && segment.range().start() != null) {
            firstOfPeer = segment.range().start() + 1 & U32;
        }
        if ((segment.flags() & TcpFlags.RST) != 0) {
            mayBeOver();
        }
    }

    /** A segment of the stack, as the script would write it; the first of a connection tells where it counts from. */
    PacketBody.Tcp read(WirePacket p, PacketBody.Tcp expected) throws Failure {
        List<TcpOption> options = OptionBytes.read(p.options());
        learn(p, options, expected);
        int payload = p.payload().length;
        long start = expected.absolute() ? p.sequence() : p.sequence() - (offset == null ? 0 : offset) & U32;
        boolean acks = (p.flags() & TcpFlags.ACK) != 0;
        Integer urgent = (p.flags() & TcpFlags.URG) != 0 ? (Integer) p.urgent() : null;
        PacketBody.Range range = new PacketBody.Range(start, start + payload & U32, payload);
        Long ack = acks ? (Long) (p.ack() - peerOffset & U32) : null;
        return new PacketBody.Tcp(p.flags(), range, expected.absolute(), ack, p.window(), urgent,
                scriptOptions(options), null);
    }

    private void learn(WirePacket p, List<TcpOption> options, PacketBody.Tcp expected) {
        Long start = expected.range().start();
        boolean syn = (p.flags() & expected.flags() & TcpFlags.SYN) != 0;
        if (syn && start != null && (offset == null || over)) {
            offset = p.sequence() - start & U32;
            firstOfStack = start + 1 & U32;
            stampOffset = null;
            stamps.clear();
            over = false;
        }
        TcpOption.Timestamps sent = stamps(options);
        TcpOption.Timestamps asked = expected.options() == null ? null : stamps(expected.options());
        if (sent != null && asked != null) {
            if (stampOffset == null) {
                stampOffset = sent.value() - asked.value() & U32;
            }
            stamps.put(asked.value(), sent.value());
        }
        if ((p.flags() & TcpFlags.RST) != 0) {
            mayBeOver();
        }
    }

    private static TcpOption.@Nullable Timestamps stamps(List<TcpOption> options) {
        return (TcpOption.Timestamps) options.stream().filter(o -> o instanceof TcpOption.Timestamps).findFirst()
                .orElse(null);
    }

    private List<TcpOption> scriptOptions(List<TcpOption> options) {
        List<TcpOption> script = new ArrayList<>();
        for (TcpOption o : options) {
            script.add(switch (o) {
                case TcpOption.Sack s -> new TcpOption.Sack(s.blocks().stream().map(b -> new TcpOption.Block(
                        b.left() - peerOffset & U32, b.right() - peerOffset & U32)).toList());
                case TcpOption.Timestamps t when stampOffset != null -> new TcpOption.Timestamps(
                        t.value() - stampOffset & U32, t.echo());
                default -> o;
            });
        }
        return script;
    }
}
