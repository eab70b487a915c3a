// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.jspecify.annotations.Nullable;

/** What a {@link ReceiveSide} and its queue belong to: a queue pair, or a work queue. */
interface Receiving {
    /** The region of a key, if it is of the protection domain. */
    @Nullable
    XdpMemoryRegion region(int key);

    /** Whether nothing can be posted: it is in RESET, or closed. */
    boolean refusesReceives();

    /** Whether it is in ERR. */
    boolean isFlushed();

    /** Has the engine say when a packet has come. */
    void watchReceives();

    /** The interface is gone. */
    void fail(String reason);
}
