// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.header.Ipv4Header;

/**
 * Datagrams of which fragments have come (RFC 791, 3.2): {@value #MOST} at a time, each for 30 seconds. Of a datagram whose fragments overlap
 * but do not repeat each other nothing is taken any more, as RFC 5722 has it for IPv6: no sender makes them, and they serve to slip by filters.
 */
final class Reassembly {
    static final int MOST = 16;
    static final long PATIENCE = 30_000_000_000L;
    /** Room for the header, in front of the payload. */
    static final int HEADER = 60;

    private static final int UNIT = 8;

    private final Counts counts;
    private final Partial[] partials = new Partial[MOST];
    private int size;

    Reassembly(Counts counts) {
        this.counts = counts;
    }

    /** One datagram; its buffer is used again for later ones. */
    static final class Partial {
        final MemorySegment memory = Arena.ofAuto().allocate(HEADER + Ipv4Header.MOST);
        private final long[] have = new long[(Ipv4Header.MOST + UNIT) / UNIT / Long.SIZE + 1];
        private int source;
        private int destination;
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

        private boolean is(MemorySegment m, long at) {
            return identification == Ipv4Header.identification(m, at) && source == Ipv4Header.source(m, at)
                    && destination == Ipv4Header.destination(m, at) && protocol == Ipv4Header.protocol(m, at);
        }

        private void begin(MemorySegment m, long at, long now) {
            Arrays.fill(have, 0);
            source = Ipv4Header.source(m, at);
            destination = Ipv4Header.destination(m, at);
            protocol = Ipv4Header.protocol(m, at);
            identification = Ipv4Header.identification(m, at);
            until = now + PATIENCE;
            dead = false;
            begin = 0;
            units = 0;
            total = -1;
            header = 0;
            end = 0;
        }

        /** Where the header begins, once the datagram is whole. */
        long at() {
            return (long) HEADER - header;
        }

        int headerBytes() {
            return header;
        }

        int payloadBytes() {
            return total;
        }

        int beginBytes() {
            return begin;
        }

        int destination() {
            return destination;
        }

        /** How many of some units are there. */
        private int count(int first, int last) {
            int n = 0;
            for (int i = first; i < last; i++) {
                n += (int) (have[i / Long.SIZE] >>> i & 1);
            }
            return n;
        }

        /** Adds the payload of a fragment; false if it contradicts others. */
        private boolean add(MemorySegment m, long at, int headerBytes, int offset, int length, boolean more) {
            int ends = offset + length;
            int first = offset / UNIT;
            int last = (ends + UNIT - 1) / UNIT;
            if (more && length % UNIT != 0 || ends > Ipv4Header.MOST - headerBytes || total >= 0 && ends > total
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
            MemorySegment.copy(m, at + headerBytes, memory, HEADER + (long) offset, length);
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
                MemorySegment.copy(m, at, memory, HEADER - headerBytes, headerBytes);
            }
            return true;
        }

        private boolean isWhole() {
            return total >= 0 && header > 0 && units == (total + UNIT - 1) / UNIT;
        }
    }

    /** Takes a fragment whose header was checked, at a contiguous place; the datagram if it is whole now, until the next call. */
    @Nullable
    Partial add(MemorySegment m, long at, long now) {
        counts.fragmentsIn++;
        int i = 0;
        while (i < size && !partials[i].is(m, at)) {
            i++;
        }
        if (i == size) {
            i = begin(m, at, now);
        }
        Partial p = partials[i];
        if (p.dead) {
            return null;
        }
        int word = Ipv4Header.fragmentWord(m, at);
        int header = Ipv4Header.headerBytes(m, at);
        int length = Ipv4Header.totalBytes(m, at) - header;
        if (length == 0 || !p.add(m, at, header, (word & Ipv4Header.OFFSET) * UNIT, length, (word
                & Ipv4Header.MORE_FRAGMENTS) != 0)) {
            counts.reassemblyFailed++;
            p.dead = true;
            return null;
        }
        if (p.isWhole()) {
            counts.reassembled++;
            end(i);
            return p;
        }
        return null;
    }

    private int begin(MemorySegment m, long at, long now) {
        if (size == MOST) {
            counts.reassemblyFailed += partials[0].dead ? 0 : 1;
            end(0); // the oldest
        }
        if (partials[size] == null) {
            partials[size] = new Partial();
        }
        partials[size].begin(m, at, now);
        return size++;
    }

    /** Ends a datagram; the others stay in the order in which they began. */
    private void end(int i) {
        Partial p = partials[i];
        System.arraycopy(partials, i + 1, partials, i, size - i - 1);
        partials[--size] = p;
    }

    /** Ends a datagram that has waited too long, and answers it, until the next call; null if there is none. */
    @Nullable
    Partial late(long now) {
        while (size > 0 && now - partials[0].until >= 0) {
            Partial p = partials[0];
            end(0);
            if (!p.dead) {
                counts.reassemblyFailed++;
                return p;
            }
        }
        return null;
    }

    /** When the next one will have waited too long. */
    long next() {
        return size == 0 ? Long.MAX_VALUE : partials[0].until;
    }
}
