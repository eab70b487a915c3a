// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

/**
 * A queue pair that has the memory of its peer mapped. What it shows can be looked at without a request, even after the end
 * of the peer's process: as that left it.
 */
public interface RemoteView {
    /**
     * Memory of the peer that a READ would be allowed to read. Any thread.
     *
     * @param rkey as of a READ
     * @param address as of a READ
     * @param bytes how much
     * @return read-only, and valid as long as it is reachable; null if the key does not allow it, or the memory has not come
     *     yet, or the peer is gone already
     */
    @Nullable
    MemorySegment view(int rkey, long address, long bytes);
}
