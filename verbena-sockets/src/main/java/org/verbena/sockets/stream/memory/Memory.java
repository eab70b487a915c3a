// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream.memory;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import org.verbena.verbs.MemoryRegion;

/**
 * A piece of an {@link Arena}.
 *
 * @param region it lies in
 * @param address of its first byte, as work requests name it
 * @param segment its bytes
 * @param bytes the same, for bulk copies from and to buffers of any kind without allocation
 */
public record Memory(MemoryRegion region, long address, MemorySegment segment, ByteBuffer bytes) {
    public int size() {
        return bytes.capacity();
    }

    public int rkey() {
        return region.rkey();
    }
}
