// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.VerbsException;

/**
 * An open {@code struct ibv_context}: the addresses of its verbs. Immutable; to be used while the device is open.
 *
 * <pre>
 * ctx - distance   a slot of verbs_context, present if sz >= sizeof(ibv_context) + distance and not NULL
 * ctx - 8          sz
 * ctx              ibv_context: device, ops (inline verbs), descriptors, abi_compat = -1 if all of the above is present
 * </pre>
 */
final class NativeContext {
    private static final long EXTENDED = -1;

    final Ibverbs library;
    final long address;
    private final Map<Slot, MemorySegment> slots = new EnumMap<>(Slot.class);

    NativeContext(Ibverbs library, long address) {
        this.library = library;
        this.address = address;
        boolean extended = RawMemory.getLong(address + Layout.CONTEXT_ABI_COMPAT) == EXTENDED;
        long sz = extended ? RawMemory.getLong(address + Layout.CONTEXT_SZ) : 0;
        for (Slot s : Slot.values()) {
            if (Long.compareUnsigned(sz, Layout.CONTEXT_BYTES + s.distance) >= 0) {
                long function = RawMemory.getLong(address - s.distance);
                if (function != 0) {
                    slots.put(s, MemorySegment.ofAddress(function));
                }
            }
        }
    }

    boolean has(Slot s) {
        return slots.containsKey(s);
    }

    /**
     * An extended verb.
     *
     * @throws VerbsException {@code EOPNOTSUPP} if library or driver are too old for it
     */
    MemorySegment slot(String verb, Slot s) throws VerbsException {
        MemorySegment f = slots.get(s);
        if (f == null) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, library + " or the device's driver has no " + s.name()
                    .toLowerCase(Locale.ROOT) + ": it is too old");
        }
        return f;
    }

    /** An inline verb, by its offset in the context; null if the driver does not have it. */
    @Nullable
    MemorySegment inline(int offset) {
        long function = RawMemory.getLong(address + offset);
        return function == 0 ? null : MemorySegment.ofAddress(function);
    }

    /** As {@link #inline}, for a verb that is required. */
    MemorySegment inline(String verb, int offset) throws VerbsException {
        MemorySegment f = inline(offset);
        if (f == null) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, "the device's driver does not support this");
        }
        return f;
    }

    MemorySegment function(String verb, IbvFunction f) throws VerbsException {
        return library.get(verb, f);
    }
}
