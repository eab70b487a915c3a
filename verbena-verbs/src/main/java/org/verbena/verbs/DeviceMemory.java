// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;

import org.verbena.linux.Errno;

/**
 * Memory of the device itself, {@code struct ibv_dm}: this process copies into it and out of it, and peers reach it
 * through a {@linkplain ProtectionDomain#registerDeviceMemory region}. It begins with zeros. Safe for use by several
 * threads; what they copy at the same time is not kept apart.
 *
 * <p>{@link #close()} ({@code ibv_free_dm}) is refused with {@code EBUSY} while regions of it exist.
 */
public abstract class DeviceMemory extends VerbsObject {
    private final Context context;
    private final long length;

    /** For providers. */
    protected DeviceMemory(Context context, long length) throws VerbsException {
        super(List.of(context));
        this.context = context;
        this.length = length;
    }

    /** The context that it was allocated from. */
    public final Context context() {
        return context;
    }

    /** The size in bytes. */
    public final long length() {
        return length;
    }

    /**
     * Copies a whole segment to {@code offset} of this memory, {@code ibv_memcpy_to_dm}.
     *
     * @throws VerbsException {@code EINVAL} if it does not fit, or this memory or the segment's is closed
     */
    public final void copyFrom(MemorySegment source, long offset) throws VerbsException {
        check("copy to " + describe(), source, offset);
        implCopyFrom(source, offset);
    }

    /**
     * Fills a whole segment from {@code offset} of this memory, {@code ibv_memcpy_from_dm}.
     *
     * @throws VerbsException {@code EINVAL} if there is not so much, the segment is read-only, or this memory or the
     *         segment's is closed
     */
    public final void copyTo(MemorySegment target, long offset) throws VerbsException {
        String verb = "copy from " + describe();
        if (target.isReadOnly()) {
            throw new VerbsException(verb, Errno.EINVAL, "the segment is read-only");
        }
        check(verb, target, offset);
        implCopyTo(target, offset);
    }

    private void check(String verb, MemorySegment s, long offset) throws VerbsException {
        checkOpen(verb);
        if (offset < 0 || s.byteSize() > length || offset > length - s.byteSize()) {
            throw new VerbsException(verb, Errno.EINVAL, s.byteSize() + " bytes at " + offset + " do not lie within "
                    + length);
        }
        if (!s.scope().isAlive()) {
            throw new VerbsException(verb, Errno.EINVAL, "the segment's arena is closed");
        }
    }

    /** Copies into the device's memory; the range has been checked. */
    protected abstract void implCopyFrom(MemorySegment source, long offset) throws VerbsException;

    /** Copies out of the device's memory; the range has been checked. */
    protected abstract void implCopyTo(MemorySegment target, long offset) throws VerbsException;

    @Override
    int closeOrder() {
        return 5;
    }
}
