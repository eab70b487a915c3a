// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

/**
 * The memory of a region, and how work requests name it.
 *
 * @param segment where it lies in this process
 * @param allocation what peers map to reach it; null if they reach it through the kernel
 * @param iova the address of the first byte as work requests name it
 * @param length bytes that work requests may name
 * @param nullRegion true if there is no memory: it reads as zero, and what is written vanishes
 */
public record Backing(MemorySegment segment, @Nullable Allocation allocation, long iova, long length,
        boolean nullRegion) {
    public static Backing of(MemorySegment segment, @Nullable Allocation allocation, long iova) {
        return new Backing(segment, allocation, iova, segment.byteSize(), false);
    }

    public static Backing ofNullRegion() {
        return new Backing(MemorySegment.NULL, null, 0, Long.MAX_VALUE, true);
    }
}
