// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.shm.memory.Allocation;
import org.verbena.shm.memory.Memories;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceMemory;
import org.verbena.verbs.VerbsException;

/** Device memory: an allocation without a protection domain, which outlives its regions. */
public final class ShmDeviceMemory extends DeviceMemory {
    private final Memories memories;
    private final Allocation allocation;

    ShmDeviceMemory(Context context, Memories memories, Allocation allocation) throws VerbsException {
        super(context, allocation.bytes);
        this.memories = memories;
        this.allocation = allocation;
        opened();
    }

    Allocation allocation() {
        return allocation;
    }

    @Override
    protected void implCopyFrom(MemorySegment source, long offset) throws VerbsException {
        copy(source, 0, allocation.segment(), offset, source.byteSize());
    }

    @Override
    protected void implCopyTo(MemorySegment target, long offset) throws VerbsException {
        copy(allocation.segment(), offset, target, 0, target.byteSize());
    }

    private void copy(MemorySegment from, long at, MemorySegment to, long toOffset, long bytes) throws VerbsException {
        try {
            MemorySegment.copy(from, at, to, toOffset, bytes);
            RawMemory.throwFault();
        } catch (IllegalStateException | WrongThreadException | InternalError e) {
            throw new VerbsException("copy " + describe(), Errno.EINVAL,
                    "the segment cannot be accessed: " + e.getMessage());
        }
    }

    @Override
    public String describe() {
        return "device memory " + allocation.id + " of " + ShmLimits.DEVICE;
    }

    @Override
    protected void implClose() throws VerbsException {
        memories.freeDeviceMemory(allocation);
    }
}
