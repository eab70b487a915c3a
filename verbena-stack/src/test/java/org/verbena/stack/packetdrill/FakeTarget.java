// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.ip.IpAddress;

/** A stack that knows nothing of TCP: it answers by a table of what follows on which call or packet. */
final class FakeTarget implements Target {
    static final long FIRST = 0xffff_fff0L;
    static final int PORT = 50_000;
    private static final long STAMP = 7_000_000;

    private final Map<String, Deque<Long>> results = new HashMap<>();
    private final Map<String, List<Reaction>> reactions = new HashMap<>();
    private final PriorityQueue<Sent> timers = new PriorityQueue<>(Comparator.comparingLong(Sent::nanos));
    private final Deque<Sent> sent = new ArrayDeque<>();
    private Profile profile = Profile.strict();
    private long now = 5_000_000_000L;
    private int arrived;
    private int localPort = PORT;
    private int remotePort = profile.remotePort();
    private int damage = -1;
    private boolean blocking = true;
    final List<byte[]> injected = new ArrayList<>();
    /** Versions of the sockets, and what they were bound and connected to. */
    final List<String> addresses = new ArrayList<>();

    private record Reaction(long delay, Action.Packet packet) {}

    /** What a call returns the next time; {@link Target.Answer#WAITS} is one poll of it. */
    FakeTarget returns(String call, long... answers) {
        for (long a : answers) {
            results.computeIfAbsent(call, k -> new ArrayDeque<>()).add(a);
        }
        return this;
    }

    /** What is sent behind a call, or behind the n-th packet ({@code packet n}), as a script would have it. */
    FakeTarget sends(String trigger, double seconds, String packet) {
        try {
            Script s = ScriptParser.parse("fake", "0 > " + packet, Set.of());
            reactions.computeIfAbsent(trigger, k -> new ArrayList<>()).add(
                    new Reaction((long) (seconds * 1e9), (Action.Packet) s.events().getFirst().action()));
        } catch (ParseException e) {
            throw new AssertionError(e);
        }
        return this;
    }

    /** It is a server, so that its port is the one it was bound to. */
    FakeTarget server() {
        localPort = profile.localPort();
        remotePort = profile.peerPort();
        return this;
    }

    /** Its packets are of another version of IP. */
    FakeTarget over(IpVersion version) {
        profile = profile.over(version);
        return this;
    }

    /** A bit of this byte of each packet is wrong. */
    FakeTarget damages(int at) {
        damage = at;
        return this;
    }

    private void react(String trigger) {
        for (Reaction r : reactions.getOrDefault(trigger, List.of())) {
            timers.add(new Sent(packet(r.packet()), now + r.delay()));
        }
    }

    private byte[] packet(Action.Packet p) {
        PacketBody.Tcp t = (PacketBody.Tcp) p.body();
        List<TcpOption> options = t.options().stream().map(o -> o instanceof TcpOption.Timestamps s
                ? new TcpOption.Timestamps(s.value() + STAMP, s.echo())
                : o).toList();
        int tos = (p.ip().tos() == null ? 0 : p.ip().tos()) | p.ip().ecnBits();
        long first = t.range().start() + ((t.flags() & TcpFlags.SYN) != 0 ? 1 : 0);
        try {
            byte[] b = Packets.tcp(new Packets.Ip(profile.local(), profile.remote(), tos, 64, 0), localPort, remotePort,
                    t.range().start() + FIRST, t.ack() == null ? 0 : t.ack() + profile.sequenceOffset(), t.flags(),
                    t.window() == null ? 100 : t.window(), 0, OptionBytes.write(options),
                    Stream.bytes(first, t.range().length()));
            if (damage >= 0) {
                b[Math.min(damage, b.length - 1)] ^= 1;
            }
            return b;
        } catch (Failure e) {
            throw new AssertionError(e);
        }
    }

    private long result(String call, long otherwise) {
        react(call);
        Deque<Long> r = results.get(call);
        return r == null || r.isEmpty() ? otherwise : r.remove();
    }

    private Answer answer(String call, long otherwise) {
        react(call);
        return () -> {
            Deque<Long> r = results.get(call);
            return r == null || r.isEmpty() ? otherwise : r.remove();
        };
    }

    @Override
    public long now() {
        return now;
    }

    @Override
    public void advance(long nanos) {
        Sent next = timers.peek();
        now = next == null ? now + nanos : Math.min(now + nanos, Math.max(now, next.nanos()));
        while (!timers.isEmpty() && timers.peek().nanos() <= now) {
            sent.add(timers.remove());
        }
    }

    @Override
    public void inject(byte[] packet) {
        injected.add(packet);
        react("packet " + ++arrived);
    }

    @Override
    public @Nullable Sent poll() {
        return sent.poll();
    }

    @Override
    public boolean sysctl(String name, String value) {
        return !name.contains("unknown");
    }

    @Override
    public long count(String state, int port, boolean owned) {
        return result("count", 0);
    }

    @Override
    public void drop(String state) {}

    @Override
    public OptionalLong info(int socket, String field) {
        return OptionalLong.of(result("info", 4));
    }

    @Override
    public long socket(boolean ipv6, boolean stream) {
        addresses.add(ipv6 ? "IPv6" : "IPv4");
        return result("socket", 17);
    }

    @Override
    public long setOption(int socket, String name, long value) {
        return result("setOption", 0);
    }

    @Override
    public long setLinger(int socket, boolean on, int seconds) {
        return result("setLinger " + on + " " + seconds, -22);
    }

    @Override
    public long getOption(int socket, String name) {
        return result("getOption", 0);
    }

    @Override
    public boolean blocking(int socket) {
        return blocking;
    }

    @Override
    public long setBlocking(int socket, boolean blocking) {
        this.blocking = blocking;
        return 0;
    }

    @Override
    public long bind(int socket, IpAddress address, int port) {
        addresses.add(address + " " + port);
        return result("bind", 0);
    }

    @Override
    public long listen(int socket, int backlog) {
        return result("listen", 0);
    }

    @Override
    public Answer accept(int socket) {
        return answer("accept", 18);
    }

    @Override
    public Answer connect(int socket, IpAddress address, int port) {
        addresses.add(address + " " + port);
        return answer("connect", 0);
    }

    @Override
    public Answer receive(int socket, byte[] buffer, int flags) {
        System.arraycopy(Stream.bytes(1, buffer.length), 0, buffer, 0, buffer.length);
        return answer("receive", buffer.length);
    }

    @Override
    public Answer send(int socket, byte[] data, int flags) {
        return answer("send", data.length);
    }

    @Override
    public long shutdown(int socket, int how) {
        return result("shutdown", 0);
    }

    @Override
    public Answer close(int socket) {
        return answer("close", 0);
    }

    @Override
    public int ready(int socket) {
        return (int) result("ready", 0);
    }

    @Override
    public void close() {}
}
