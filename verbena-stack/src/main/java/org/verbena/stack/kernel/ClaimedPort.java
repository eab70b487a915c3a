// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.kernel;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.TcpPortReservation;
import org.verbena.linux.UdpSocket;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.ip.IpAddress;
import org.verbena.stack.ip.SourceFilter;
import org.verbena.verbs.VerbsException;

/** A port of the kernel's that the stack has. */
final class ClaimedPort implements AutoCloseable {
    /** Sockets, connections and pairs of ports in TIME_WAIT that have it. */
    int users;

    private final KernelHost host;
    private final int protocol;
    private final int port;
    private final @Nullable TcpPortReservation tcp;
    /** One for each version of IP that the kernel has. */
    private final List<UdpSocket> udp = new ArrayList<>(2);
    private final Map<IpAddress, AutoCloseable> flows = new HashMap<>();
    /** Whether packets to all addresses of the interface come; else those to {@link #wanted}. */
    private boolean everywhere;
    private final Set<IpAddress> wanted = new HashSet<>();
    private final Map<IpAddress, AutoCloseable> groups = new HashMap<>();

    /** Throws {@code EADDRINUSE} if another socket has it. */
    ClaimedPort(KernelHost host, int protocol, int port) throws LinuxException {
        this.host = host;
        this.protocol = protocol;
        this.port = port;
        if (protocol == Ipv4Header.TCP) {
            tcp = TcpPortReservation.open(port, host.interfaceIndex);
            return;
        }
        tcp = null;
        try {
            udp.add(UdpSocket.bind(Inet4Address.ofLiteral("0.0.0.0"), 0, port));
            udp.add(UdpSocket.bind(Inet6Address.ofLiteral("::"), 0, port));
        } catch (LinuxException e) {
            if (e.errno() != Errno.EAFNOSUPPORT) {
                close();
                throw e;
            }
        }
    }

    /** Has {@link #take} called when there is something. */
    void watch(Epoll epoll, long token) throws LinuxException {
        if (tcp != null) {
            epoll.add(tcp.fd(), Epoll.IN, token);
        }
        for (UdpSocket s : udp) {
            epoll.add(s.fd(), Epoll.IN, token);
        }
    }

    /** Has packets to an address, or for null to all of the interface, come to the stack. */
    void steer(@Nullable IpAddress to) throws IOException {
        if (to != null ? everywhere || wanted.contains(to) : everywhere) {
            return;
        }
        for (IpAddress a : to != null ? List.of(to) : all()) {
            if (!flows.containsKey(a)) {
                flows.put(a, host.wire.steer(protocol, a.toInetAddress(), port));
            }
        }
        if (to == null) {
            everywhere = true;
        } else {
            wanted.add(to);
        }
    }

    private List<IpAddress> all() {
        List<IpAddress> all = new ArrayList<>(host.addresses.all());
        if (protocol == Ipv4Header.UDP) {
            all.addAll(host.addresses.broadcasts());
        }
        return all;
    }

    /** The addresses of the interface have changed; false if not all packets can be had now, as somebody else has them. */
    boolean readdress() {
        Set<IpAddress> all = new HashSet<>(all());
        flows.entrySet().removeIf(f -> {
            boolean gone = !all.contains(f.getKey());
            if (gone) {
                end(f.getValue());
            }
            return gone;
        });
        boolean complete = true;
        for (IpAddress a : all) {
            if ((everywhere || wanted.contains(a)) && !flows.containsKey(a)) {
                try {
                    flows.put(a, host.wire.steer(protocol, a.toInetAddress(), port));
                } catch (IOException e) {
                    complete = false;
                }
            }
        }
        return complete;
    }

    /** The kernel has got something: datagrams, or connections that have come another way than by the interface. */
    void take(KernelDatagrams datagrams, Epoll epoll) {
        if (tcp != null && tcp.refuse() < 0) {
            tryForget(epoll, tcp.fd()); // without a descriptor for it, it would be there for ever
        }
        for (UdpSocket s : udp) {
            datagrams.take(s, port);
        }
    }

    private static void tryForget(Epoll epoll, Fd fd) {
        try {
            epoll.remove(fd);
        } catch (LinuxException e) {
            // it was closed
        }
    }

    boolean isIn(IpAddress group) {
        return groups.containsKey(group);
    }

    /** Joins a group, leaves it or changes from whom it is received; 0, or an errno. */
    int setFilter(IpAddress group, SourceFilter filter) {
        UdpSocket s = udp.get(group.isIpv4() ? 0 : udp.size() - 1);
        if (s.isIp4() != group.isIpv4()) {
            return Errno.ENETUNREACH;
        }
        InetAddress to = group.toInetAddress();
        boolean before = isIn(group);
        try {
            if (filter.equals(SourceFilter.NONE)) {
                if (before) {
                    leave(s, group);
                }
                return 0;
            }
            List<InetAddress> senders = filter.sources().stream().map(IpAddress::toInetAddress).toList();
            if (!before && filter.excludes()) {
                s.join(to, host.interfaceIndex);
            } else if (!before) { // not for all first, which the network would be told
                s.join(to, host.interfaceIndex, senders.getFirst());
            }
            s.setSourceFilter(to, host.interfaceIndex, filter.excludes(), senders);
            if (!before) {
                groups.put(group, host.wire.steer(protocol, to, port));
            }
            return 0;
        } catch (IOException e) {
            if (!before) {
                tryLeave(s, to);
            }
            return e instanceof LinuxException l ? l.errno() : e instanceof VerbsException v ? v.errno() : Errno.EIO;
        }
    }

    private void leave(UdpSocket s, IpAddress group) {
        AutoCloseable flow = groups.remove(group);
        if (flow != null) {
            end(flow);
        }
        tryLeave(s, group.toInetAddress());
    }

    private void tryLeave(UdpSocket s, InetAddress group) {
        try {
            s.leave(group, host.interfaceIndex);
        } catch (LinuxException e) {
            // the interface is gone, or it was not joined: the socket does not hear of it either way
        }
    }

    /** Closes a flow. What the process cannot take away any more goes with its last descriptor. */
    static void end(AutoCloseable flow) {
        try {
            flow.close();
        } catch (Exception e) {
            System.getLogger(ClaimedPort.class.getName()).log(System.Logger.Level.DEBUG, "a flow stays", e);
        }
    }

    @Override
    public void close() {
        flows.values().forEach(ClaimedPort::end);
        flows.clear();
        groups.values().forEach(ClaimedPort::end);
        groups.clear();
        udp.forEach(UdpSocket::close);
        if (tcp != null) {
            tcp.close();
        }
    }
}
