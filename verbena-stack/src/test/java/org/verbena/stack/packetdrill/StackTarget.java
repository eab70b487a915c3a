// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.ip.Counts;
import org.verbena.stack.ip.Ip;
import org.verbena.stack.ip.IpAddress;
import org.verbena.stack.ip.Ipv4Address;
import org.verbena.stack.ip.Ipv6Config;
import org.verbena.stack.model.TcpInfo;
import org.verbena.stack.tcp.Connection;
import org.verbena.stack.tcp.TcpInsight;
import org.verbena.stack.tcp.TcpPorts;
import org.verbena.stack.wire.FakeWire;
import org.verbena.stack.wire.ReceivedFrame;

/** The stack of this module, on a wire without a fault, in virtual time. */
final class StackTarget implements Target {
    private static final long MAC = 0x0200_0000_0001L;
    private static final int FRAMES = 256;
    private static final long MEMORY = 64 << 20;
    private static final long SEED = 1;
    private static final long LEAST_PAUSE = 1000;

    /** Names and numbers are those of Linux's scripts. */
    private final boolean linux;
    private final LinkPeer peer = new LinkPeer(MAC);
    private final FakeWire wire;
    private final Ip ip;
    private final TcpPorts tcp;
    private final StackOptions options;
    private final Map<Integer, StackSocket> sockets = new HashMap<>();
    private final Deque<Sent> sent = new ArrayDeque<>();
    private int nextSocket = 3;
    private long now = 1_000_000_000L;

    /** What a call on a socket does. */
    private interface Attempt {
        long run(StackSocket s) throws IOException;
    }

    private StackTarget(IpAddress local, int mtu, boolean linux) {
        this.linux = linux;
        wire = new FakeWire(mtu, FRAMES, Math.max(4096, mtu + 2 * EthernetHeader.BYTES));
        IpAddress gateway = new IpAddress(local.high(), local.low() + 1);
        if (local.isIpv4()) {
            ip = new Ip(wire, MAC, new Ipv4Address((int) local.low(), 24, (int) gateway.low()), null, new Counts(),
                    new Random(SEED));
        } else {
            ip = new Ip(wire, MAC, null, new Ipv6Config(List.of(new Ipv6Config.Own(local, 48)), gateway, false),
                    new Counts(), new Random(SEED));
            ip.start(now);
        }
        options = linux ? StackOptions.forLinux(local.isIpv4()) : new StackOptions(local.isIpv4());
        tcp = new TcpPorts(ip, new Random(SEED), MEMORY, now);
    }

    static Target open(IpAddress local, int mtu) {
        return new StackTarget(local, mtu, false);
    }

    /** For scripts of Linux's dialect. */
    static Target openForLinux(IpAddress local, int mtu) {
        return new StackTarget(local, mtu, true);
    }

    @Override
    public long now() {
        return now;
    }

    @Override
    public void advance(long nanos) {
        long end = now + nanos;
        long due = work();
        if (nanos > 0) {
            now = Math.min(end, Math.max(due, now + LEAST_PAUSE));
            work();
        }
    }

    private long work() {
        try {
            long due = Math.min(ip.work(now), tcp.work(now));
            while (collect()) {
                due = Math.min(ip.work(now), tcp.work(now));
            }
            return due;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Takes the frames that were sent, and has the link's be answered; whether there were any. */
    private boolean collect() throws IOException {
        List<byte[]> frames = wire.takeSent();
        for (byte[] f : frames) {
            if (LinkPeer.isOfLink(f)) {
                byte[] answer = peer.answer(f);
                if (answer != null) {
                    take(answer);
                }
            } else {
                sent.add(new Sent(Arrays.copyOfRange(f, EthernetHeader.BYTES, f.length), now));
            }
        }
        return !frames.isEmpty();
    }

    private void take(byte[] frame) throws IOException {
        wire.put(frame);
        ReceivedFrame f = wire.receive();
        if (f != null) {
            ip.input(f, now);
            f.release();
        }
    }

    @Override
    public void inject(byte[] packet) {
        try {
            take(peer.frame(packet[0] >> 4 == 4 ? EthernetHeader.IPV4 : EthernetHeader.IPV6, packet));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public @Nullable Sent poll() {
        return sent.poll();
    }

    @Override
    public boolean sysctl(String name, String value) {
        boolean tidying = nextSocket > 3 && sockets.isEmpty(); // the script is over, and nothing asks for it any more
        return options.sysctl(name, value) || tidying;
    }

    @Override
    public long count(String state, int port, boolean owned) {
        String name = state.equals("SYN_RCVD") ? "SYN_RECEIVED" : state;
        if (owned) {
            return sockets.values().stream().filter(s -> stateOf(s).equals(name)).count();
        }
        long[] count = new long[1];
        tcp.forEach(c -> count[0] += c.state().name().equals(name) && (port == 0 || c.port() == port) ? 1 : 0);
        return count[0] + (name.equals("TIME_WAIT") ? tcp.timeWaits() : 0);
    }

    /** The state of a socket, which TIME_WAIT is only as long as the stack keeps its ports. */
    private String stateOf(StackSocket s) {
        return s.state().equals("TIME_WAIT") && tcp.timeWaits() == 0 ? "CLOSED" : s.state();
    }

    /** Does nothing: scripts only tidy up so, and each has a stack of its own. */
    @Override
    public void drop(String state) {}

    @Override
    public OptionalLong info(int socket, String field) {
        StackSocket s = sockets.get(socket);
        if (s == null) {
            return OptionalLong.empty();
        }
        if (linux && s.connection != null) {
            return LinuxInfo.field(s.connection, field);
        }
        if (field.equals("tcpi_state")) {
            try {
                return OptionalLong.of(Constants.named("TCPI_" + stateOf(s)));
            } catch (Failure e) {
                throw new AssertionError(e);
            }
        }
        if (!field.equals("tcpi_options") || s.connection == null) {
            return OptionalLong.empty();
        }
        TcpInfo i = s.connection.info();
        return OptionalLong.of((i.timestamps() ? 1 : 0) | (i.sack() ? 2 : 0) | (i.sendScale() + i.receiveScale() > 0
                ? 4
                : 0) | (i.ecn() ? 8 : 0));
    }

    private long call(int socket, Attempt attempt) {
        StackSocket s = sockets.get(socket);
        try {
            return s == null ? -Errno.EBADF : attempt.run(s);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A call that is tried again until it does not answer EAGAIN, if the socket waits. */
    private Answer waiting(int socket, int flags, Attempt attempt) {
        StackSocket s = sockets.get(socket);
        boolean waits = s != null && s.blocking && (flags & Constants.MSG_DONTWAIT) == 0;
        return () -> {
            long r = call(socket, attempt);
            return r == -Errno.EAGAIN && waits ? Answer.WAITS : r;
        };
    }

    @Override
    public long socket(boolean ipv6, boolean stream) {
        if (!stream) {
            return -Errno.EPROTONOSUPPORT;
        }
        sockets.put(nextSocket, new StackSocket(tcp, new StackOptions(options)));
        return nextSocket++;
    }

    @Override
    public long setOption(int socket, String name, long value) {
        return call(socket, s -> {
            if (!s.options.set(name, value)) {
                return -Errno.ENOPROTOOPT;
            }
            Connection c = s.connection;
            if (c != null && (name.equals("TCP_CORK") || name.equals("TCP_NOPUSH"))) {
                c.cork(value != 0, now);
            } else if (c != null && name.equals("TCP_NODELAY")) {
                c.noDelay(value != 0, now);
            }
            return 0;
        });
    }

    @Override
    public long setLinger(int socket, boolean on, int seconds) {
        return call(socket, s -> {
            s.linger(on, seconds);
            return 0;
        });
    }

    @Override
    public long getOption(int socket, String name) {
        return call(socket, s -> {
            if (name.equals("SO_ERROR")) {
                return s.takeError();
            }
            long value = linux && name.equals("TCP_MAXSEG") && s.connection != null
                    ? s.connection.info().segment()
                    : s.options.get(name);
            return value < 0 ? -Errno.ENOPROTOOPT : value;
        });
    }

    @Override
    public boolean blocking(int socket) {
        StackSocket s = sockets.get(socket);
        return s == null || s.blocking;
    }

    @Override
    public long setBlocking(int socket, boolean blocking) {
        return call(socket, s -> {
            s.blocking = blocking;
            return 0;
        });
    }

    @Override
    public long bind(int socket, IpAddress address, int port) {
        return call(socket, s -> {
            s.port = port;
            return 0;
        });
    }

    @Override
    public long listen(int socket, int backlog) {
        return call(socket, s -> s.listen(backlog));
    }

    @Override
    public Answer accept(int socket) {
        return waiting(socket, 0, s -> {
            Connection c = s.listener == null ? null : s.listener.accept();
            if (c == null) {
                return s.listener == null ? -Errno.EINVAL : -Errno.EAGAIN;
            }
            StackSocket accepted = new StackSocket(tcp, new StackOptions(s.options));
            accepted.connection = c;
            accepted.blocking = s.blocking;
            sockets.put(nextSocket, accepted);
            return nextSocket++;
        });
    }

    @Override
    public Answer connect(int socket, IpAddress address, int port) {
        long r = call(socket, s -> s.connect(address, port, now));
        return r == -Errno.EINPROGRESS && blocking(socket)
                ? () -> call(socket, StackSocket::connected)
                : Answer.of(r);
    }

    @Override
    public Answer receive(int socket, byte[] buffer, int flags) {
        return waiting(socket, flags, s -> s.receive(buffer, (flags & Constants.MSG_PEEK) != 0, now));
    }

    @Override
    public Answer send(int socket, byte[] data, int flags) {
        return waiting(socket, flags, s -> s.send(data, (flags & Constants.MSG_MORE) != 0, now));
    }

    @Override
    public long shutdown(int socket, int how) {
        return call(socket, s -> s.shutdown(how, now));
    }

    @Override
    public Answer close(int socket) {
        long r = call(socket, s -> {
            s.close(now);
            return 0;
        });
        sockets.remove(socket);
        return Answer.of(r);
    }

    @Override
    public int ready(int socket) {
        StackSocket s = sockets.get(socket);
        return s == null ? 0 : s.ready();
    }

    @Override
    public long queued(int socket, String name) {
        StackSocket s = sockets.get(socket);
        if (s == null || s.connection == null) {
            return -1;
        }
        return switch (name) {
            case "SIOCINQ" -> s.connection.readable();
            case "SIOCOUTQ" -> TcpInsight.held(s.connection);
            default -> -1;
        };
    }

    @Override
    public void close() {}
}
