// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.jspecify.annotations.Nullable;

/** Where posted receives come from: a queue pair's own queue, or one that is shared. */
public interface ReceiveSource {
    /** The oldest receive, which is the caller's until {@link QueuePairOwner#received}; null if there is none. */
    @Nullable
    ReceiveWqe take();

    /** Gives back a receive that was taken and not used: the message has failed before it completed anything. */
    void giveBack(ReceiveWqe wqe);

    /** True for a shared receive queue: its receives are not flushed with a queue pair. */
    boolean isShared();

    /** What the keys of its receives name; of an XRC queue also what the peer's keys name. */
    Memory memory();
}
