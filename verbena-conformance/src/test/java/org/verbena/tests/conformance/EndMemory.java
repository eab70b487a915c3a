// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.VerbsException;

/**
 * The registered memory of an {@link End}, between bytes that must stay unchanged where the memory is not the
 * provider's own.
 */
final class EndMemory implements AutoCloseable {
    private static final int GUARD = 4096;

    final MemoryRegion region;
    /** Null for memory of the provider: to close one stops all threads for a moment. */
    private final @Nullable Arena arena;
    /** The region with its guard bytes. */
    private final MemorySegment whole;
    private byte[] snapshot = {};

    EndMemory(ProtectionDomain pd, EndOptions o, int access) throws VerbsException {
        if (o.memory == EndOptions.Memory.ALLOCATED) {
            arena = null;
            region = pd.allocate(o.bytes, access);
            whole = region.segment();
        } else {
            arena = Arena.ofShared();
            whole = arena.allocate(o.bytes + 2 * GUARD, GUARD);
            whole.fill((byte) 0xA5);
            region = pd.register(whole.asSlice(GUARD, o.bytes), access);
        }
    }

    /** A range of the region. */
    MemorySegment at(long offset, long length) {
        return region.segment().asSlice(offset, length);
    }

    /** Remembers all bytes, guard bytes included. */
    void remember() {
        snapshot = whole.toArray(ValueLayout.JAVA_BYTE);
    }

    /** The offset in the region of the first byte that changed since {@link #remember()}, or {@code Long.MIN_VALUE}. */
    long changed() {
        long at = MemorySegment.ofArray(snapshot).mismatch(whole);
        return at < 0 ? Long.MIN_VALUE : at - (whole.byteSize() - region.length()) / 2;
    }

    /** Gives the bytes back; the region is closed by now. */
    @Override
    public void close() {
        if (arena != null) {
            arena.close();
        }
    }
}
