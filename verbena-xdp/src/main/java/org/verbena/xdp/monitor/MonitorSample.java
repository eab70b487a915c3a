// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.monitor;

import java.util.Map;

/**
 * What a {@link FlowMonitor} has counted until now. Bytes are those of whole Ethernet frames with their VLAN tags, without
 * the checksum; a super-packet of several segments is one packet, as in the interface's own counters.
 *
 * @param nanos when, by {@link System#nanoTime}
 * @param flows those that are in the table
 * @param received all packets that the filter wants, of flows that are no longer in the table, too
 * @param sent the same of those that were sent
 * @param evicted how many flows had to make room for others
 * @param outside packets and bytes that no flow in the table has: of flows that made room, or found none
 * @param ringLost packets that were counted but not captured, because the ring was full
 */
public record MonitorSample(long nanos, Map<MonitoredFlow, Count> flows, Count received, Count sent, long evicted,
        Count outside, long ringLost) {
    /**
     * Packets and their bytes.
     *
     * @param learned when the flow came into the table, nanoseconds of CLOCK_MONOTONIC; 0 of sums
     */
    public record Count(long packets, long bytes, long learned) {
        /** Nothing. */
        public static final Count NONE = new Count(0, 0, 0);

        /** A sum. */
        public Count(long packets, long bytes) {
            this(packets, bytes, 0);
        }

        /** The sum of both. */
        public Count plus(Count other) {
            return new Count(packets + other.packets, bytes + other.bytes);
        }

        /** What has come since; all of it if the other one is of a flow that was learned another time. */
        public Count since(Count before) {
            return learned == before.learned ? new Count(packets - before.packets, bytes - before.bytes) : this;
        }
    }

    /** Takes a copy. */
    public MonitorSample {
        flows = Map.copyOf(flows);
    }

    /** Both directions. */
    public Count total() {
        return received.plus(sent);
    }
}
