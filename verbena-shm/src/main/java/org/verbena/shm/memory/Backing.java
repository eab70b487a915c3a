// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.AccessFlags;

/**
 * The memory of a region, and its addresses in work requests.
 *
 * @param segment of it in this process
 * @param allocation that peers map; null if they access the memory through the kernel
 * @param iova the address of the first byte as work requests name it
 * @param length bytes that work requests may name
 * @param nullRegion true if there is no memory: it reads as zero, and writes are discarded
 */
public record Backing(MemorySegment segment, @Nullable Allocation allocation, long iova, long length,
        boolean nullRegion) {
    public static Backing of(MemorySegment segment, @Nullable Allocation allocation, long iova) {
        return new Backing(segment, allocation, iova, segment.byteSize(), false);
    }

    public static Backing ofNullRegion() {
        return new Backing(MemorySegment.NULL, null, 0, Long.MAX_VALUE, true);
    }

    /** The address by which requests name the first byte of memory. */
    public static long start(MemorySegment memory, int access) {
        return (access & AccessFlags.ZERO_BASED) != 0 ? 0 : memory.address();
    }
}
