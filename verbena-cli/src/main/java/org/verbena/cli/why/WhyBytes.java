// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.why;

import org.verbena.cli.stat.StatObject;
import org.verbena.sockets.SocketSamplePoint;

/** What a connection has carried. */
final class WhyBytes {
    private static final int[] POINTS = {SocketSamplePoint.CONNECTION_TX_RING_BYTES,
        SocketSamplePoint.CONNECTION_TX_TCP_BYTES, SocketSamplePoint.CONNECTION_RX_RING_BYTES,
        SocketSamplePoint.CONNECTION_RX_TCP_BYTES};

    private WhyBytes() {}

    /** Both ways, by all that carried it. */
    static long of(StatObject connection) {
        long sum = 0;
        for (int p : POINTS) {
            sum += connection.value(p);
        }
        return sum;
    }
}
