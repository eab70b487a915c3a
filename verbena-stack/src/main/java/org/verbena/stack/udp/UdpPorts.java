// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.udp;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.stack.header.IcmpMessage;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.UdpHeader;
import org.verbena.stack.ip.Counts;
import org.verbena.stack.ip.Datagram;
import org.verbena.stack.ip.Ipv4;
import org.verbena.stack.ip.Protocol;
import org.verbena.stack.wire.SendFrame;
import org.verbena.verbs.spi.NumberMap;

/** All ports of an address. */
public final class UdpPorts implements Protocol {
    /** The longest payload of a datagram. */
    public static final int MOST = Ipv4Header.MOST - Ipv4Header.BYTES - UdpHeader.BYTES;

    /** Ports that are given to those who ask for any (RFC 6335, 6). */
    private static final int FIRST_EPHEMERAL = 49_152;
    private static final int PORTS = 65_536;

    private final Ipv4 ip;
    private final Counts counts;
    private final RandomGenerator random;
    private final NumberMap<UdpQueue> queues = new NumberMap<>();
    private final MemorySegment whole = Arena.ofAuto().allocate(Ipv4Header.MOST);
    private final ByteBuffer wholeBytes = whole.asByteBuffer();

    /** None yet. {@code random} chooses ports, and should be hard to guess (RFC 6056). */
    public UdpPorts(Ipv4 ip, Counts counts, RandomGenerator random) {
        this.ip = ip;
        this.counts = counts;
        this.random = random;
        ip.carry(Ipv4Header.UDP, this);
    }

    /** Opens a port, or one that nobody has for 0; null if it, or all, are in use. */
    public @Nullable UdpQueue open(int port, int bytes) {
        int p = port == 0 ? anyPort() : port;
        if (p == 0 || queues.get(p) != null) {
            return null;
        }
        UdpQueue q = new UdpQueue(p, bytes);
        queues.put(p, q);
        return q;
    }

    private int anyPort() {
        int n = PORTS - FIRST_EPHEMERAL;
        int start = random.nextInt(n);
        for (int i = 0; i < n; i++) {
            int p = FIRST_EPHEMERAL + (start + i) % n;
            if (queues.get(p) == null) {
                return p;
            }
        }
        return 0;
    }

    /** Gives a port back. */
    public void close(UdpQueue q) {
        queues.remove(q.port());
    }

    @Override
    public void received(Datagram d, long now) throws IOException {
        MemorySegment m = d.memory();
        long at = d.at();
        if (!UdpHeader.isValid(m, at, d.length()) || !d.isChecked() && !UdpHeader.isIntact(m, at, d.source(), d
                .destination())) {
            counts.malformed++;
            return;
        }
        UdpQueue q = queues.get(UdpHeader.destination(m, at));
        int from = UdpHeader.source(m, at);
        if (q == null || !q.accepts(d.source(), from)) {
            counts.noPort++;
            ip.icmp().error(d, IcmpMessage.UNREACHABLE, IcmpMessage.PORT, now);
        } else if (q.offer(m, at + UdpHeader.BYTES, UdpHeader.length(m, at) - UdpHeader.BYTES, d.source(), from)) {
            counts.datagramsIn++;
        } else {
            counts.queueFull++;
        }
    }

    @Override
    public void failed(int type, int code, int word, MemorySegment m, long at, int destination, long now) {
        UdpQueue q = queues.get(UdpHeader.source(m, at));
        if (q != null) {
            counts.errorsIn++;
            q.fail(type, code, destination, UdpHeader.destination(m, at));
        }
    }

    /**
     * Sends all bytes that remain, in fragments if they are more than one packet holds.
     *
     * @return 0, or an errno: then the buffer is as it was. {@code ENOBUFS} is over when frames have been sent
     */
    public int send(UdpQueue from, ByteBuffer payload, int to, int port, long now) throws IOException {
        int n = payload.remaining();
        int length = UdpHeader.BYTES + n;
        int wrong = n > MOST || ip.fragments(length) > Ipv4.MOST_FRAGMENTS ? Errno.EMSGSIZE : way(to, port);
        if (wrong != 0) {
            return wrong;
        }
        if (to == ip.address().address()) {
            toSelf(from, payload, port);
            return 0;
        }
        if (length > ip.room()) {
            write(whole, wholeBytes, 0, from, payload, to, port);
            wrong = ip.send(Ipv4Header.UDP, to, whole, length, now) ? 0 : Errno.ENOBUFS;
        } else {
            SendFrame f = ip.acquire();
            if (f == null) {
                return Errno.ENOBUFS;
            }
            try {
                write(f.memory(), f.bytes(), Ipv4.payload(f), from, payload, to, port);
            } catch (RuntimeException e) { // the buffer's memory is closed, or is of another thread
                ip.giveBack(f);
                throw e;
            }
            ip.send(f, Ipv4Header.UDP, to, length, now);
        }
        if (wrong == 0) {
            payload.position(payload.limit());
            counts.datagramsOut++;
        }
        return wrong;
    }

    /** What is for a port of this host does not come to the link. */
    private void toSelf(UdpQueue from, ByteBuffer payload, int port) {
        int n = payload.remaining();
        int own = ip.address().address();
        counts.datagramsOut++;
        UdpQueue q = queues.get(port);
        wholeBytes.put(0, payload, payload.position(), n);
        payload.position(payload.limit());
        if (q == null || !q.accepts(own, from.port())) {
            counts.noPort++;
            from.fail(IcmpMessage.UNREACHABLE, IcmpMessage.PORT, own, port);
        } else if (q.offer(whole, 0, n, own, from.port())) {
            counts.datagramsIn++;
        } else {
            counts.queueFull++;
        }
    }

    /** 0 if a peer can be sent to, else an errno. */
    public int way(int to, int port) {
        return port == 0 ? Errno.EINVAL : ip.way(to);
    }

    private void write(MemorySegment m, ByteBuffer bytes, long at, UdpQueue from, ByteBuffer payload, int to,
            int port) {
        int n = payload.remaining();
        bytes.put((int) at + UdpHeader.BYTES, payload, payload.position(), n);
        UdpHeader.write(m, at, from.port(), port, UdpHeader.BYTES + n, ip.address().address(), to);
    }
}
