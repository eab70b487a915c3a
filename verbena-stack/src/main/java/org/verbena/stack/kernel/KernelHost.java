// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.kernel;

import java.io.IOException;
import java.util.List;
import java.util.function.Function;
import java.util.random.RandomGenerator;

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

    final Netlink netlink;
    final int interfaceIndex;
    final SteeredWire wire;
    final RandomGenerator random;
    final KernelAddresses addresses = new KernelAddresses();
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
    private boolean linkChanged = true;
    private boolean addressesChanged = true;

    private KernelHost(SteeredWire wire, int interfaceIndex, RandomGenerator random, Netlink netlink,
            NetlinkEvents events, Epoll epoll) throws LinuxException {
        this.wire = wire;
        this.interfaceIndex = interfaceIndex;
        this.random = random;
        this.netlink = netlink;
        this.events = events;
        this.epoll = epoll;
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
    public static KernelHost open(SteeredWire wire, int interfaceIndex, RandomGenerator random) throws IOException {
        Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE);
        NetlinkEvents events = null;
        Epoll epoll = null;
        KernelHost h = null;
        try {
            events = NetlinkEvents.open(NetlinkEvents.LINKS | NetlinkEvents.ADDRESSES | NetlinkEvents.ROUTES
                    | NetlinkEvents.NEIGHBOURS);
            epoll = Epoll.create();
            h = new KernelHost(wire, interfaceIndex, random, netlink, events, epoll);
            h.refresh();
            h.ports.probe();
            wire.watch(epoll.fd(), h::becameReady);
            return h;
        } catch (IOException | RuntimeException | Error e) {
            if (h != null) {
                h.ports.close();
            }
            if (epoll != null) {
                epoll.close();
            }
            if (events != null) {
                events.close();
            }
            netlink.close();
            throw e;
        }
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
            refresh();
        }
        return neighbours.work(time);
    }

    private void readEvents() throws IOException {
        boolean[] malformed = new boolean[1];
        boolean complete = events.read(m -> {
            try {
                take(m);
            } catch (IOException e) {
                malformed[0] = true; // it counts as lost
            }
        });
        if (!complete || malformed[0]) {
            linkChanged = true;
            addressesChanged = true;
            generation++;
            neighbours.doubtAll();
        }
    }

    private void take(NetlinkReply m) throws IOException {
        if (NetworkLinks.isChange(m)) {
            linkChanged = true;
        } else if (NetworkAddresses.isChange(m)) {
            addressesChanged = true;
        } else if (NetworkRoutes.isChange(m)) {
            generation++;
        } else {
            NetworkNeighbours.Neighbour n = NetworkNeighbours.of(m).orElse(null);
            if (n != null && n.interfaceIndex() == interfaceIndex) {
                neighbours.heard(n);
            }
        }
    }

    private void refresh() throws IOException {
        if (!linkChanged && !addressesChanged) {
            return;
        }
        generation++;
        try {
            if (linkChanged) {
                routes.linkMtu = linkMtu();
                linkChanged = false;
            }
            if (addressesChanged) {
                addresses.refresh(NetworkAddresses.list(netlink), interfaceIndex);
                addressesChanged = false;
                ports.readdress();
            }
        } catch (LinuxException e) {
            if (e.errno() != Errno.ETIMEDOUT) {
                throw e;
            }
            ready = true; // it stays to be asked for
        }
    }

    private int linkMtu() throws LinuxException {
        for (NetworkLinks.Link l : NetworkLinks.list(netlink)) {
            if (l.index() == interfaceIndex) {
                return Math.min(l.mtu(), wire.mtu());
            }
        }
        return wire.mtu(); // it is gone, which the wire tells
    }

    /** Gives all ports back, and follows nothing any more. */
    @Override
    public void close() {
        ports.close();
        epoll.close();
        events.close();
        netlink.close();
    }
}
