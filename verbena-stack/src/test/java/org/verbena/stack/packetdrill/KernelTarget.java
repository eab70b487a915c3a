// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.IoVectors;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkAddresses;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.Tap;
import org.verbena.linux.VnetHeader;
import org.verbena.stack.ip.IpAddress;
import org.verbena.testkit.Await;

/**
 * The kernel's TCP behind a TUN interface of this thread's network namespace, in real time. Its sockets never wait;
 * calls that do are asked again.
 */
final class KernelTarget implements Target {
    private static final int SPACE = 1 << 16;
    private static final long PAUSE = 100_000;
    private static final int SOCK_NONBLOCK = 0x800;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int SOL_SOCKET = 1;
    private static final int IPPROTO_TCP = 6;
    private static final int SO_ERROR = 4;
    private static final int SO_LINGER = 13;
    private static final int TCP_INFO = 11;
    private static final int SOCKADDR_IN = 16;
    private static final int SOCKADDR_IN6 = 28;
    private static final int IPV6_DESTINATION = 24;
    private static final int POLL_DONE = 0x4 | 0x8 | 0x10;
    private static final List<Path> CONNECTIONS = List.of(Path.of("/proc/thread-self/net/tcp"), Path.of(
            "/proc/thread-self/net/tcp6"));
    /** Level and number of options. */
    private static final Map<String, int[]> OPTIONS = Map.ofEntries(socketOption("SO_REUSEADDR", 2),
            socketOption("SO_ERROR", SO_ERROR), socketOption("SO_SNDBUF", 7), socketOption("SO_RCVBUF", 8),
            socketOption("SO_KEEPALIVE", 9), tcpOption("TCP_NODELAY", 1), tcpOption("TCP_MAXSEG", 2),
            tcpOption("TCP_CORK", 3), tcpOption("TCP_KEEPIDLE", 4), tcpOption("TCP_KEEPINTVL", 5),
            tcpOption("TCP_KEEPCNT", 6), tcpOption("TCP_USER_TIMEOUT", 18));
    /** States as the kernel numbers them, by FreeBSD's names. */
    private static final List<String> STATES = List.of("", "ESTABLISHED", "SYN_SENT", "SYN_RECEIVED", "FIN_WAIT_1",
            "FIN_WAIT_2", "TIME_WAIT", "CLOSED", "CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING");

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(SPACE, 8);
    private final IoVectors vectors = new IoVectors(2);
    private final Tap tun;
    /** Of IP, of the packets that scripts see. */
    private final int version;
    private final Map<Integer, Boolean> blocking = new HashMap<>();
    private final Set<Integer> ofIpv6 = new HashSet<>();
    private final Set<Integer> open = new HashSet<>();

    /** When it was looked for packets last, and the longest time in which that was not done. */
    private long looked = System.nanoTime();
    private long longestPause;

    private KernelTarget(Tap tun, int version) {
        this.tun = tun;
        this.version = version;
    }

    /** Makes the interface. */
    static KernelTarget open(IpAddress local, int mtu) {
        try {
            Tap tun = Tap.openTun("tun0");
            try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
                int index = NetworkLinks.index(netlink, tun.name());
                NetworkLinks.setMtu(netlink, index, mtu);
                NetworkLinks.setUp(netlink, index);
                // so short a prefix that the peer is behind the interface, too
                NetworkAddresses.add(netlink, index, local.toInetAddress(), local.isIpv4() ? 1 : 0);
            }
            if (!local.isIpv4()) {
                awaitRoute(local);
            }
            tun.setOffloads(false, false);
            return new KernelTarget(tun, local.isIpv4() ? 4 : 6);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Until the kernel takes packets to an address of IPv6: a work queue of its makes the route, after the address is there. */
    private static void awaitRoute(IpAddress local) throws IOException {
        String line = HexFormat.of().toHexDigits(local.high()) + HexFormat.of().toHexDigits(local.low()) + " 80 ";
        Await.until("the kernel has a route to its address", () -> Files.readAllLines(Path.of(
                "/proc/thread-self/net/ipv6_route")).stream().anyMatch(l -> l.startsWith(line)));
    }

    private static Map.Entry<String, int[]> socketOption(String name, int number) {
        return Map.entry(name, new int[] {SOL_SOCKET, number});
    }

    private static Map.Entry<String, int[]> tcpOption(String name, int number) {
        return Map.entry(name, new int[] {IPPROTO_TCP, number});
    }

    @Override
    public long now() {
        return System.nanoTime();
    }

    @Override
    public void advance(long nanos) {
        long end = System.nanoTime() + nanos;
        while (!readable() && System.nanoTime() < end) {
            LockSupport.parkNanos(Math.min(PAUSE, Math.max(1, end - System.nanoTime())));
        }
    }

    private boolean readable() {
        long time = System.nanoTime();
        longestPause = Math.max(longestPause, time - looked);
        looked = time;
        return poll(tun.fd().value(), 1) != 0;
    }

    /** The longest time in nanoseconds in which nothing was looked for: with more than a script tolerates, it was late. */
    long longestPause() {
        return longestPause;
    }

    private int poll(int fd, int events) {
        memory.set(ValueLayout.JAVA_INT, 0, fd);
        memory.set(ValueLayout.JAVA_SHORT, 4, (short) events);
        memory.set(ValueLayout.JAVA_SHORT, 6, (short) 0);
        LibC.call("poll", memory.address(), 1, 0);
        return memory.get(ValueLayout.JAVA_SHORT, 6);
    }

    @Override
    public void inject(byte[] packet) {
        VnetHeader.plain(vectors.header(), 0);
        MemorySegment.copy(packet, 0, memory, ValueLayout.JAVA_BYTE, 0, packet.length);
        vectors.clear().add(vectors.header(), 0, VnetHeader.BYTES).add(memory, 0, packet.length);
        if (tun.send(vectors) < 0) {
            throw new IllegalStateException("the kernel does not take the packet");
        }
    }

    @Override
    public @Nullable Sent poll() {
        while (true) {
            vectors.clear().add(vectors.header(), 0, VnetHeader.BYTES).add(memory, 0, SPACE);
            long length = tun.receive(vectors);
            if (length < 0) {
                return null;
            }
            byte[] packet = memory.asSlice(0, length - VnetHeader.BYTES).toArray(ValueLayout.JAVA_BYTE);
            if (packet.length > 0 && packet[0] >> 4 == version && !(version == 6 && packet[IPV6_DESTINATION] == -1)) {
                return new Sent(packet, System.nanoTime());
            }
        }
    }

    @Override
    public boolean sysctl(String name, String value) {
        return false;
    }

    @Override
    public long count(String state, int port, boolean owned) {
        String number = String.format("%02X", STATES.indexOf(state));
        String local = String.format(":%04X", port);
        long count = 0;
        try {
            for (Path p : CONNECTIONS) {
                count += Files.readAllLines(p).stream().skip(1).map(l -> l.strip().split("\\s+")).filter(c -> c[3]
                        .equals(
                                number) && (port == 0 || c[1].endsWith(local)) && (!owned || !c[9].equals("0")))
                        .count();
            }
            return count;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void drop(String state) {
        throw new UnsupportedOperationException();
    }

    @Override
    public OptionalLong info(int socket, String field) {
        memory.set(ValueLayout.JAVA_INT, 0, 64);
        long r = LibC.call("getsockopt", socket, IPPROTO_TCP, TCP_INFO, memory.address() + 8, memory.address());
        if (r < 0) {
            return OptionalLong.empty();
        }
        try {
            return switch (field) {
                case "tcpi_state" -> OptionalLong.of(Constants.named("TCPI_" + STATES.get(memory.get(
                        ValueLayout.JAVA_BYTE, 8))));
                case "tcpi_options" -> OptionalLong.of(memory.get(ValueLayout.JAVA_BYTE, 8 + 5) & 0xf);
                default -> OptionalLong.empty();
            };
        } catch (Failure e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public long socket(boolean ipv6, boolean stream) {
        int domain = ipv6 ? Constants.AF_INET6 : Constants.AF_INET;
        long socket = opened(LibC.call("socket", domain, (stream ? 1 : 2) | SOCK_NONBLOCK, 0));
        if (ipv6) {
            ofIpv6.add((int) socket);
        }
        return socket;
    }

    private long opened(long socket) {
        if (socket >= 0) {
            open.add((int) socket);
            blocking.put((int) socket, true);
        }
        return socket;
    }

    @Override
    public long setOption(int socket, String name, long value) {
        int[] option = OPTIONS.get(name);
        if (option == null) {
            return -Errno.ENOPROTOOPT;
        }
        memory.set(ValueLayout.JAVA_INT, 0, (int) value);
        return LibC.call("setsockopt", socket, option[0], option[1], memory.address(), 4);
    }

    @Override
    public long setLinger(int socket, boolean on, int seconds) {
        memory.set(ValueLayout.JAVA_INT, 0, on ? 1 : 0);
        memory.set(ValueLayout.JAVA_INT, 4, seconds);
        return LibC.call("setsockopt", socket, SOL_SOCKET, SO_LINGER, memory.address(), 8);
    }

    @Override
    public long getOption(int socket, String name) {
        int[] option = OPTIONS.get(name);
        return option == null ? -Errno.ENOPROTOOPT : getOption(socket, option[0], option[1]);
    }

    private long getOption(int socket, int level, int number) {
        memory.set(ValueLayout.JAVA_INT, 0, 4);
        long r = LibC.call("getsockopt", socket, level, number, memory.address() + 8, memory.address());
        return r < 0 ? r : memory.get(ValueLayout.JAVA_INT, 8);
    }

    @Override
    public boolean blocking(int socket) {
        return blocking.getOrDefault(socket, true);
    }

    @Override
    public long setBlocking(int socket, boolean waits) {
        blocking.put(socket, waits);
        return 0;
    }

    /** Writes a struct sockaddr_in or sockaddr_in6, as the socket's family has it; answers its length. */
    private int address(int socket, IpAddress address, int port) {
        ByteBuffer b = memory.asSlice(0, SOCKADDR_IN6).fill((byte) 0).asByteBuffer();
        boolean ipv6 = ofIpv6.contains(socket);
        b.order(ByteOrder.nativeOrder()).putShort((short) (ipv6 ? Constants.AF_INET6 : Constants.AF_INET));
        b.order(ByteOrder.BIG_ENDIAN).putShort((short) port);
        if (!ipv6) {
            b.putInt((int) address.low());
            return SOCKADDR_IN;
        }
        b.putInt(0).putLong(address.high()).putLong(address.low());
        return SOCKADDR_IN6;
    }

    @Override
    public long bind(int socket, IpAddress address, int port) {
        int length = address(socket, address, port);
        return LibC.call("bind", socket, memory.address(), length);
    }

    @Override
    public long listen(int socket, int backlog) {
        return LibC.call("listen", socket, backlog);
    }

    /** An answer that is asked for again until it is not EAGAIN, unless the call does not wait. */
    private Answer repeated(int socket, int flags, Answer attempt) {
        boolean waits = blocking(socket) && (flags & Constants.MSG_DONTWAIT) == 0;
        return () -> {
            long r = attempt.poll();
            return waits && r == -Errno.EAGAIN ? Answer.WAITS : r;
        };
    }

    @Override
    public Answer accept(int socket) {
        return repeated(socket, 0, () -> opened(LibC.call("accept4", socket, 0, 0, SOCK_NONBLOCK)));
    }

    @Override
    public Answer connect(int socket, IpAddress address, int port) {
        int length = address(socket, address, port);
        long r = LibC.call("connect", socket, memory.address(), length);
        if (r != -Errno.EINPROGRESS || !blocking(socket)) {
            return Answer.of(r);
        }
        return () -> (ready(socket) & POLL_DONE) == 0 ? Answer.WAITS : -getOption(socket, SOL_SOCKET, SO_ERROR);
    }

    @Override
    public Answer receive(int socket, byte[] buffer, int flags) {
        return repeated(socket, flags, () -> {
            long r = LibC.call("recv", socket, memory.address(), buffer.length, flags);
            MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, 0, buffer, 0, (int) Math.max(0, r));
            return r;
        });
    }

    @Override
    public Answer send(int socket, byte[] data, int flags) {
        return repeated(socket, flags, () -> {
            MemorySegment.copy(data, 0, memory, ValueLayout.JAVA_BYTE, 0, data.length);
            return LibC.call("send", socket, memory.address(), data.length, flags | MSG_NOSIGNAL);
        });
    }

    @Override
    public long shutdown(int socket, int how) {
        return LibC.call("shutdown", socket, how);
    }

    @Override
    public Answer close(int socket) {
        open.remove(socket);
        ofIpv6.remove(socket);
        return Answer.of(LibC.call("close", socket));
    }

    @Override
    public int ready(int socket) {
        return poll(socket, 0xffff);
    }

    @Override
    public void close() {
        open.forEach(s -> LibC.call("close", s));
        tun.close();
        arena.close();
    }
}
