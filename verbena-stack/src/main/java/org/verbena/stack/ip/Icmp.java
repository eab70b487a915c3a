// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.IcmpMessage;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.wire.SendFrame;

/** ICMP (RFC 792, RFC 1122, 3.2.2): answers echo requests, sends errors, and tells of those that come. */
public final class Icmp implements Protocol {
    /** Errors a second, and at once, as the kernel's {@code icmp_msgs_per_sec} and {@code icmp_msgs_burst}. */
    static final int RATE = 1000;
    static final int BURST = 50;

    /** The longest error, as an IP packet (RFC 1812, 4.3.2.3). */
    private static final int MOST = 576;
    private static final long NANOS = 1_000_000_000L;

    private final Ipv4 ip;
    private final Counts counts;
    private final MemorySegment whole = Arena.ofAuto().allocate(Ipv4Header.MOST);
    /** Errors that may be sent at once, in nanoseconds of {@link #RATE}. */
    private long credit = BURST * (NANOS / RATE);
    private long credited = Long.MIN_VALUE;

    Icmp(Ipv4 ip, Counts counts) {
        this.ip = ip;
        this.counts = counts;
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
                || type == IcmpMessage.PARAMETER_PROBLEM) {
            take(d, type, now); // a redirect is for IP, and a source quench for nobody (RFC 6633)
        } else {
            counts.notForUs++;
        }
    }

    private void echo(Datagram d, long now) throws IOException {
        if (ip.way(d.source()) != 0) {
            return;
        }
        int n = d.length();
        int word = Bytes.i32(d.memory(), d.at() + 4);
        if (ip.fragments(n) > Ipv4.MOST_FRAGMENTS) {
            return;
        }
        if (n > ip.room()) {
            MemorySegment.copy(d.memory(), d.at(), whole, 0, n);
            IcmpMessage.write(whole, 0, n, IcmpMessage.ECHO_REPLY, 0, word);
            counts.echoes += ip.send(Ipv4Header.ICMP, d.source(), whole, n, now) ? 1 : 0;
            return;
        }
        SendFrame f = ip.acquire();
        if (f != null) {
            MemorySegment.copy(d.memory(), d.at(), f.memory(), Ipv4.payload(f), n);
            IcmpMessage.write(f.memory(), Ipv4.payload(f), n, IcmpMessage.ECHO_REPLY, 0, word);
            ip.send(f, Ipv4Header.ICMP, d.source(), n, now);
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
        if (header < Ipv4Header.BYTES || left < header + IcmpMessage.QUOTED || Ipv4Header.source(m, quoted) != ip
                .address()
                .address()
                || (Ipv4Header.fragmentWord(m, quoted) & Ipv4Header.OFFSET) != 0) {
            counts.malformed++;
            return;
        }
        @Nullable Protocol p = ip.carried(Ipv4Header.protocol(m, quoted));
        if (p != null && p != this) {
            p.failed(type, IcmpMessage.code(m, d.at()), Bytes.i32(m, d.at() + 4), m, quoted + header,
                    Ipv4Header.destination(m, quoted), now);
        }
    }

    @Override
    public void failed(int type, int code, int word, MemorySegment m, long at, int destination, long now) {
        // Errors about our own errors and echo replies matter to nobody.
    }

    /** Says what has become of a datagram, unless that must not be said of it or too much is said already. */
    public void error(Datagram d, int type, int code, long now) throws IOException {
        boolean answersError = d.protocol == Ipv4Header.ICMP && d.length() > 0 && IcmpMessage.isError(Bytes.u8(d
                .memory(), d.at()));
        if (d.isToMany() || answersError || ip.way(d.source()) != 0) {
            return;
        }
        if (!isCredited(now)) {
            counts.errorsLimited++;
            return;
        }
        SendFrame f = ip.acquire();
        if (f == null) {
            return;
        }
        int quoted = Math.min(d.headerBytes + d.length(), Math.min(MOST - Ipv4Header.BYTES, ip.room())
                - IcmpMessage.BYTES);
        MemorySegment.copy(d.memory(), d.header, f.memory(), Ipv4.payload(f) + IcmpMessage.BYTES, quoted);
        IcmpMessage.write(f.memory(), Ipv4.payload(f), IcmpMessage.BYTES + quoted, type, code, 0);
        ip.send(f, Ipv4Header.ICMP, d.source(), IcmpMessage.BYTES + quoted, now);
        counts.errorsOut++;
    }

    private boolean isCredited(long now) {
        long most = BURST * (NANOS / RATE);
        if (credited != Long.MIN_VALUE) {
            credit = Math.min(most, credit + Math.min(now - credited, most));
        }
        credited = now;
        if (credit < NANOS / RATE) {
            return false;
        }
        credit -= NANOS / RATE;
        return true;
    }
}
