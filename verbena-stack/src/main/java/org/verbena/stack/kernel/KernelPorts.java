// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.kernel;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.ip.AddressMap;
import org.verbena.stack.ip.IpAddress;
import org.verbena.stack.ip.PortClaims;
import org.verbena.stack.ip.SourceFilter;
import org.verbena.verbs.VerbsException;

/**
 * The ports that the stack has of the kernel's. Each has a socket of the kernel's, so that no other gets it and the kernel answers nothing in its place, and a flow for
 * each address that brings its packets.
 */
final class KernelPorts implements PortClaims, AutoCloseable {
    /** A flow of no packet: as long as it is there, the interface keeps its program. */
    private static final int NO_PORT = 0;

    private final KernelHost host;
    private final Epoll epoll;
    private final Map<Integer, ClaimedPort> claims = new HashMap<>();
    private final KernelDatagrams received = new KernelDatagrams();
    private final AddressMap<Integer> members;
    private @Nullable AutoCloseable probe;

    KernelPorts(KernelHost host, Epoll epoll) {
        this.host = host;
        this.epoll = epoll;
        members = new AddressMap<>(host.random);
    }

    /** Finds out whether this process may have flows on the interface. */
    void probe() throws IOException {
        List<IpAddress> own = host.addresses.all();
        if (own.isEmpty()) {
            throw new LinuxException("share an interface with the kernel", Errno.EADDRNOTAVAIL,
                    "it has no address: give it one, 'ip address add', and switch it on");
        }
        probe = host.wire.steer(Ipv4Header.UDP, own.getFirst().toInetAddress(), NO_PORT);
    }

    void deliver(Datagrams to) {
        received.deliver(to);
    }

    private static int key(int protocol, int port) {
        return protocol << 16 | port;
    }

    @Override
    public boolean claim(int protocol, int port, long high, long low) throws IOException {
        int key = key(protocol, port);
        ClaimedPort c = claims.get(key);
        boolean fresh = c == null;
        if (c == null) {
            try {
                c = new ClaimedPort(host, protocol, port);
            } catch (LinuxException e) {
                if (e.errno() == Errno.EADDRINUSE) {
                    return false;
                }
                throw e;
            }
        }
        try {
            if (fresh) {
                c.watch(epoll, key);
            }
            c.steer(high == 0 && low == 0 ? null : new IpAddress(high, low));
        } catch (IOException | RuntimeException | Error e) {
            if (fresh) {
                c.close();
            }
            if (e instanceof VerbsException v && v.errno() == Errno.EEXIST) {
                return false; // another process has these packets
            }
            throw e;
        }
        claims.put(key, c);
        c.users++;
        return true;
    }

    @Override
    public void claimAgain(int protocol, int port) {
        ClaimedPort c = claims.get(key(protocol, port));
        if (c != null) {
            c.users++;
        }
    }

    @Override
    public void release(int protocol, int port) {
        ClaimedPort c = claims.get(key(protocol, port));
        if (c != null && --c.users == 0) {
            claims.remove(key(protocol, port));
            c.close();
        }
    }

    /** The kernel has something for a port. */
    void ready(int key) {
        ClaimedPort c = claims.get(key);
        if (c != null) {
            c.take(received, epoll);
        }
    }

    /** The addresses have changed, and so the packets that are to come here; false if not all can be had now. */
    boolean readdress() {
        boolean complete = true;
        for (ClaimedPort c : claims.values()) {
            complete &= c.readdress();
        }
        return complete;
    }

    boolean isMember(long high, long low) {
        return members.get(high, low) != null;
    }

    /** Has packets to a group come to a port of UDP; 0, or an errno. */
    int setFilter(int port, IpAddress group, SourceFilter filter) {
        ClaimedPort c = claims.get(key(Ipv4Header.UDP, port));
        if (c == null) { // all is closed
            return filter.equals(SourceFilter.NONE) ? 0 : Errno.EBADF;
        }
        boolean before = c.isIn(group);
        int wrong = c.setFilter(group, filter);
        int change = (c.isIn(group) ? 1 : 0) - (before ? 1 : 0);
        if (change != 0) {
            Integer n = members.get(group.high(), group.low());
            int count = (n == null ? 0 : n) + change;
            if (count == 0) {
                members.remove(group.high(), group.low());
            } else {
                members.put(group.high(), group.low(), count);
            }
        }
        return wrong;
    }

    @Override
    public void close() {
        new ArrayList<>(claims.values()).forEach(ClaimedPort::close);
        claims.clear();
        if (probe != null) {
            ClaimedPort.end(probe);
            probe = null;
        }
    }
}
