// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.time.Duration;
import java.util.stream.IntStream;

/**
 * What to measure, and how.
 *
 * @param device name of the verbs device
 * @param ibPort port of the device
 * @param size bytes of a message; of all sizes the largest
 * @param allSizes one run of each power of two from 2 to {@code size}
 * @param mtu path MTU in bytes; 0 for that of the port
 * @param iterations messages of each queue pair of the measuring end; in ping-pong tests, of both
 * @param queuePairs between the two ends
 * @param bothWays both ends measure, at the same time
 * @param manager connect through the connection manager, and exchange addresses over a connection
 * @param txDepth requests outstanding
 * @param retryTimeout how long to wait for an ACK, 4.096 µs · 2^this
 * @param events sleep instead of spinning
 * @param gidIndex of the own GID; {@link PingPongOptions#ANY_GID} to choose one
 * @param timeout how long the peer may be silent
 */
record PerftestOptions(PerftestType type, String device, int ibPort, int size, boolean allSizes, int mtu,
        int iterations, int queuePairs, boolean bothWays, boolean manager, int txDepth, int retryTimeout,
        boolean events,
        int gidIndex, Duration timeout) {
    /** The largest message of a run with all sizes, as in C. */
    static final int LARGEST = 1 << 23;

    /** Bytes of the messages of each run. */
    int[] sizes() {
        return allSizes
                ? IntStream.iterate(2, s -> s <= size, s -> 2 * s).toArray()
                : new int[] {size};
    }
}
