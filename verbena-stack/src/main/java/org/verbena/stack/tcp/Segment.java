// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.TcpHeader;
import org.verbena.stack.header.TcpOptions;
import org.verbena.stack.ip.Datagram;
import org.verbena.stack.ip.Path;
import org.verbena.stack.wire.ReceivedFrame;

/** A segment that has come, where it is; good until the method that gets it has returned. */
final class Segment {
    final TcpOptions options = new TcpOptions();
    MemorySegment memory = MemorySegment.NULL;
    /** Where the payload is if it came in several parts, else null. */
    @Nullable ReceivedFrame parts;
    /** Where the payload begins in the memory, or in the frame. */
    long data;
    int length;
    /** Until the next datagram comes. */
    Path path = new Path();
    int remotePort;
    int port;
    int sequence;
    int acknowledgment;
    int flags;
    /** Before scaling. */
    int window;
    int urgent;
    /** The network has seen congestion (RFC 3168). */
    boolean congested;

    /** False if it is no segment, or has a wrong checksum. */
    boolean read(Datagram d) {
        MemorySegment m = d.memory();
        long at = d.at();
        int header = TcpHeader.check(m, at, d.length());
        if (header == 0 || !d.isChecked() && !TcpHeader.isIntact(m, at, d.length(), d.path().sum())) {
            return false;
        }
        memory = m;
        parts = d.parts();
        data = (parts == null ? at : d.offset()) + header;
        length = d.length() - header;
        path = d.path();
        remotePort = TcpHeader.source(m, at);
        port = TcpHeader.destination(m, at);
        sequence = TcpHeader.sequence(m, at);
        acknowledgment = TcpHeader.acknowledgment(m, at);
        flags = TcpHeader.flags(m, at);
        window = TcpHeader.window(m, at);
        urgent = TcpHeader.urgent(m, at);
        congested = d.ecn() == Ipv4Header.CONGESTED;
        options.read(m, at, header);
        return true;
    }

    boolean has(int flag) {
        return (flags & flag) != 0;
    }

    /** Sequence numbers that it has: bytes, SYN and FIN. */
    int numbers() {
        return length + (has(TcpHeader.SYN) ? 1 : 0) + (has(TcpHeader.FIN) ? 1 : 0);
    }

    /** The sequence number behind it. */
    int end() {
        return sequence + numbers();
    }

    /** Cuts bytes from the beginning, and SYN before them. */
    void cutBegin(int numbers) {
        int n = numbers;
        if (has(TcpHeader.SYN) && n > 0) {
            flags &= ~TcpHeader.SYN;
            sequence++;
            n--;
        }
        int bytes = Math.min(n, length);
        sequence += bytes;
        data += bytes;
        length -= bytes;
        urgent = Math.max(urgent - bytes, 0);
    }

    /** Cuts bytes from the end, and FIN behind them. */
    void cutEnd(int bytes) {
        length -= bytes;
        flags &= ~TcpHeader.FIN;
    }

    /** Whether the first block of SACK tells of bytes that came twice (RFC 2883). */
    boolean tellsOfRepetition() {
        return options.blocks() > 0 && (!Sequence.isAfter(options.right(0), acknowledgment)
                || options.blocks() > 1 && !Sequence.isBefore(options.left(0), options.left(1))
                        && !Sequence.isAfter(options.right(0), options.right(1)));
    }
}
