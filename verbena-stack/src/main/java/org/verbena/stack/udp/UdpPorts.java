// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.udp;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.UdpHeader;
import org.verbena.stack.ip.Counts;
import org.verbena.stack.ip.Datagram;
import org.verbena.stack.ip.Ip;
import org.verbena.stack.ip.IpAddress;
import org.verbena.stack.ip.Path;
import org.verbena.stack.ip.Protocol;
import org.verbena.stack.wire.SendFrame;
import org.verbena.verbs.spi.NumberMap;

/** All ports of a host. */
public final class UdpPorts implements Protocol {
    /** The longest payload of a datagram of IPv4. */
    public static final int MOST = Ipv4Header.MOST - Ipv4Header.BYTES - UdpHeader.BYTES;

    /** Ports that are given to those who ask for any (RFC 6335, 6). */
    private static final int FIRST_EPHEMERAL = 49_152;
    private static final int PORTS = 65_536;

    private final Ip ip;
    private final Counts counts;
    private final RandomGenerator random;
    private final NumberMap<UdpQueue> queues = new NumberMap<>();
    private final MemorySegment whole = Arena.ofAuto().allocate(Ipv4Header.MOST);
    private final ByteBuffer wholeBytes = whole.asByteBuffer();
    private final Path path = new Path();
    private final Memberships memberships;

    /** None yet. {@code random} chooses ports, and should be hard to guess (RFC 6056). */
    public UdpPorts(Ip ip, Counts counts, RandomGenerator random) {
        this.ip = ip;
        this.counts = counts;
        this.random = random;
        memberships = new Memberships(ip);
        ip.carry(Ipv4Header.UDP, this);
    }

    /** Opens a port, or one that nobody has for 0; null if it, or all, are in use. */
    public @Nullable UdpQueue open(int port, int bytes) throws IOException {
        int p = port == 0 ? anyPort() : canOpen(port) ? port : 0;
        if (p == 0) {
            return null;
        }
        UdpQueue q = new UdpQueue(p, bytes);
        queues.put(p, q);
        return q;
    }

    private int anyPort() throws IOException {
        int n = PORTS - FIRST_EPHEMERAL;
        int start = random.nextInt(n);
        for (int i = 0; i < n; i++) {
            int p = FIRST_EPHEMERAL + (start + i) % n;
            if (canOpen(p)) {
                return p;
            }
        }
        return 0;
    }

    private boolean canOpen(int port) throws IOException {
        return queues.get(port) == null && ip.claims().claim(Ipv4Header.UDP, port, 0, 0);
    }

    /** Gives a port back. */
    public void close(UdpQueue q, long now) {
        memberships.leaveAll(q, now);
        queues.remove(q.port());
        ip.claims().release(Ipv4Header.UDP, q.port());
    }

    /** Leaves the groups of all sockets, which {@link Ip#work} tells. */
    public void leaveGroups(long now) {
        queues.forEach(q -> memberships.leaveAll(q, now));
    }

    /** The groups that sockets are in. */
    public Memberships memberships() {
        return memberships;
    }

    @Override
    public void received(Datagram d, long now) throws IOException {
        MemorySegment m = d.memory();
        long at = d.at();
        Path p = d.path();
        if (!UdpHeader.isValid(m, at, d.length()) || !isIntact(d, m, at)) {
            counts.malformed++;
            return;
        }
        UdpQueue q = queues.get(UdpHeader.destination(m, at));
        int from = UdpHeader.source(m, at);
        if (IpAddress.isMulticast(p.localHigh(), p.localLow()) && (q == null || !q.takes(p.localHigh(), p.localLow(), p
                .remoteHigh(), p.remoteLow()))) {
            counts.notForUs++; // another socket, or nobody of this group's
            return;
        }
        if (!deliver(q, m, at + UdpHeader.BYTES, UdpHeader.length(m, at) - UdpHeader.BYTES, p.remoteHigh(), p
                .remoteLow(), from)) {
            counts.noPort++;
            ip.noPort(d, now);
        }
    }

    /** Gives a datagram to a socket; false if there is none, or it is connected to another peer. */
    private boolean deliver(@Nullable UdpQueue q, MemorySegment m, long at, int length, long high, long low, int from) {
        if (q == null || !q.accepts(high, low, from)) {
            return false;
        }
        if (q.offer(m, at, length, high, low, from)) {
            counts.datagramsIn++;
        } else {
            counts.queueFull++;
        }
        return true;
    }

    /** A datagram has come another way than from the link, and was checked there. */
    public void received(int port, MemorySegment m, long at, int length, long high, long low, int from) {
        if (!deliver(queues.get(port), m, at, length, high, low, from)) {
            counts.noPort++;
        }
    }

    /** IPv6 has no checksum of its own, so that of UDP must be there (RFC 8200, 8.1). */
    private static boolean isIntact(Datagram d, MemorySegment m, long at) {
        return UdpHeader.hasChecksum(m, at)
                ? d.isChecked() || UdpHeader.isIntact(m, at, d.path().sum())
                : d.path().isIpv4();
    }

    @Override
    public boolean failed(int errno, int mtu, Path p, MemorySegment m, long at, long now) {
        UdpQueue q = queues.get(UdpHeader.source(m, at));
        if (q == null || !q.hasSentTo(p.remoteHigh(), p.remoteLow())) {
            return false;
        }
        q.fail(errno, p.remoteHigh(), p.remoteLow(), UdpHeader.destination(m, at));
        return true;
    }

    /** The longest payload of a datagram between two addresses. */
    public static int most(long high, long low) {
        return IpAddress.isIpv4(high, low) ? MOST : MOST + Ipv4Header.BYTES;
    }

    /**
     * Sends all bytes that remain, in fragments if they are more than one packet holds.
     *
     * @return 0, or an errno: then the buffer is as it was. {@code ENOBUFS} is over when frames have been sent
     */
    public int send(UdpQueue from, ByteBuffer payload, long high, long low, int port, long now) throws IOException {
        int n = payload.remaining();
        int length = UdpHeader.BYTES + n;
        int wrong = n > most(high, low) ? Errno.EMSGSIZE : way(high, low, port);
        if (wrong != 0) {
            return wrong;
        }
        if (ip.isOwn(high, low)) {
            toSelf(from, payload, high, low, port);
            return 0;
        }
        ip.route(path, high, low);
        from.sentTo(high, low);
        boolean toGroup = IpAddress.isMulticast(high, low);
        if (toGroup && from.loops()) {
            loop(from, payload, port);
        }
        if (toGroup && (from.multicastHops() == 0 || IpAddress.isOfHost(high, low))) { // for sockets of this host alone
            payload.position(payload.limit());
            counts.datagramsOut++;
            return 0;
        }
        int hops = toGroup ? from.multicastHops() : 0;
        if (length > ip.room(path)) {
            if (ip.fragments(path, length) > Ip.MOST_FRAGMENTS) {
                return Errno.EMSGSIZE;
            }
            write(whole, wholeBytes, 0, from, payload, port);
            wrong = ip.send(Ipv4Header.UDP, path, hops, whole, length, now) ? 0 : Errno.ENOBUFS;
        } else {
            SendFrame f = ip.acquire();
            if (f == null) {
                return Errno.ENOBUFS;
            }
            try {
                write(f.memory(), f.bytes(), Ip.payload(f, path), from, payload, port);
            } catch (RuntimeException e) { // the buffer's memory is closed, or is of another thread
                ip.giveBack(f);
                throw e;
            }
            ip.sendWhole(f, Ipv4Header.UDP, path, 0, hops, length, now);
        }
        if (wrong == 0) {
            payload.position(payload.limit());
            counts.datagramsOut++;
        }
        return wrong;
    }

    /** Brings a datagram to a group, whose way is the {@link #path}, to a socket of this host. */
    private void loop(UdpQueue from, ByteBuffer payload, int port) {
        int n = payload.remaining();
        UdpQueue q = queues.get(port);
        if (q != null && q.takes(path.remoteHigh(), path.remoteLow(), path.localHigh(), path.localLow())) {
            wholeBytes.put(0, payload, payload.position(), n);
            deliver(q, whole, 0, n, path.localHigh(), path.localLow(), from.port());
        }
    }

    /** What is for a port of this host does not come to the link. */
    private void toSelf(UdpQueue from, ByteBuffer payload, long high, long low, int port) {
        int n = payload.remaining();
        counts.datagramsOut++;
        wholeBytes.put(0, payload, payload.position(), n);
        payload.position(payload.limit());
        if (!deliver(queues.get(port), whole, 0, n, high, low, from.port())) {
            counts.noPort++;
            from.fail(Errno.ECONNREFUSED, high, low, port);
        }
    }

    /** 0 if a peer can be sent to, else an errno. */
    public int way(long high, long low, int port) {
        return port == 0 ? Errno.EINVAL : ip.way(high, low);
    }

    /** Writes a datagram along the {@link #path}. */
    private void write(MemorySegment m, ByteBuffer bytes, long at, UdpQueue from, ByteBuffer payload, int port) {
        int n = payload.remaining();
        bytes.put((int) at + UdpHeader.BYTES, payload, payload.position(), n);
        UdpHeader.write(m, at, from.port(), port, UdpHeader.BYTES + n, path.sum());
    }
}
