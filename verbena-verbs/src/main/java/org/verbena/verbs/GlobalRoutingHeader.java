// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The header that precedes each received datagram in its buffer, {@code struct ibv_grh}: {@value #BYTES} bytes in
 * network order. It is as the sender wrote it.
 */
public final class GlobalRoutingHeader {
    /** Bytes of the header. */
    public static final int BYTES = 40;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    /** Where an IPv4 header lies, which takes the place of the second half, and its first byte: no options. */
    private static final int IPV4 = 20;
    private static final int IPV4_FIRST = 0x45;
    private static final long MAPPED = 0xffff_0000_0000L;

    private final int first;
    private final int hopLimit;
    private final Gid source;
    private final Gid destination;

    private GlobalRoutingHeader(MemorySegment s) {
        if (isIpv4(s)) {
            first = (s.get(ValueLayout.JAVA_BYTE, IPV4 + 1) & 0xff) << 20;
            hopLimit = s.get(ValueLayout.JAVA_BYTE, IPV4 + 8) & 0xff;
            source = mapped(s.get(INT, IPV4 + 12));
            destination = mapped(s.get(INT, IPV4 + 16));
        } else {
            first = s.get(INT, 0);
            hopLimit = s.get(ValueLayout.JAVA_BYTE, 7) & 0xff;
            source = new Gid(s.get(LONG, 8), s.get(LONG, 16));
            destination = new Gid(s.get(LONG, 24), s.get(LONG, 32));
        }
    }

    /** A header of IPv4 looks like one and its checksum is right, as {@code ib_get_rdma_header_version} has it. */
    private static boolean isIpv4(MemorySegment s) {
        if ((s.get(ValueLayout.JAVA_BYTE, IPV4) & 0xff) != IPV4_FIRST) {
            return false;
        }
        int sum = 0;
        for (int i = IPV4; i < BYTES; i += Short.BYTES) {
            sum += s.get(SHORT, i) & 0xffff;
        }
        return (sum & 0xffff) + (sum >>> 16) == 0xffff;
    }

    private static Gid mapped(int address) {
        return new Gid(0, MAPPED | Integer.toUnsignedLong(address));
    }

    /**
     * Reads the header at the beginning of a received datagram.
     *
     * @param datagram the receive's buffer, at least {@value #BYTES} bytes
     * @throws IndexOutOfBoundsException if it is shorter
     */
    public static GlobalRoutingHeader of(MemorySegment datagram) {
        return new GlobalRoutingHeader(datagram);
    }

    /** Where the datagram came from. */
    public Gid source() {
        return source;
    }

    /** Where it was sent to: a GID of this port, or that of a multicast group. */
    public Gid destination() {
        return destination;
    }

    /** The traffic class, 8 bits. */
    public int trafficClass() {
        return first >>> 20 & 0xff;
    }

    /** The flow label, 20 bits. */
    public int flowLabel() {
        return first & 0xfffff;
    }

    /** How many routers the datagram might have passed. */
    public int hopLimit() {
        return hopLimit;
    }

    @Override
    public String toString() {
        return source + " to " + destination;
    }
}
