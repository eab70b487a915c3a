// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.DeviceMemory;
import org.verbena.verbs.VerbsException;

/** Memory of the device, {@code struct ibv_dm}, with the verbs that copy. */
final class RdmaDeviceMemory extends DeviceMemory {
    private final Handle handle;
    private final MemorySegment copyTo;
    private final MemorySegment copyFrom;

    private RdmaDeviceMemory(Handle handle, long length) throws VerbsException {
        super(handle.context, length);
        this.handle = handle;
        copyTo = MemorySegment.ofAddress(RawMemory.getLong(handle.address + Layout.DM_MEMCPY_TO));
        copyFrom = MemorySegment.ofAddress(RawMemory.getLong(handle.address + Layout.DM_MEMCPY_FROM));
        opened();
    }

    static DeviceMemory allocate(RdmaContext context, long length, int logAlign) throws VerbsException {
        String verb = "allocate device memory of " + context.describe();
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Layout.DM_INIT_BYTES);
            s.putLong(0, length);
            s.putInt(Layout.DM_INIT_LOG_ALIGN, logAlign);
            return Handle.create(verb, context, List.of(context), Handle.by(context, Slot.FREE_DM), () -> Calls.pointer(
                    verb, context.verbs().slot(verb, Slot.ALLOC_DM), context.verbs().address, s.address()),
                    h -> new RdmaDeviceMemory(h, length));
        }
    }

    long address() {
        return handle.address;
    }

    @Override
    protected synchronized void implCopyFrom(MemorySegment source, long offset) throws VerbsException {
        copy("copy to " + describe(), copyTo, offset, source, true);
    }

    @Override
    protected synchronized void implCopyTo(MemorySegment target, long offset) throws VerbsException {
        copy("copy from " + describe(), copyFrom, offset, target, false);
    }

    /** Copies through memory of our own, which is not freed meanwhile and is accessible from any thread. */
    private void copy(String verb, MemorySegment function, long offset, MemorySegment segment, boolean in)
            throws VerbsException {
        checkOpen(verb);
        if (function.address() == 0) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, "the device's driver does not support this");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment own = arena.allocate(Math.max(1, segment.byteSize()), Long.BYTES);
            if (in) {
                MemorySegment.copy(segment, 0, own, 0, segment.byteSize());
                RawMemory.throwFault();
            }
            if (in) {
                Calls.zero(verb, function, handle.address, offset, own.address(), segment.byteSize());
            } else {
                Calls.zero(verb, function, own.address(), handle.address, offset, segment.byteSize());
                MemorySegment.copy(own, 0, segment, 0, segment.byteSize());
                RawMemory.throwFault();
            }
        } catch (IllegalStateException | WrongThreadException | InternalError e) {
            throw new VerbsException(verb, Errno.EINVAL, "the segment cannot be accessed: " + e.getMessage());
        }
    }

    @Override
    public String describe() {
        return "device memory of " + handle.context.describe();
    }

    @Override
    protected synchronized void implClose() throws VerbsException {
        handle.destroy(this);
    }
}
