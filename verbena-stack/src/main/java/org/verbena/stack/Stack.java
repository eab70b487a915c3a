// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.EthtoolFeatures;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkLinks;
import org.verbena.stack.header.Ipv6Header;
import org.verbena.stack.ip.IpAddress;
import org.verbena.stack.kernel.KernelHost;
import org.verbena.stack.model.TcpSettings;
import org.verbena.stack.model.TcpStatistics;
import org.verbena.stack.tcp.Connection;
import org.verbena.stack.tcp.Listener;
import org.verbena.stack.udp.UdpQueue;
import org.verbena.stack.wire.QueuePairWire;
import org.verbena.stack.wire.VlanWire;
import org.verbena.stack.wire.Wire;
import org.verbena.verbs.Context;
import org.verbena.verbs.VerbsException;

/**
 * A host of its own on a link, in user space, with addresses of IPv4 and IPv6: it answers ARP, neighbour solicitations and ping, and has sockets of UDP and TCP.
 * A thread of the stack's does its work, and sleeps while nothing comes; while a receiver {@linkplain StackConfig#withSpin polls}, that does it.
 *
 * {@snippet :
 * try (Context context = Verbs.open("tap_vrb0");
 *         Stack stack = Stack.open(context, StackConfig.of("10.9.0.2/24"));
 *         UdpSocket socket = stack.bindUdp(7)) {
 *     UdpPeer from = new UdpPeer();
 *     ByteBuffer bytes = ByteBuffer.allocateDirect(65_536);
 *     while (socket.receive(bytes.clear(), from, Duration.ofSeconds(10))) {
 *         try {
 *             socket.send(bytes.flip(), from);
 *         } catch (IOException e) {
 *             // not every sender can be answered: its port may be 0, or its subnet one without a way
 *         }
 *     }
 * }
 * }
 *
 * <p>Any thread may call any method.
 */
public final class Stack implements AutoCloseable {
    /** Locally administered; behind it is the address, so that a program that starts again has the same, and no other host of the link has it. */
    private static final long LOCAL_MAC = 0x0256_0000_0000L;

    private final Engine engine;
    private final InetAddress first;
    private final PublishedStack published;

    private Stack(Engine engine, InetAddress first, String device) {
        this.engine = engine;
        this.first = first;
        published = new PublishedStack(engine, first, device);
    }

    /**
     * Opens a stack on a device that nothing else has a queue pair on; the device's interface has to be up before anything comes or goes.
     *
     * @param context stays the caller's, and open for as long as the stack is
     * @throws VerbsException {@code EOPNOTSUPP} if the device has no queue pairs for raw packets, or takes out tags of a
     *     {@linkplain StackConfig#withVlan virtual LAN},
     *     {@code EBUSY} if another has one of its queues, {@code EINVAL} if its MTU is too small,
     *     {@code ENODEV} if its interface is gone, {@code EPERM} as docs/xdp.md has it
     */
    public static Stack open(Context context, StackConfig config) throws VerbsException {
        QueuePairWire.requireRawPackets(context);
        String device = context.device().name();
        if (config.isShared() && device.startsWith("tap_")) {
            throw new VerbsException("open a stack on " + device, Errno.EOPNOTSUPP,
                    "the kernel is the other end of a TAP interface, and has no part on this one: use StackConfig.of, or a device xdp_");
        }
        long mac = config.mac().orElseGet(() -> device.startsWith("tap_") ? LOCAL_MAC | lastBytes(config) : 0);
        if (mac == 0) {
            mac = macOf(context);
        }
        NetworkLinks.Link link = link(device);
        boolean tagged = config.vlan() > 0;
        if (tagged && !device.startsWith("tap_")) {
            requireTags(device, link);
        }
        QueuePairWire wire = QueuePairWire.open(context, link.mtu(), config.isShared(), tagged);
        KernelHost host = null;
        try {
            if (config.ipv6() != null && wire.mtu() < Ipv6Header.LEAST_MTU) {
                throw new VerbsException("open a stack on " + device, Errno.EINVAL, "the interface's MTU is " + wire
                        .mtu() + ", and IPv6 needs " + Ipv6Header.LEAST_MTU);
            }
            host = config.isShared() ? KernelHost.open(wire, link, new SecureRandom()) : null;
            InetAddress first = host == null ? config.first() : host.addresses().getFirst().toInetAddress();
            Stack s = new Stack(new Engine(tagged ? new VlanWire(wire, config.vlan()) : wire, mac, config, host), first,
                    device);
            s.start();
            return s;
        } catch (IOException e) { // there is no memory or thread for it, or no privilege
            closeAll(host, wire, e);
            throw e instanceof VerbsException v
                    ? v
                    : e instanceof LinuxException l
                            ? new VerbsException("open a stack on " + device, l)
                            : new VerbsException("open a stack on " + device, Errno.EIO, String.valueOf(e
                                    .getMessage()));
        } catch (RuntimeException | Error e) {
            closeAll(host, wire, e);
            throw e;
        }
    }

    /** Throws if the interface is hardware that keeps tags beside frames, where XDP does not see them. */
    private static void requireTags(String device, NetworkLinks.Link link) throws VerbsException {
        String verb = "open a stack on " + device;
        boolean hardware;
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
            hardware = !NetworkLinks.kind(netlink, link.index()).isVirtual();
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
        try {
            if (hardware && EthtoolFeatures.isOn(link.name(), EthtoolFeatures.Feature.RX_VLAN)) {
                throw new VerbsException(verb, Errno.EOPNOTSUPP,
                        "the interface takes VLAN tags out of frames: switch that off, 'ethtool -K "
                                + link.name() + " rxvlan off'");
            }
        } catch (LinuxException e) {
            // a driver that cannot be asked does not do it
        }
    }

    private static void closeAll(@Nullable KernelHost host, Wire wire, Throwable cause) {
        if (host != null) {
            host.close();
        }
        try {
            wire.close();
        } catch (IOException closing) {
            cause.addSuppressed(closing);
        }
    }

    private static NetworkLinks.Link link(String device) throws VerbsException {
        String link = device.substring(device.indexOf('_') + 1);
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) { // the JDK knows interfaces with addresses only
            for (NetworkLinks.Link l : NetworkLinks.list(netlink)) {
                if (l.name().equals(link)) {
                    return l;
                }
            }
        } catch (LinuxException e) {
            throw new VerbsException("open a stack on " + device, e);
        }
        throw new VerbsException("open a stack on " + device, Errno.ENODEV, "there is no interface " + link);
    }

    private static long macOf(Context context) throws VerbsException {
        return NetworkLinks.Link.ethernetAddress(context.queryDevice().nodeGuid());
    }

    /** Four bytes that tell the first address from others of the link. */
    private static long lastBytes(StackConfig config) {
        IpAddress a = IpAddress.of(config.first());
        long bytes = a.isIpv4() ? a.low() : a.high() ^ a.high() >>> 32 ^ a.low() ^ a.low() >>> 32;
        return bytes & 0xffff_ffffL;
    }

    /** The address that it was given first, or of IPv4 if there is one. */
    public InetAddress address() {
        return first;
    }

    private void start() {
        try {
            engine.start();
        } catch (RuntimeException | Error e) {
            published.close();
            throw e;
        }
    }

    /** The addresses that peers reach the stack at: that of IPv4, then those of IPv6, which may change while it is open. */
    public List<InetAddress> addresses() {
        engine.lock.lock();
        try {
            return engine.ip.addresses().stream().map(IpAddress::toInetAddress).toList();
        } finally {
            engine.lock.unlock();
        }
    }

    /** The numbers so far. */
    public StackStatistics statistics() {
        engine.lock.lock();
        try {
            return StackStatistics.of(engine.counts);
        } finally {
            engine.lock.unlock();
        }
    }

    /**
     * A socket at a port.
     *
     * @param port 0 for any of the ephemeral ones that is free
     * @throws IOException {@code EADDRINUSE} if the port, or each, is in use
     */
    public UdpSocket bindUdp(int port) throws IOException {
        return bindUdp(port, UdpSocket.DEFAULT_QUEUE);
    }

    /** As the other; {@code queue} is how many bytes may wait, with 24 to 31 for each datagram besides: 4096 to 1 GiB. */
    public UdpSocket bindUdp(int port, int queue) throws IOException {
        requirePort(port);
        if (queue < 4096 || queue > 1 << 30) {
            throw new IllegalArgumentException("a queue of " + queue + " bytes is not 4096 to " + (1 << 30));
        }
        engine.lock.lock();
        try {
            engine.requireOpen();
            UdpQueue q = engine.udp.open(port, queue & ~7);
            if (q == null) {
                throw new VerbsException("bind port " + port, Errno.EADDRINUSE,
                        "another socket has it");
            }
            return engine.add(new UdpSocket(engine, q));
        } finally {
            engine.lock.unlock();
        }
    }

    /**
     * Accepts connections at a port, with {@link TcpSettings#DEFAULT}.
     *
     * @param port 0 for any of the ephemeral ones that is free
     * @param backlog connections that may wait to be accepted
     * @throws IOException {@code EADDRINUSE} if another listens at the port, or at each
     */
    public TcpServer listenTcp(int port, int backlog) throws IOException {
        return listenTcp(port, backlog, TcpSettings.DEFAULT);
    }

    /** As the other, with settings of the connections. */
    public TcpServer listenTcp(int port, int backlog, TcpSettings settings) throws IOException {
        requirePort(port);
        engine.lock.lock();
        try {
            engine.requireOpen();
            Listener l = engine.tcp.listen(port, backlog, settings);
            if (l == null) {
                throw new VerbsException("listen at port " + port, Errno.EADDRINUSE,
                        "another does");
            }
            return engine.add(new TcpServer(engine, l));
        } finally {
            engine.lock.unlock();
        }
    }

    /** Connects from any port, with {@link TcpSettings#DEFAULT}; as the other. */
    public TcpSocket connectTcp(InetSocketAddress to, Duration timeout) throws IOException {
        return connectTcp(0, to, timeout, TcpSettings.DEFAULT);
    }

    /**
     * Connects to a peer, and waits until it answers. That may be this stack: then no packet comes to the link.
     *
     * @param port of this end, 0 for any
     * @throws java.net.ConnectException if the peer refuses
     * @throws java.net.SocketTimeoutException if it does not answer in time
     * @throws NoRouteToHostException if it is in another subnet and there is no gateway, or as an ICMP error says
     * @throws IOException {@code EADDRNOTAVAIL} if the port, or each, is in use towards that peer, {@code ETIMEDOUT} after 6 tries, {@code EINVAL} for
     *     what is not the address and port of a host
     */
    public TcpSocket connectTcp(int port, InetSocketAddress to, Duration timeout, TcpSettings settings)
            throws IOException {
        requirePort(port);
        TcpSocket s;
        engine.lock.lock();
        try {
            engine.requireOpen();
            requireWay(to);
            IpAddress a = IpAddress.of(to.getAddress());
            Connection c = engine.tcp.connect(port, a.high(), a.low(), to.getPort(), settings, engine.now());
            if (c == null) {
                throw new VerbsException("connect to " + to, Errno.EADDRNOTAVAIL, port == 0
                        ? "each port is in use towards that peer"
                        : "port " + port + " is in use towards that peer");
            }
            s = engine.add(new TcpSocket(engine, c));
        } finally {
            engine.lock.unlock();
        }
        s.connect(timeout);
        return s;
    }

    private void requireWay(InetSocketAddress to) throws IOException {
        if (to.isUnresolved()) {
            throw new UnknownHostException("connect to " + to + ": it is not resolved");
        }
        IpAddress a = IpAddress.of(to.getAddress());
        int wrong = engine.tcp.way(a.high(), a.low(), to.getPort());
        switch (wrong) {
            case 0 -> {}
            case Errno.ENETUNREACH -> throw new NoRouteToHostException("no way to " + to
                    + engine.whyNoWay());
            default -> throw new VerbsException("connect to " + to, wrong,
                    "that is not the address and port of a host");
        }
    }

    private static void requirePort(int port) {
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("port " + port + " is not 0 to 65535");
        }
    }

    /** As the other, with whole frames. */
    public StackCapture capture(Path file) throws IOException {
        return capture(file, StackCapture.LONGEST);
    }

    /**
     * Has the frames that come and go written to a file from now on, as libpcap writes them, with nanoseconds. The file is whole when the capture or the
     * stack is closed. What cannot be written to it ends the capture, and not the stack: see {@link StackCapture#statistics}. A segment that the device cuts into several
     * is there once, as it was before, without a checksum of TCP.
     *
     * @param file another one of that name is overwritten
     * @param snapLength bytes of a frame that are written at most, 64 to 262144
     * @throws IOException {@code EBUSY} if there is a capture already, or if the file cannot be written
     */
    public StackCapture capture(Path file, int snapLength) throws IOException {
        return StackCapture.begin(engine, file, snapLength, null);
    }

    /** The numbers of TCP so far. */
    public TcpStatistics tcpStatistics() {
        engine.lock.lock();
        try {
            return engine.tcp.counts().statistics();
        } finally {
            engine.lock.unlock();
        }
    }

    /**
     * Ends the stack and its sockets; calls that wait throw {@link ClosedChannelException}. What was written to connections that are closed already is sent before,
     * for 3 seconds at most; the others are reset.
     */
    @Override
    public void close() throws IOException {
        try {
            engine.close();
        } finally {
            published.close();
        }
    }
}
