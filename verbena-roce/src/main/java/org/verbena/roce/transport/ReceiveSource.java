// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.jspecify.annotations.Nullable;

/** Where posted receives come from: the queue pair's own receive queue, or a shared one. */
public interface ReceiveSource {
    /**
     * Takes the oldest receive, which belongs to the caller until {@link QueuePairOwner#received}; null if there is
     * none.
     */
    @Nullable
    ReceiveWqe take();

    /** Returns a receive that was taken and not used: the message failed before it completed anything. */
    void putBack(ReceiveWqe wqe);

    /** True for a shared receive queue: a queue pair that fails does not flush its receives. */
    boolean isShared();

    /** The memory that the keys of its receives refer to; of an XRC queue also the keys of the peer. */
    Memory memory();
}
