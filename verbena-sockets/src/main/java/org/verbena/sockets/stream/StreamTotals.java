// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.Map;

/**
 * What all connections of this process have come to, those that have ended too.
 *
 * @param opened connections that there were
 * @param open those that there are
 * @param handshakes those whose handshake has succeeded, so that they have rings
 * @param fallbacks those that TCP carries to their ends, by reason; without reasons that never came up
 */
public record StreamTotals(long opened, long open, long handshakes, Map<FallbackReason, Long> fallbacks,
        StreamFigures figures) {
    /** Of now. */
    public static StreamTotals now() {
        return StreamCounters.totals();
    }

    /** Connections that TCP carries to their ends. */
    public long byKernel() {
        return fallbacks.values().stream().mapToLong(n -> n).sum();
    }

    /** Connections whose handshake is under way, or was when they ended. */
    public long undecided() {
        return Math.max(0, opened - handshakes - byKernel());
    }
}
