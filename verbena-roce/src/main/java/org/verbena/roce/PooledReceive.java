// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.jspecify.annotations.Nullable;

import org.verbena.roce.transport.ReceiveWqe;

/** A receive work request of a {@link ReceivePool}. */
final class PooledReceive extends ReceiveWqe {
    final ReceivePool pool;
    /** The next free one; used by the pool. */
    @Nullable PooledReceive next;

    PooledReceive(ReceivePool pool, int maxSge) {
        super(maxSge);
        this.pool = pool;
    }
}
