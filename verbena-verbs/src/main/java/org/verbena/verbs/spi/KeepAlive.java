// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import java.lang.ref.Reference;

import org.jspecify.annotations.Nullable;

/**
 * Keeps an object, and with it the memory that it maps, reachable up to the end of a call that touches the memory by
 * address. A call that throws touches nothing any more, so this stands at the end and not in a {@code finally} block,
 * which the hot path would pay for.
 */
public final class KeepAlive {
    private KeepAlive() {}

    /** Keeps {@code o} reachable up to here. */
    @SuppressWarnings("ReachabilityFenceUsage")
    public static void until(@Nullable Object o) {
        Reference.reachabilityFence(o);
    }
}
