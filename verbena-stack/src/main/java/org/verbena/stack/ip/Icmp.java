// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.IcmpMessage;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.wire.SendFrame;

/** ICMP (RFC 792, RFC 1122, 3.2.2): answers echo requests, sends errors, and tells of those that come. */
final class Icmp implements Protocol {
    /** The longest error, as an IP packet (RFC 1812, 4.3.2.3). */
    private static final int MOST = 576;
    /** Lengths that links have (RFC 1191, 7). */
    private static final int[] PLATEAUS = {32_000, 17_914, 8166, 4352, 2002, 1492, 1006, 508, 296};
    private static final int LEAST = 68;

    private final Ip ip;
    private final Ipv4 ipv4;
    private final Counts counts;
    private final MemorySegment whole = Arena.ofAuto().allocate(Ipv4Header.MOST);
    private final ErrorRate rate = new ErrorRate();
    private final Path way = new Path();
    private final Path quotedPath = new Path();

    Icmp(Ip ip, Ipv4 ipv4) {
        this.ip = ip;
        this.ipv4 = ipv4;
        counts = ip.counts;
    }

    @Override
    public void received(Datagram d, long now) throws IOException {
        MemorySegment m = d.memory();
        long at = d.at();
        if (!IcmpMessage.isValid(m, at, d.length())) {
            counts.malformed++;
            return;
        }
        int type = IcmpMessage.type(m, at);
        if (type == IcmpMessage.ECHO && !d.isToMany()) { // RFC 1122 lets a host be silent to many, against floods
            echo(d, now);
        } else if (type == IcmpMessage.UNREACHABLE || type == IcmpMessage.TIME_EXCEEDED
                || type == IcmpMessage.PARAMETER_PROBLEM || type == IcmpMessage.REDIRECT) {
            take(d, type, now); // a source quench is for nobody (RFC 6633)
        } else {
            counts.notForUs++;
        }
    }

    /** Sets the {@link #way} back to the sender; false if there is none. */
    private boolean hasWayBack(Datagram d) {
        Path p = d.path();
        if (ipv4.link().way(p.remoteHigh(), p.remoteLow()) != 0) {
            return false;
        }
        ipv4.link().route(way, p.remoteHigh(), p.remoteLow());
        return true;
    }

    private void echo(Datagram d, long now) throws IOException {
        int n = d.length();
        if (!hasWayBack(d) || ip.fragments(way, n) > Ip.MOST_FRAGMENTS) {
            return;
        }
        int word = Bytes.i32(d.memory(), d.at() + 4);
        if (n > ip.room(way)) {
            MemorySegment.copy(d.memory(), d.at(), whole, 0, n);
            IcmpMessage.write(whole, 0, n, IcmpMessage.ECHO_REPLY, 0, word);
            counts.echoes += ip.send(Ipv4Header.ICMP, way, whole, n, now) ? 1 : 0;
            return;
        }
        SendFrame f = ip.acquire();
        if (f != null) {
            long at = Ip.payload(f, way);
            MemorySegment.copy(d.memory(), d.at(), f.memory(), at, n);
            IcmpMessage.write(f.memory(), at, n, IcmpMessage.ECHO_REPLY, 0, word);
            ip.send(f, Ipv4Header.ICMP, way, n, now);
            counts.echoes++;
        }
    }

    private void take(Datagram d, int type, long now) throws IOException {
        MemorySegment m = d.memory();
        long quoted = d.at() + IcmpMessage.BYTES;
        int left = d.length() - IcmpMessage.BYTES;
        if (left < Ipv4Header.BYTES || Bytes.u8(m, quoted) >>> 4 != 4) {
            counts.malformed++;
            return;
        }
        int header = Ipv4Header.headerBytes(m, quoted);
        long from = IpAddress.mapped(Ipv4Header.source(m, quoted));
        if (header < Ipv4Header.BYTES || left < header + IcmpMessage.QUOTED || !ipv4.link().isOwn(0, from)
                || (Ipv4Header.fragmentWord(m, quoted) & Ipv4Header.OFFSET) != 0) {
            counts.malformed++;
            return;
        }
        int code = IcmpMessage.code(m, d.at());
        int errno = errno(type, code);
        quotedPath.set(0, from, 0, IpAddress.mapped(Ipv4Header.destination(m, quoted)));
        @Nullable Protocol p = ip.carried(quotedPath, Ipv4Header.protocol(m, quoted));
        if (p == null || p == this || errno == 0 && type != IcmpMessage.REDIRECT) {
            return;
        }
        int mtu = errno == Errno.EMSGSIZE ? mtu(m, d.at(), quoted) : 0;
        if (!p.failed(errno, mtu, quotedPath, m, quoted + header, now)) {
            return;
        }
        if (type == IcmpMessage.REDIRECT && !ipv4.link().redirect(d.path().remote(), quotedPath.remote(), IpAddress
                .ofIpv4(Bytes.i32(m, d.at() + 4)), now)) {
            counts.notForUs++;
            return;
        }
        counts.errorsIn++;
        if (mtu > 0) {
            ipv4.shorten(quotedPath, mtu, now);
        }
    }

    /** How long a packet may have been; of a router that does not say it, the next less length that a kind of link has. */
    private int mtu(MemorySegment m, long at, long quoted) {
        int told = Bytes.u16(m, at + 6);
        int sent = Math.min(Ipv4Header.totalBytes(m, quoted), ipv4.mtu(quotedPath));
        for (int i = 0; told == 0 && i < PLATEAUS.length; i++) {
            told = PLATEAUS[i] < sent ? PLATEAUS[i] : 0;
        }
        return told == 0 ? LEAST : told;
    }

    /** As Linux has it (RFC 1122, 4.2.3.9; RFC 1191, 4). */
    private static int errno(int type, int code) {
        return switch (type) {
            case IcmpMessage.TIME_EXCEEDED -> Errno.EHOSTUNREACH;
            case IcmpMessage.UNREACHABLE -> switch (code) {
                case 0, 6, 9, 11 -> Errno.ENETUNREACH; // not known, prohibited, not for that type of service
                case IcmpMessage.PROTOCOL, IcmpMessage.PORT -> Errno.ECONNREFUSED;
                case IcmpMessage.FRAGMENTATION_NEEDED -> Errno.EMSGSIZE;
                default -> Errno.EHOSTUNREACH;
            };
            default -> 0;
        };
    }

    @Override
    public boolean failed(int errno, int mtu, Path path, MemorySegment m, long at, long now) {
        return false; // errors about the answers of this class matter to nobody
    }

    /** Says what has become of a datagram, unless that must not be said of it or too much is said already. */
    void error(Datagram d, int type, int code, long now) throws IOException {
        boolean answersError = d.protocol == Ipv4Header.ICMP && d.length() > 0 && IcmpMessage.isError(Bytes.u8(d
                .memory(), d.at()));
        if (d.isToMany() || answersError || !hasWayBack(d)) {
            return;
        }
        if (!rate.allows(now)) {
            counts.errorsLimited++;
            return;
        }
        SendFrame f = ip.acquire();
        if (f == null) {
            return;
        }
        long at = Ip.payload(f, way);
        int quoted = Math.min(d.headerBytes + d.length(), Math.min(MOST - Ipv4Header.BYTES, ip.room(way))
                - IcmpMessage.BYTES);
        MemorySegment.copy(d.memory(), d.header, f.memory(), at + IcmpMessage.BYTES, quoted);
        IcmpMessage.write(f.memory(), at, IcmpMessage.BYTES + quoted, type, code, 0);
        ip.send(f, Ipv4Header.ICMP, way, IcmpMessage.BYTES + quoted, now);
        counts.errorsOut++;
    }
}
