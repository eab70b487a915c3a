// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.Icmpv6Message;
import org.verbena.stack.header.Ipv6Header;

/** The headers of IPv6 between its first one and the payload (RFC 8200, 4). */
final class ExtensionHeaders {
    /** Answers of {@link #skip}: the payload is there; a fragment is; nothing is to be done with the packet. */
    static final int PROTOCOL = 0;
    static final int FRAGMENT = 1;
    static final int DROPPED = 2;

    /** More in a packet serve to slip by filters (RFC 8504, 5.3). */
    private static final int MOST = 8;
    private static final int MOST_PADS = 8;
    private static final int NEXT_HEADER_FIELD = 6;
    private static final int PAYLOAD_FIELD = 4;
    private static final int PAD_1 = 0;
    private static final int PAD_N = 1;

    private final Icmpv6 icmp;
    private int pointer;
    private int word;
    private int identification;

    ExtensionHeaders(Icmpv6 icmp) {
        this.icmp = icmp;
    }

    /** Where in the packet the number of the header after the last one is that was skipped. */
    int pointer() {
        return pointer;
    }

    /** Of the fragment header that was skipped. */
    int fragmentWord() {
        return word;
    }

    /** Of the fragment header that was skipped. */
    int identification() {
        return identification;
    }

    /** Has a packet begin behind its next headers, until one of a protocol or behind that of a fragment; {@code first} if none was skipped. */
    int skip(Datagram d, boolean first, long now) throws IOException {
        if (d.headerBytes == Ipv6Header.BYTES) {
            pointer = NEXT_HEADER_FIELD;
        }
        for (int i = 0; i < MOST; i++) {
            int next = d.protocol;
            boolean options = next == Ipv6Header.DESTINATION_OPTIONS || next == Ipv6Header.HOP_BY_HOP
                    && first && i == 0;
            if (!options && next != Ipv6Header.ROUTING && next != Ipv6Header.FRAGMENT) {
                return next == Ipv6Header.NO_NEXT ? DROPPED : PROTOCOL;
            }
            MemorySegment m = d.memory;
            long at = d.at();
            int length = d.length < 8
                    ? 8
                    : next == Ipv6Header.FRAGMENT
                            ? Ipv6Header.FRAGMENT_BYTES
                            : Ipv6Header.extensionBytes(m, at);
            if (length > d.length) {
                return malformed();
            }
            if (options && !areOptionsAcceptable(d, length, now)) {
                return DROPPED;
            }
            if (next == Ipv6Header.ROUTING && Bytes.u8(m, at + 3) != 0) { // hosts to go by that are left: RFC 5095
                icmp.error(d, Icmpv6Message.PARAMETER_PROBLEM, Icmpv6Message.FIELD, d.headerBytes + 2, now);
                return malformed();
            }
            if (next == Ipv6Header.FRAGMENT) {
                word = Ipv6Header.fragmentWord(m, at);
                identification = Ipv6Header.identification(m, at);
            }
            pointer = d.headerBytes;
            d.protocol = Bytes.u8(m, at);
            d.headerBytes += length;
            d.length -= length;
            if (next == Ipv6Header.FRAGMENT) {
                return FRAGMENT;
            }
        }
        return malformed();
    }

    private int malformed() {
        icmp.counts().malformed++;
        return DROPPED;
    }

    /** Whether a fragment, whose header was skipped, cannot be one (RFC 8200, 4.5). */
    boolean isFragmentBad(Datagram d, long now) throws IOException {
        boolean more = (word & Ipv6Header.MORE_FRAGMENTS) != 0;
        if (more && d.length % 8 != 0) {
            icmp.error(d, Icmpv6Message.PARAMETER_PROBLEM, Icmpv6Message.FIELD, PAYLOAD_FIELD, now);
        } else if ((word & Ipv6Header.OFFSET) + d.length > Ipv6Header.MOST_PAYLOAD) {
            icmp.error(d, Icmpv6Message.PARAMETER_PROBLEM, Icmpv6Message.FIELD, d.headerBytes
                    - Ipv6Header.FRAGMENT_BYTES + 2, now);
        } else {
            return false;
        }
        icmp.counts().malformed++;
        return true;
    }

    /** Whether all options of a header of {@code length} bytes are known, or may be skipped (RFC 8200, 4.2). */
    private boolean areOptionsAcceptable(Datagram d, int length, long now) throws IOException {
        MemorySegment m = d.memory;
        long begin = d.at();
        int pads = 0;
        for (int i = 2; i < length;) {
            int type = Bytes.u8(m, begin + i);
            int bytes = type == PAD_1 ? 1 : i + 1 < length ? 2 + Bytes.u8(m, begin + i + 1) : Integer.MAX_VALUE;
            if (bytes > length - i) {
                icmp.counts().malformed++;
                return false;
            }
            pads = type == PAD_1 || type == PAD_N ? pads + bytes : 0;
            if (pads >= MOST_PADS) { // less is enough to align anything
                icmp.counts().malformed++;
                return false;
            }
            if (type >>> 6 != 0) { // others may be skipped
                unknown(d, type >>> 6, i, now);
                return false;
            }
            i += bytes;
        }
        return true;
    }

    private void unknown(Datagram d, int action, int option, long now) throws IOException {
        icmp.counts().malformed++;
        if (action == 2 || action == 3 && !d.toMany) {
            icmp.error(d, Icmpv6Message.PARAMETER_PROBLEM, Icmpv6Message.OPTION, d.headerBytes + option, now);
        }
    }
}
