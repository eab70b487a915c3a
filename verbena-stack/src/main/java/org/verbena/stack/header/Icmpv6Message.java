// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.header;

import java.lang.foreign.MemorySegment;

/**
 * A message of ICMPv6 (RFC 4443): type, code, checksum, a word whose meaning depends on the type, and data.
 *
 * @param type such as {@link #ECHO}
 * @param code depends on the type
 * @param word depends on the type
 */
public record Icmpv6Message(int type, int code, int word) {
    /** Length of the header. */
    public static final int BYTES = 8;
    /** Type: a packet did not reach its receiver. */
    public static final int UNREACHABLE = 1;
    /** Type: a packet is longer than the next link carries; the word is how long it may be. */
    public static final int TOO_BIG = 2;
    /** Type: a packet's hop limit, or the time for its fragments, has ended. */
    public static final int TIME_EXCEEDED = 3;
    /** Type: a header was wrong; the word is where. */
    public static final int PARAMETER_PROBLEM = 4;
    /** Type: asks for an {@link #ECHO_REPLY}. */
    public static final int ECHO = 128;
    /** Type: what was asked for comes back. */
    public static final int ECHO_REPLY = 129;
    /** Type: multicast listener query (RFC 2710, RFC 3810). */
    public static final int GROUP_QUERY = 130;
    /** Type: multicast listener report of version 1. */
    public static final int GROUP_REPORT = 131;
    /** Type: multicast listener done of version 1. */
    public static final int GROUP_DONE = 132;
    /** Type: multicast listener report of version 2. */
    public static final int GROUP_REPORT_2 = 143;
    /** Type: asks for the {@link #ROUTER_ADVERTISEMENT} of all routers (RFC 4861). */
    public static final int ROUTER_SOLICITATION = 133;
    /** Type: a router tells of itself and the link. */
    public static final int ROUTER_ADVERTISEMENT = 134;
    /** Type: asks for the link address of a host. */
    public static final int NEIGHBOUR_SOLICITATION = 135;
    /** Type: tells the link address of a host. */
    public static final int NEIGHBOUR_ADVERTISEMENT = 136;
    /** Type: a router tells of a shorter way. */
    public static final int REDIRECT = 137;
    /** Code of {@link #UNREACHABLE}: there is no route. */
    public static final int NO_ROUTE = 0;
    /** Code of {@link #UNREACHABLE}: a filter has dropped it. */
    public static final int PROHIBITED = 1;
    /** Code of {@link #UNREACHABLE}: the last router does not find the host. */
    public static final int ADDRESS = 3;
    /** Code of {@link #UNREACHABLE}: nobody is at that port. */
    public static final int PORT = 4;
    /** Code of {@link #UNREACHABLE}: a filter has dropped it because of its sender. */
    public static final int POLICY = 5;
    /** Code of {@link #UNREACHABLE}: the route rejects packets. */
    public static final int REJECTED = 6;
    /** Code of {@link #TIME_EXCEEDED}: fragments are missing. */
    public static final int REASSEMBLY = 1;
    /** Code of {@link #PARAMETER_PROBLEM}: a field of a header has no meaning. */
    public static final int FIELD = 0;
    /** Code of {@link #PARAMETER_PROBLEM}: the receiver does not know a header. */
    public static final int NEXT_HEADER = 1;
    /** Code of {@link #PARAMETER_PROBLEM}: the receiver does not know an option. */
    public static final int OPTION = 2;

    private static final int FIRST_NOT_ERROR = 128;

    /** Whether there is a message with a right checksum; {@code addresses} as {@link Checksum} has them. */
    public static boolean isValid(MemorySegment m, long at, int length, long addresses) {
        return length >= BYTES && Checksum.of(m, at, length, addresses, Ipv6Header.ICMP) == 0;
    }

    /** The message at a place, which was checked. */
    public static Icmpv6Message of(MemorySegment m, long at) {
        return new Icmpv6Message(type(m, at), code(m, at), word(m, at));
    }

    /** The type. */
    public static int type(MemorySegment m, long at) {
        return Bytes.u8(m, at);
    }

    /** The code. */
    public static int code(MemorySegment m, long at) {
        return Bytes.u8(m, at + 1);
    }

    /** The word. */
    public static int word(MemorySegment m, long at) {
        return Bytes.i32(m, at + 4);
    }

    /** Whether messages of a type are errors, which are not answered with errors (RFC 4443, 2.4). */
    public static boolean isError(int type) {
        return type < FIRST_NOT_ERROR;
    }

    /** Writes the header and the checksum of a message of {@code length} bytes, whose data are there; {@code addresses} as {@link Checksum} has them. */
    public static void write(MemorySegment m, long at, int length, int type, int code, int word, long addresses) {
        Bytes.put8(m, at, type);
        Bytes.put8(m, at + 1, code);
        Bytes.put16(m, at + 2, 0);
        Bytes.put32(m, at + 4, word);
        Bytes.put16(m, at + 2, Checksum.of(m, at, length, addresses, Ipv6Header.ICMP));
    }
}
