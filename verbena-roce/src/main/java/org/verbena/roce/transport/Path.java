// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.verbs.Gid;

/**
 * A path to a destination; made by {@link Wire#path}, which extends it with what it needs for sending. Immutable,
 * except for {@link #close}.
 */
public abstract class Path implements AutoCloseable {
    private final Gid source;
    private final Gid destination;
    private final int sourceGidIndex;
    private final int trafficClass;
    private final int flowLabel;

    /** For wires. */
    protected Path(Gid source, int sourceGidIndex, Gid destination, int trafficClass, int flowLabel) {
        this.source = source;
        this.destination = destination;
        this.sourceGidIndex = sourceGidIndex;
        this.trafficClass = trafficClass;
        this.flowLabel = flowLabel;
    }

    /** Own GID. */
    public final Gid source() {
        return source;
    }

    /** Index of the own GID in the device's GID table. */
    public final int sourceGidIndex() {
        return sourceGidIndex;
    }

    /** The peer's GID, or a multicast group's. */
    public final Gid destination() {
        return destination;
    }

    /** IPv4 type of service or IPv6 traffic class. */
    public final int trafficClass() {
        return trafficClass;
    }

    /** 20 bits; 0 if it was not set. */
    public final int flowLabel() {
        return flowLabel;
    }

    /** True if a packet came from the destination of the path, to its source. */
    public final boolean matches(ReceivedPacket packet) {
        return packet.sourceLow == destination.low() && packet.sourceHigh == destination.high()
                && packet.destinationLow == source.low() && packet.destinationHigh == source.high();
    }

    /** Releases what the wire holds for the path, which must not be used afterwards. */
    @Override
    public abstract void close();
}
