// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.verbs.Gid;

/**
 * How a destination is reached; made by {@link Wire#path}, which extends it with what it needs to send there. Immutable,
 * but for being closed.
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

    /** Where in the device's GID table the own GID is. */
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

    /** 20 bits; 0 if nobody has set it. */
    public final int flowLabel() {
        return flowLabel;
    }

    /** True if a packet came from where the path leads to, and to where it starts. */
    public final boolean matches(ReceivedPacket packet) {
        return packet.sourceLow == destination.low() && packet.sourceHigh == destination.high()
                && packet.destinationLow == source.low() && packet.destinationHigh == source.high();
    }

    /** Gives back what the wire holds for it; nothing is sent there afterwards. */
    @Override
    public abstract void close();
}
