// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.UdpDestination;
import org.verbena.linux.UdpSocket;
import org.verbena.roce.transport.PacketHandler;
import org.verbena.roce.transport.Path;
import org.verbena.roce.transport.Wire;
import org.verbena.verbs.Gid;
import org.verbena.verbs.VerbsException;

/**
 * A wire of UDP sockets of the kernel, one for each of a port's addresses and for each multicast group; none is
 * connected, so that IPv4's identification is 0. Used under the context's lock.
 *
 * <p>An address belongs to one wire of a machine at a time: the first to bind its port 4791.
 */
public final class UdpWire implements Wire, AutoCloseable {
    /** The UDP port of RoCEv2. */
    public static final int ROCE_PORT = 4791;

    private static final int SEND_BUFFER = 4 << 20;
    private static final int RECEIVE_BUFFER = 8 << 20;
    /** IPv6, UDP, the longest headers (a WRITE with immediate data of type XRC) and the CRC. */
    private static final int OVERHEAD = 40 + 8 + 12 + 4 + 16 + 4 + 4;
    private static final int HOP_LIMIT = 64;

    private final List<PortAddress> addresses;
    private final int port;
    private final int mtu;
    private final List<UdpSocket> sockets = new ArrayList<>();
    private final Map<Gid, UdpSocket> groups = new LinkedHashMap<>();
    private final Epoll epoll;
    private final WireCounts counts = new WireCounts();
    private final PacketSender sender;
    private final PacketReceiver receiver;
    private final boolean coalesced;
    private boolean watched = true;
    private boolean tellsHopLimits;

    private UdpWire(List<PortAddress> addresses, int port, int interfaceMtu, boolean segmenting,
            List<UdpSocket> sockets,
            Epoll epoll) throws LinuxException {
        this.addresses = List.copyOf(addresses);
        this.port = port;
        this.epoll = epoll;
        mtu = largestMtu(interfaceMtu);
        boolean all = true;
        for (UdpSocket socket : sockets) {
            socket.setBuffers(SEND_BUFFER, RECEIVE_BUFFER);
            socket.takeUnchecked(); // Linux's own RoCE sends no UDP checksum, since there is the ICRC
            socket.setTrafficClass(ECN_CAPABLE);
            socket.setHopLimit(HOP_LIMIT);
            all &= socket.coalesce();
            epoll.add(socket.fd(), Epoll.IN, 0);
            this.sockets.add(socket);
        }
        coalesced = all;
        sender = new PacketSender(port, segmenting, counts);
        receiver = new PacketReceiver(port, coalesced, counts);
        receiver.setSockets(sockets.toArray(UdpSocket[]::new));
    }

    /**
     * Opens a wire at addresses of this machine.
     *
     * @param addresses the GID table, not empty
     * @param interfaceMtu bytes of the longest IP packet
     * @param segmenting whether consecutive packets of one length pass through the kernel as one
     * @return the wire
     * @throws VerbsException {@code EADDRINUSE} if another context, or the kernel's own RoCE, has one of the addresses;
     *         {@code EADDRNOTAVAIL} if one is not of this machine any more; {@code EMFILE}, {@code ENOMEM}
     */
    public static UdpWire open(List<PortAddress> addresses, int interfaceMtu, boolean segmenting)
            throws VerbsException {
        return open(addresses, ROCE_PORT, interfaceMtu, segmenting);
    }

    /** As {@link #open(List, int, boolean)}, at another UDP port. */
    static UdpWire open(List<PortAddress> addresses, int port, int interfaceMtu, boolean segmenting)
            throws VerbsException {
        List<UdpSocket> sockets = new ArrayList<>();
        Epoll epoll = null;
        try {
            for (PortAddress address : addresses) {
                sockets.add(bind(address, port));
            }
            epoll = Epoll.create();
            UdpWire wire = new UdpWire(addresses, port, interfaceMtu, segmenting, sockets, epoll);
            epoll = null;
            sockets = List.of();
            return wire;
        } catch (LinuxException e) {
            throw new VerbsException("open wire", e);
        } finally {
            sockets.forEach(UdpSocket::close); // of a wire that was not opened
            if (epoll != null) {
                epoll.close();
            }
        }
    }

    private static UdpSocket bind(PortAddress address, int port) throws VerbsException {
        try {
            return UdpSocket.bind(Gids.address(address.gid()), address.scope(), port);
        } catch (LinuxException e) {
            if (e.errno() == Errno.EADDRINUSE) {
                throw new VerbsException("open wire", Errno.EADDRINUSE, "UDP port " + port + " of " + address.gid()
                        + " belongs to another context, another process or the kernel's RoCE (rdma_rxe); close that, or"
                        + " give the interface another address");
            }
            throw new VerbsException("open wire", e);
        }
    }

    /** The largest path MTU that fits into an interface's, at least 256. */
    static int largestMtu(int interfaceMtu) {
        int mtu = 4096;
        while (mtu > 256 && mtu + OVERHEAD > interfaceMtu) {
            mtu /= 2;
        }
        return mtu;
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public int mtu() {
        return mtu;
    }

    /** The GID table. */
    public List<PortAddress> addresses() {
        return addresses;
    }

    /** The counts so far. */
    public WireCounts counts() {
        return counts;
    }

    @Override
    public Path path(Gid source, int sourceGidIndex, Gid destination, int trafficClass, int flowLabel, int hopLimit)
            throws VerbsException {
        String verb = "resolve path to " + destination;
        if (sourceGidIndex < 0 || sourceGidIndex >= addresses.size()
                || !addresses.get(sourceGidIndex).gid().equals(source)) {
            throw new VerbsException(verb, Errno.EINVAL, "GID " + sourceGidIndex + " of this port is not " + source);
        }
        if (Gids.isIp4(source) != Gids.isIp4(destination)) {
            throw new VerbsException(verb, Errno.EINVAL, "GID " + sourceGidIndex + " is " + source
                    + "; one of the two is an IPv4 address, the other IPv6: choose another source GID");
        }
        if (hopLimit < 0 || hopLimit > 255 || trafficClass < 0 || trafficClass > 255) {
            throw new VerbsException(verb, Errno.EINVAL, "hop limit " + hopLimit + " and traffic class " + trafficClass
                    + " are 0 to 255");
        }
        PortAddress from = addresses.get(sourceGidIndex);
        InetAddress local = Gids.address(source);
        try {
            UdpDestination to = UdpDestination.of(Gids.address(destination), port, Gids.isScoped(destination)
                    ? from
                            .interfaceIndex()
                    : 0, hopLimit(hopLimit, destination), destination.isMulticast()
                            ? local
                            : null);
            if (!destination.isMulticast()) {
                UdpSocket.checkRoute(local, from.scope(), to);
            }
            return new UdpPath(sockets.get(sourceGidIndex), to, source, sourceGidIndex, destination, trafficClass,
                    flowLabel);
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    /** The socket's default hop limit is not set again with each packet. */
    private static int hopLimit(int wanted, Gid destination) {
        int limit = wanted == 0 ? HOP_LIMIT : wanted;
        return limit == HOP_LIMIT && !destination.isMulticast() ? -1 : limit;
    }

    /**
     * Receives packets to a multicast group from now on. A second call for a group has no effect.
     *
     * @param group {@code ff00::/8}, or an IPv4 group {@code ::ffff:224.0.0.0/100}
     * @throws VerbsException {@code EINVAL} if it is not a group, {@code ENODEV}, {@code ENOBUFS}
     */
    public void join(Gid group) throws VerbsException {
        if (groups.containsKey(group)) {
            return;
        }
        String verb = "attach to multicast group " + group;
        if (!group.isMulticast()) {
            throw new VerbsException(verb, Errno.EINVAL, "that is not a multicast GID");
        }
        int interfaceIndex = addresses.getFirst().interfaceIndex();
        try {
            UdpSocket socket = UdpSocket.bind(Gids.address(group), interfaceIndex, port);
            try {
                socket.join(Gids.address(group), interfaceIndex);
                socket.setBuffers(SEND_BUFFER, RECEIVE_BUFFER);
                socket.takeUnchecked();
                socket.tellHopLimit();
                if (coalesced && !socket.coalesce()) {
                    throw new LinuxException("setsockopt(UDP_GRO)", Errno.ENOPROTOOPT);
                }
                if (watched) {
                    epoll.add(socket.fd(), Epoll.IN, 0);
                }
            } catch (LinuxException e) {
                socket.close();
                throw e;
            }
            groups.put(group, socket);
            listenToAll();
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    /** Receives no packets of a multicast group any more; does nothing if it was not joined. */
    public void leave(Gid group) {
        UdpSocket socket = groups.remove(group);
        if (socket != null) {
            socket.close(); // leaves the group, and the set of descriptors
            listenToAll();
        }
    }

    /** Idempotent. */
    @Override
    public void reportHopLimits() {
        if (tellsHopLimits) {
            return;
        }
        tellsHopLimits = true;
        try {
            for (UdpSocket socket : sockets) {
                socket.tellHopLimit();
            }
        } catch (LinuxException e) {
            counts.receiveErrors++; // packets are received all the same
        }
    }

    private void listenToAll() {
        List<UdpSocket> all = new ArrayList<>(sockets);
        all.addAll(groups.values());
        receiver.setSockets(all.toArray(UdpSocket[]::new));
    }

    @Override
    public long next() {
        return sender.next();
    }

    @Override
    public void send(Path path, int sourcePort, int ecn, int length) {
        sender.send((UdpPath) path, ecn, length);
    }

    @Override
    public void flush() {
        sender.flush();
    }

    @Override
    public boolean canSend() {
        return sender.hasRoom();
    }

    @Override
    public int receive(int limit, PacketHandler handler) {
        return receiver.receive(limit, handler);
    }

    @Override
    public int receiveAll(int limit, PacketHandler handler) {
        return receiver.receiveAll(limit, handler);
    }

    @Override
    public int descriptor() {
        return epoll.fd().value();
    }

    /** The kernel notifies a set of descriptors of each packet, which is up to a tenth of the cost of a small one. */
    @Override
    public void watch(boolean on) {
        if (on == watched) {
            return;
        }
        watched = on;
        for (int i = 0; i < sockets.size(); i++) { // without an iterator: it is switched often, and allocates nothing
            watch(sockets.get(i), on);
        }
        if (!groups.isEmpty()) {
            for (UdpSocket socket : groups.values()) {
                watch(socket, on);
            }
        }
    }

    private void watch(UdpSocket socket, boolean on) {
        try {
            if (on) {
                epoll.add(socket.fd(), Epoll.IN, 0);
            } else {
                epoll.remove(socket.fd());
            }
        } catch (LinuxException | IllegalStateException e) {
            counts.receiveErrors++; // polls receive its packets all the same
        }
    }

    /** Closes the sockets; packets that wait to be sent are lost. Idempotent. */
    @Override
    public void close() {
        epoll.close();
        sockets.forEach(UdpSocket::close);
        groups.values().forEach(UdpSocket::close);
    }
}
