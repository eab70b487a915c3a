// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.kernel;

import java.io.IOException;
import java.util.List;
import java.util.function.Function;
import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetlinkEvents;
import org.verbena.linux.NetlinkReply;
import org.verbena.linux.NetworkAddresses;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.NetworkNeighbours;
import org.verbena.linux.NetworkRoutes;
import org.verbena.stack.ip.Ip;
import org.verbena.stack.ip.IpAddress;
import org.verbena.stack.ip.Link;
import org.verbena.stack.ip.PortClaims;
import org.verbena.stack.wire.SteeredWire;

/** What the kernel is on an interface, followed as it changes. */
public final class KernelHost implements AutoCloseable {
    /** While packets keep the stack awake, what has changed is looked for this often. */
    private static final long LOOK_EVERY = 1_000_000;
    private static final long EVENTS = -1;
    /** Messages that are taken in one go. */
    private static final int MOST_EVENTS = 256;
    /** What has changed is asked for this often at most, with one answer for all that came meanwhile. */
    private static final long SETTLE = 20_000_000;
    /** Packets that could not be had are asked for again. */
    private static final long RETRY = 1_000_000_000L;
    /** The kernel is asked under the stack's lock. */
    private static final int ANSWER_MILLIS = 200;
    private static final int LINK = 1;
    private static final int ADDRESSES = 2;
    private static final int ROUTES = 4;
    private static final int LOST = 8;

    final Netlink netlink;
    final int interfaceIndex;
    final String interfaceName;
    final SteeredWire wire;
    final RandomGenerator random;
    final KernelAddresses addresses;
    final KernelRoutes routes;
    final KernelNeighbours neighbours;
    final KernelPorts ports;
    /** Grows when routes may have changed. */
    long generation;
    long now;

    private final NetlinkEvents events;
    private final Epoll epoll;
    private volatile boolean ready = true;
    private long looked;
    /** What is to be asked for anew, and when that was done last. */
    private int changed = LINK | ADDRESSES;
    private long refreshed;
    /** How long after that it may be done again. */
    private long pause = SETTLE;
    private long mac;

    private KernelHost(SteeredWire wire, int interfaceIndex, String interfaceName, RandomGenerator random,
            Netlink netlink,
            NetlinkEvents events, Epoll epoll) throws LinuxException {
        this.wire = wire;
        this.interfaceIndex = interfaceIndex;
        this.interfaceName = interfaceName;
        this.random = random;
        this.netlink = netlink;
        this.events = events;
        this.epoll = epoll;
        addresses = new KernelAddresses(random);
        routes = new KernelRoutes(this);
        neighbours = new KernelNeighbours(this);
        ports = new KernelPorts(this, epoll);
        epoll.add(events.fd(), Epoll.IN, EVENTS);
    }

    /**
     * The kernel's part on an interface of the calling thread's network namespace.
     *
     * @throws IOException {@code EPERM} without CAP_NET_ADMIN, {@code EADDRNOTAVAIL} if the interface has no address
     */
    public static KernelHost open(SteeredWire wire, NetworkLinks.Link link, RandomGenerator random)
            throws IOException {
        KernelHost h = create(wire, link, random);
        try {
            h.now = System.nanoTime();
            h.refresh();
            if (h.changed != 0) {
                throw new LinuxException("netlink", Errno.ETIMEDOUT,
                        "the kernel does not tell its addresses: try again");
            }
            h.ports.probe();
            wire.watch(h.epoll.fd(), h::becameReady);
            return h;
        } catch (IOException | RuntimeException | Error e) {
            h.close();
            throw e;
        }
    }

    private static KernelHost create(SteeredWire wire, NetworkLinks.Link link, RandomGenerator random)
            throws LinuxException {
        Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE, ANSWER_MILLIS);
        NetlinkEvents events = null;
        Epoll epoll = null;
        try {
            events = NetlinkEvents.open(NetlinkEvents.LINKS | NetlinkEvents.ADDRESSES | NetlinkEvents.ROUTES
                    | NetlinkEvents.NEIGHBOURS);
            epoll = Epoll.create();
            return new KernelHost(wire, link.index(), link.name(), random, netlink, events, epoll);
        } catch (LinuxException | RuntimeException | Error e) {
            close(epoll, events, netlink);
            throw e;
        }
    }

    private static void close(@Nullable Epoll epoll, @Nullable NetlinkEvents events, Netlink netlink) {
        if (epoll != null) {
            epoll.close();
        }
        if (events != null) {
            events.close();
        }
        netlink.close();
    }

    private void becameReady() {
        ready = true;
    }

    /** What makes the links of an {@link Ip}, IPv4 before. */
    public List<Function<Ip, Link>> links() {
        return List.of(ip -> new KernelLink(this, ip, true), ip -> new KernelLink(this, ip, false));
    }

    /** The ports that the kernel gives to the stack. */
    public PortClaims claims() {
        return ports;
    }

    /** Has datagrams that the kernel received for ports of the stack go there: those that came in fragments, or another way than from the interface. */
    public void deliver(Datagrams to) {
        ports.deliver(to);
    }

    /** The addresses of the interface. */
    public List<IpAddress> addresses() {
        return addresses.all();
    }

    /** Takes what has changed, and does what is due; answers when to call again. */
    long work(long time) throws IOException {
        now = time;
        if (ready || time - looked >= LOOK_EVERY) {
            ready = false;
            looked = time;
            int n = epoll.await(0);
            for (int i = 0; i < n; i++) {
                if (epoll.token(i) == EVENTS) {
                    readEvents();
                } else {
                    ports.ready((int) epoll.token(i));
                }
            }
        }
        // However often something changes, and another process may tell so at any rate.
        if (changed != 0 && time - (refreshed + pause) >= 0) {
            refresh();
        }
        long due = changed == 0 ? Long.MAX_VALUE : refreshed + pause;
        return Math.min(due, neighbours.work(time));
    }

    private void readEvents() {
        try {
            switch (events.read(this::take, MOST_EVENTS)) {
                case NetlinkEvents.LOST -> doubtAll();
                case NetlinkEvents.MORE -> ready = true;
                default -> {
                    // all is read
                }
            }
        } catch (LinuxException e) { // a message that cannot be read is one that was lost
            doubtAll();
        }
    }

    private void doubtAll() {
        doubt(LINK | ADDRESSES | ROUTES | LOST);
    }

    /** What may have changed is asked for soon, even if a port that could not be had would be tried later. */
    private void doubt(int what) {
        changed |= what;
        pause = SETTLE;
    }

    private void take(NetlinkReply m) {
        if (NetworkRoutes.isChange(m)) {
            doubt(ROUTES);
        } else if (NetworkLinks.interfaceOf(m) != interfaceIndex) {
            // of another interface: routes by it are told of on their own
        } else if (NetworkLinks.isChange(m)) {
            doubt(LINK | ROUTES);
        } else if (NetworkAddresses.isChange(m)) {
            doubt(ADDRESSES | ROUTES);
        } else {
            try {
                NetworkNeighbours.of(m).ifPresent(neighbours::heard);
            } catch (LinuxException e) {
                doubtAll();
            }
        }
    }

    /** Asks for what has changed. */
    private void refresh() throws IOException {
        refreshed = now;
        pause = SETTLE;
        int what = changed;
        changed = 0;
        generation++;
        try {
            if ((what & LOST) != 0) {
                neighbours.doubtAll();
            }
            if ((what & LINK) != 0) {
                readLink();
            }
            if ((what & ADDRESSES) != 0) {
                addresses.refresh(NetworkAddresses.list(netlink), interfaceIndex);
                if (!ports.readdress()) {
                    changed |= ADDRESSES;
                    pause = RETRY;
                }
            }
        } catch (LinuxException e) { // the kernel is busy, or out of memory: it is asked again
            changed |= what;
        }
    }

    private void readLink() throws LinuxException {
        for (NetworkLinks.Link l : NetworkLinks.list(netlink)) {
            if (l.index() == interfaceIndex) { // else it is gone, which the wire tells
                routes.linkMtu = Math.min(l.mtu(), wire.mtu());
                mac = l.ethernetAddress();
            }
        }
    }

    /** The Ethernet address of the interface, as it is now. */
    long mac() {
        return mac;
    }

    /** Gives all ports back, and follows nothing any more. */
    @Override
    public void close() {
        ports.close();
        close(epoll, events, netlink);
    }
}
