// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.Icmpv6Message;
import org.verbena.stack.header.Ipv6Header;
import org.verbena.stack.wire.SendFrame;

/** ICMPv6 (RFC 4443): answers echo requests, sends errors, tells of those that come, and gives the messages of neighbours and routers to their classes. */
final class Icmpv6 implements Protocol {
    private static final int MOST_QUOTED_EXTENSIONS = 8;

    private final Ipv6 ipv6;
    private final Ip ip;
    private final LinkMessages messages;
    private final Counts counts;
    private final MemorySegment whole = Arena.ofAuto().allocate(Ipv6Header.MOST_PAYLOAD);
    private final ErrorRate rate = new ErrorRate();
    private final Path way = new Path();
    private final Path quotedPath = new Path();

    /** Takes the messages of neighbours and routers. */
    interface LinkMessages {
        /** A message that was checked has come; false if it is none of these. */
        boolean received(Datagram d, int type, long now) throws IOException;
    }

    Icmpv6(Ip ip, Ipv6 ipv6, LinkMessages messages) {
        this.ip = ip;
        this.ipv6 = ipv6;
        this.messages = messages;
        counts = ip.counts;
    }

    Counts counts() {
        return counts;
    }

    @Override
    public void received(Datagram d, long now) throws IOException {
        MemorySegment m = d.memory();
        long at = d.at();
        if (!Icmpv6Message.isValid(m, at, d.length(), d.path().sum())) {
            counts.malformed++;
            return;
        }
        int type = Icmpv6Message.type(m, at);
        if (type != Icmpv6Message.NEIGHBOUR_ADVERTISEMENT && ipv6.link().isOwn(d.path().remoteHigh(), d.path()
                .remoteLow())) {
            counts.malformed++;
            return;
        }
        switch (type) {
            case Icmpv6Message.ECHO -> echo(d, now);
            case Icmpv6Message.UNREACHABLE, Icmpv6Message.TOO_BIG, Icmpv6Message.TIME_EXCEEDED,
                    Icmpv6Message.PARAMETER_PROBLEM -> take(d, type, now);
            default -> counts.notForUs += messages.received(d, type, now) ? 0 : 1;
        }
    }

    /** Sets the {@link #way} back to the sender, from the address that it has sent to if that is one; false if there is none. */
    private boolean hasWayBack(Datagram d) {
        Path p = d.path();
        if (ipv6.link().way(p.remoteHigh(), p.remoteLow()) != 0) {
            return false;
        }
        if (d.isToMany()) {
            ipv6.link().route(way, p.remoteHigh(), p.remoteLow());
        } else {
            way.set(p.localHigh(), p.localLow(), p.remoteHigh(), p.remoteLow());
        }
        return true;
    }

    private void echo(Datagram d, long now) throws IOException {
        int n = d.length();
        if (!hasWayBack(d) || ip.fragments(way, n) > Ip.MOST_FRAGMENTS) {
            return;
        }
        int word = Icmpv6Message.word(d.memory(), d.at());
        if (n > ip.room(way)) {
            MemorySegment.copy(d.memory(), d.at(), whole, 0, n);
            Icmpv6Message.write(whole, 0, n, Icmpv6Message.ECHO_REPLY, 0, word, way.sum());
            counts.echoes += ip.send(Ipv6Header.ICMP, way, whole, n, now) ? 1 : 0;
            return;
        }
        SendFrame f = ip.acquire();
        if (f != null) {
            long at = Ip.payload(f, way);
            MemorySegment.copy(d.memory(), d.at(), f.memory(), at, n);
            Icmpv6Message.write(f.memory(), at, n, Icmpv6Message.ECHO_REPLY, 0, word, way.sum());
            ip.send(f, Ipv6Header.ICMP, way, n, now);
            counts.echoes++;
        }
    }

    private void take(Datagram d, int type, long now) throws IOException {
        MemorySegment m = d.memory();
        long quoted = d.at() + Icmpv6Message.BYTES;
        int left = d.length() - Icmpv6Message.BYTES;
        if (left < Ipv6Header.BYTES || Bytes.u8(m, quoted) >>> 4 != 6) {
            counts.malformed++;
            return;
        }
        quotedPath.set(Ipv6Header.sourceHigh(m, quoted), Ipv6Header.sourceLow(m, quoted), Ipv6Header.destinationHigh(m,
                quoted), Ipv6Header.destinationLow(m, quoted));
        if (!ipv6.link().isOwn(quotedPath.localHigh(), quotedPath.localLow()) || quotedPath.isIpv4()) {
            counts.malformed++;
            return;
        }
        int next = Ipv6Header.nextHeader(m, quoted);
        int header = Ipv6Header.BYTES;
        for (int i = 0; i < MOST_QUOTED_EXTENSIONS && isExtension(next) && left >= header + 8; i++) {
            if (next == Ipv6Header.FRAGMENT && (Ipv6Header.fragmentWord(m, quoted + header)
                    & Ipv6Header.OFFSET) != 0) {
                return; // which socket it is of is not in it
            }
            int bytes = next == Ipv6Header.FRAGMENT
                    ? Ipv6Header.FRAGMENT_BYTES
                    : Ipv6Header.extensionBytes(m, quoted + header);
            next = Bytes.u8(m, quoted + header);
            header += bytes;
        }
        @Nullable Protocol p = ip.carried(quotedPath, next);
        if (left >= header + 8 && p != null && p != this) {
            tell(d, type, p, quoted + header, now);
        }
    }

    private void tell(Datagram d, int type, Protocol p, long quoted, long now) throws IOException {
        MemorySegment m = d.memory();
        int errno = errno(type, Icmpv6Message.code(m, d.at()));
        int mtu = 0;
        if (type == Icmpv6Message.TOO_BIG) { // less than every link has is not to be believed (RFC 8201, 4)
            long told = Icmpv6Message.word(m, d.at()) & 0xffff_ffffL;
            mtu = (int) Math.min(told, Ipv6Header.MOST_PAYLOAD);
            if (mtu < Ipv6Header.LEAST_MTU || mtu >= ipv6.link().mtu(quotedPath.remoteHigh(), quotedPath.remoteLow())) {
                return;
            }
        }
        if (errno != 0 && p.failed(errno, mtu, quotedPath, m, quoted, now)) {
            counts.errorsIn++;
            if (mtu > 0) {
                ipv6.shorten(quotedPath, mtu, now);
            }
        }
    }

    private static boolean isExtension(int next) {
        return next == Ipv6Header.HOP_BY_HOP || next == Ipv6Header.DESTINATION_OPTIONS || next == Ipv6Header.ROUTING
                || next == Ipv6Header.FRAGMENT;
    }

    /** As Linux has it, but that a protocol which the peer does not know is a refusal, and other problems of headers are nothing to a socket. */
    private static int errno(int type, int code) {
        return switch (type) {
            case Icmpv6Message.TOO_BIG -> Errno.EMSGSIZE;
            case Icmpv6Message.TIME_EXCEEDED -> Errno.EHOSTUNREACH;
            case Icmpv6Message.PARAMETER_PROBLEM -> code == Icmpv6Message.NEXT_HEADER ? Errno.ECONNREFUSED : 0;
            default -> switch (code) {
                case Icmpv6Message.NO_ROUTE -> Errno.ENETUNREACH;
                case Icmpv6Message.PROHIBITED, Icmpv6Message.POLICY, Icmpv6Message.REJECTED -> Errno.EACCES;
                case Icmpv6Message.PORT -> Errno.ECONNREFUSED;
                default -> Errno.EHOSTUNREACH;
            };
        };
    }

    @Override
    public boolean failed(int errno, int mtu, Path path, MemorySegment m, long at, long now) {
        return false; // errors about the messages of this class matter to nobody
    }

    /** Says what has become of a packet, unless that must not be said of it (RFC 4443, 2.4) or too much is said already. */
    void error(Datagram d, int type, int code, int word, long now) throws IOException {
        boolean ofMany = d.isToMany() && !(type == Icmpv6Message.PARAMETER_PROBLEM && code == Icmpv6Message.OPTION);
        boolean answersError = d.protocol == Ipv6Header.ICMP && d.length() > 0 && Icmpv6Message.isError(Bytes.u8(d
                .memory(), d.at()));
        if (ofMany || answersError || !hasWayBack(d)) {
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
        int room = Math.min(Ipv6Header.LEAST_MTU - Ipv6Header.BYTES, ip.room(way));
        int quoted = Math.min(d.headerBytes + d.length(), room - Icmpv6Message.BYTES);
        MemorySegment.copy(d.memory(), d.header, f.memory(), at + Icmpv6Message.BYTES, quoted);
        Icmpv6Message.write(f.memory(), at, Icmpv6Message.BYTES + quoted, type, code, word, way.sum());
        ip.send(f, Ipv6Header.ICMP, way, Icmpv6Message.BYTES + quoted, now);
        counts.errorsOut++;
    }
}
