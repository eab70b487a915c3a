// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.DeviceMemory;
import org.verbena.verbs.VerbsException;

/** Device memory: pages that the application accesses only by copies and work requests. */
final class RoceDeviceMemory extends DeviceMemory {
    private final RoceContext context;
    private final Mapping mapping;

    RoceDeviceMemory(RoceContext context, Mapping mapping, long length) throws VerbsException {
        super(context, length);
        this.context = context;
        this.mapping = mapping;
        opened();
    }

    MemorySegment segment() {
        return mapping.segment();
    }

    @Override
    protected void implCopyFrom(MemorySegment source, long offset) throws VerbsException {
        copy(source, 0, segment(), offset, source.byteSize());
    }

    @Override
    protected void implCopyTo(MemorySegment target, long offset) throws VerbsException {
        copy(segment(), offset, target, 0, target.byteSize());
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
        return length() + " bytes of device memory of " + context.describe();
    }

    @Override
    protected void implClose() throws VerbsException {
        try {
            mapping.discard();
        } catch (LinuxException e) {
            throw new VerbsException("free " + describe(), e);
        }
        context.freeDeviceMemory(length());
    }
}
