// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.header;

import java.lang.foreign.MemorySegment;

/**
 * A message of ICMP (RFC 792): type, code, checksum, a word whose meaning depends on the type, and data.
 *
 * @param type such as {@link #ECHO}
 * @param code depends on the type
 * @param word depends on the type
 */
public record IcmpMessage(int type, int code, int word) {
    /** Length of the header. */
    public static final int BYTES = 8;
    /** Type: what was asked for comes back. */
    public static final int ECHO_REPLY = 0;
    /** Type: a packet did not reach its receiver. */
    public static final int UNREACHABLE = 3;
    /** Type: asks for an {@link #ECHO_REPLY}. */
    public static final int ECHO = 8;
    /** Another router is a better way. */
    public static final int REDIRECT = 5;
    /** Type: a packet's time to live, or that of its fragments, has ended. */
    public static final int TIME_EXCEEDED = 11;
    /** Type: a header was wrong. */
    public static final int PARAMETER_PROBLEM = 12;
    /** Code of {@link #UNREACHABLE}: the receiver has no such protocol. */
    public static final int PROTOCOL = 2;
    /** Code of {@link #UNREACHABLE}: nobody is at that port. */
    public static final int PORT = 3;
    /** Code of unreachable: the packet must not be cut into fragments, and is too long for the next link (RFC 1191). */
    public static final int FRAGMENTATION_NEEDED = 4;
    /** Code of {@link #TIME_EXCEEDED}: fragments are missing. */
    public static final int REASSEMBLY = 1;
    /** How much of the packet an error has with it behind that packet's header, at least. */
    public static final int QUOTED = 8;

    /** Whether there is a message with a right checksum. */
    public static boolean isValid(MemorySegment m, long at, int length) {
        return length >= BYTES && Checksum.of(m, at, length) == 0;
    }

    /** The message at a place, which was checked. */
    public static IcmpMessage of(MemorySegment m, long at) {
        return new IcmpMessage(type(m, at), code(m, at), Bytes.i32(m, at + 4));
    }

    /** The type. */
    public static int type(MemorySegment m, long at) {
        return Bytes.u8(m, at);
    }

    /** The code. */
    public static int code(MemorySegment m, long at) {
        return Bytes.u8(m, at + 1);
    }

    /** Whether messages of a type are errors, which are not answered with errors (RFC 1122, 3.2.2). */
    public static boolean isError(int type) {
        return switch (type) {
            case UNREACHABLE, 4, 5, TIME_EXCEEDED, PARAMETER_PROBLEM -> true;
            default -> false;
        };
    }

    /** Writes the header and the checksum of a message of {@code length} bytes, whose data are there. */
    public static void write(MemorySegment m, long at, int length, int type, int code, int word) {
        Bytes.put8(m, at, type);
        Bytes.put8(m, at + 1, code);
        Bytes.put16(m, at + 2, 0);
        Bytes.put32(m, at + 4, word);
        Bytes.put16(m, at + 2, Checksum.of(m, at, length));
    }
}
