// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

import org.verbena.stack.header.Ipv6Header;

/**
 * Datagrams of which fragments have come (RFC 791, 3.2; RFC 8200, 4.5): {@value #MOST} at a time, each for a while. Of a datagram whose fragments overlap
 * but do not repeat each other nothing is taken any more, as RFC 5722 has it for IPv6: no sender makes them, and they serve to slip by filters.
 */
final class Reassembly {
    static final int MOST = 16;
    /** For so long the others are waited for, after the first one that came (Linux; RFC 8200, 4.5). */
    static final long IPV4_PATIENCE = 30_000_000_000L;
    static final long IPV6_PATIENCE = 60_000_000_000L;
    /** The longest payload. */
    static final int MOST_PAYLOAD = 65_535;
    /** Room for the header, in front of the payload. */
    static final int HEADER = 60;

    private static final int UNIT = 8;

    private final Counts counts;
    private final long patience;
    private final Partial[] partials = new Partial[MOST];
    private int size;

    Reassembly(Counts counts, long patience) {
        this.counts = counts;
        this.patience = patience;
    }

    /** One datagram; its buffer is used again for later ones. */
    private static final class Partial {
        private final MemorySegment memory = Arena.ofAuto().allocate(HEADER + MOST_PAYLOAD);
        private final long[] have = new long[(MOST_PAYLOAD + UNIT) / UNIT / Long.SIZE + 1];
        private final Path path = new Path();
        private int protocol;
        private int identification;
        private long until;
        /** Its fragments contradict each other: those to come are dropped, too. */
        private boolean dead;
        /** Bytes of the payload in the fragment that has the begin. */
        private int begin;
        private int units;
        /** Bytes of the payload, once the last fragment has come, or -1. */
        private int total;
        /** Length of the header of the first fragment, 0 before it has come. */
        private int header;
        /** Where the highest byte so far ends. */
        private int end;

        private boolean is(Datagram d, int id) {
            // Of IPv6 fragments the first one alone says what they carry.
            return identification == id && path.isSame(d.path()) && (!path.isIpv4() || protocol == d.protocol);
        }

        private void begin(Datagram d, int id, long end) {
            Arrays.fill(have, 0);
            Path p = d.path();
            path.set(p.localHigh(), p.localLow(), p.remoteHigh(), p.remoteLow());
            protocol = d.protocol;
            identification = id;
            until = end;
            dead = false;
            begin = 0;
            units = 0;
            total = -1;
            header = 0;
            this.end = 0;
        }

        /** Has a datagram be this one; its length is that of the bytes behind the header, as far as they are there. */
        private void describe(Datagram d, int length) {
            d.memory = memory;
            d.parts = null;
            d.header = (long) HEADER - header;
            d.headerBytes = header;
            d.length = length;
            d.protocol = protocol;
            d.path().set(path.localHigh(), path.localLow(), path.remoteHigh(), path.remoteLow());
            d.checked = false;
            d.ecn = 0;
            if (!path.isIpv4() && header > 0) { // as if it had come without a fragment header, for errors that quote it
                Ipv6Header.nextHeader(memory, d.header, protocol);
                Ipv6Header.payloadBytes(memory, d.header, Math.min(length, MOST_PAYLOAD));
            }
        }

        /** Has a datagram be the first fragment, as it came, so that its sender knows it again. */
        private void describeFirst(Datagram d) {
            describe(d, begin);
            if (!path.isIpv4() && header > 0) {
                int bytes = Ipv6Header.FRAGMENT_BYTES;
                MemorySegment.copy(memory, d.header, memory, d.header - bytes, header);
                Ipv6Header.writeFragment(memory, (long) HEADER - bytes, protocol, Ipv6Header.MORE_FRAGMENTS,
                        identification);
                d.header -= bytes;
                d.headerBytes += bytes;
                Ipv6Header.nextHeader(memory, d.header, Ipv6Header.FRAGMENT);
                Ipv6Header.payloadBytes(memory, d.header, bytes + begin);
            }
        }

        /** How many of some units are there. */
        private int count(int first, int last) {
            int n = 0;
            for (int i = first; i < last; i++) {
                n += (int) (have[i / Long.SIZE] >>> i & 1);
            }
            return n;
        }

        /** Adds the payload of a fragment, and keeps {@code headerBytes} of its header; false if it contradicts others. */
        private boolean add(Datagram d, int headerBytes, int offset, boolean more) {
            int length = d.length;
            int ends = offset + length;
            int first = offset / UNIT;
            int last = (ends + UNIT - 1) / UNIT;
            int most = path.isIpv4() ? MOST_PAYLOAD - headerBytes : MOST_PAYLOAD;
            if (more && length % UNIT != 0 || ends > most || total >= 0 && ends > total
                    || !more && (total >= 0 && total != ends || end > ends)) {
                return false;
            }
            int there = count(first, last);
            if (there == last - first) {
                return more || total == ends; // once more
            }
            if (there != 0) {
                return false;
            }
            MemorySegment.copy(d.memory, d.at(), memory, HEADER + (long) offset, length);
            for (int i = first; i < last; i++) {
                have[i / Long.SIZE] |= 1L << i;
            }
            units += last - first;
            end = Math.max(end, ends);
            if (!more) {
                total = ends;
            }
            if (offset == 0) {
                header = headerBytes;
                begin = length;
                protocol = d.protocol;
                MemorySegment.copy(d.memory, d.header, memory, HEADER - headerBytes, headerBytes);
            }
            return true;
        }

        private boolean isWhole() {
            return total >= 0 && header > 0 && units == (total + UNIT - 1) / UNIT;
        }
    }

    /**
     * Takes a fragment, which is in one piece.
     *
     * @param d the fragment; the whole datagram, until the next call, if the answer is true
     * @param header bytes of its header that are kept in front of the datagram
     * @param more whether others follow it
     */
    boolean add(Datagram d, int header, int identification, int offset, boolean more, long now) {
        counts.fragmentsIn++;
        int i = 0;
        while (i < size && !partials[i].is(d, identification)) {
            i++;
        }
        if (i == size) {
            i = begin(d, identification, now + patience);
        }
        Partial p = partials[i];
        if (p.dead) {
            return false;
        }
        if (d.length == 0 || !p.add(d, header, offset, more)) {
            counts.reassemblyFailed++;
            p.dead = true;
            return false;
        }
        if (p.isWhole()) {
            counts.reassembled++;
            end(i);
            p.describe(d, p.total);
            return true;
        }
        return false;
    }

    private int begin(Datagram d, int identification, long until) {
        if (size == MOST) {
            counts.reassemblyFailed += partials[0].dead ? 0 : 1;
            end(0); // the oldest
        }
        if (partials[size] == null) {
            partials[size] = new Partial();
        }
        partials[size].begin(d, identification, until);
        return size++;
    }

    /** Ends a datagram; the others stay in the order in which they began. */
    private void end(int i) {
        Partial p = partials[i];
        System.arraycopy(partials, i + 1, partials, i, size - i - 1);
        partials[--size] = p;
    }

    /** Ends a datagram that has waited too long; false if there is none. {@code d} is its first fragment, or has no header if that is not there. */
    boolean takeLate(Datagram d, long now) {
        while (size > 0 && now - partials[0].until >= 0) {
            Partial p = partials[0];
            end(0);
            if (!p.dead) {
                counts.reassemblyFailed++;
                p.describeFirst(d);
                return true;
            }
        }
        return false;
    }

    /** When the next one will have waited too long. */
    long next() {
        return size == 0 ? Long.MAX_VALUE : partials[0].until;
    }
}
