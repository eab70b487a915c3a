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

    private final int first;
    private final int hopLimit;
    private final Gid source;
    private final Gid destination;

    private GlobalRoutingHeader(MemorySegment s) {
        first = s.get(INT, 0);
        hopLimit = s.get(ValueLayout.JAVA_BYTE, 7) & 0xff;
        source = new Gid(s.get(LONG, 8), s.get(LONG, 16));
        destination = new Gid(s.get(LONG, 24), s.get(LONG, 32));
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
