// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import org.verbena.stack.header.Bytes;

/** The records of a report of IGMPv3 (RFC 3376, 4.2) or MLDv2 (RFC 3810, 5.2): type, 0, number of senders, group, senders. */
final class GroupRecords {
    /** Senders of a query that are kept until it is answered. */
    private static final int MOST_ASKED = 64;

    private GroupRecords() {}

    private static int addressBytes(boolean ipv4) {
        return ipv4 ? Integer.BYTES : IpAddress.BYTES;
    }

    /** Length of a record. */
    static int bytes(Groups.Change c, boolean ipv4) {
        return 4 + addressBytes(ipv4) * (1 + c.sources().size());
    }

    /**
     * The changes as records that each fit in a report of {@code room} bytes: a longer one becomes several, but one that excludes senders is shortened (RFC 3376,
     * 4.2.16).
     */
    static List<Groups.Change> split(List<Groups.Change> changes, int room, boolean ipv4) {
        List<Groups.Change> all = new ArrayList<>(changes.size());
        int most = (room - 4) / addressBytes(ipv4) - 1;
        for (Groups.Change c : changes) {
            List<IpAddress> s = c.sources();
            boolean excludes = c.kind() == Groups.Kind.IS_EXCLUDE || c.kind() == Groups.Kind.TO_EXCLUDE;
            int from = 0;
            do {
                int to = Math.min(from + most, s.size());
                all.add(new Groups.Change(c.group(), c.kind(), s.subList(from, to)));
                from = excludes ? s.size() : to;
            } while (from < s.size());
        }
        return all;
    }

    /** The number of records, from {@code first} on, that have room in {@code room} bytes together; at least one. */
    static int fitting(List<Groups.Change> changes, int first, int room, boolean ipv4) {
        int n = 0;
        int bytes = 0;
        while (first + n < changes.size()) {
            bytes += bytes(changes.get(first + n), ipv4);
            if (n > 0 && bytes > room) {
                break;
            }
            n++;
        }
        return n;
    }

    /** Writes a record; answers where the next one goes. */
    static long write(MemorySegment m, long at, Groups.Change c, boolean ipv4) {
        Bytes.put16(m, at, c.kind().number << 8);
        Bytes.put16(m, at + 2, c.sources().size());
        long to = writeAddress(m, at + 4, c.group(), ipv4);
        for (IpAddress a : c.sources()) {
            to = writeAddress(m, to, a, ipv4);
        }
        return to;
    }

    private static long writeAddress(MemorySegment m, long at, IpAddress a, boolean ipv4) {
        if (ipv4) {
            Bytes.put32(m, at, (int) a.low());
        } else {
            Bytes.put64(m, at, a.high());
            Bytes.put64(m, at + 8, a.low());
        }
        return at + addressBytes(ipv4);
    }

    /** Reads the senders of a query, which are there; none, as if for all, if they are more than a host keeps. */
    static List<IpAddress> readAddresses(MemorySegment m, long at, int count, boolean ipv4) {
        if (count > MOST_ASKED) {
            return List.of();
        }
        List<IpAddress> all = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long from = at + (long) i * addressBytes(ipv4);
            all.add(ipv4
                    ? IpAddress.ofIpv4(Bytes.i32(m, from))
                    : new IpAddress(Bytes.i64(m, from), Bytes.i64(m, from + 8)));
        }
        return all;
    }
}
