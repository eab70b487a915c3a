// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.spi.Downcall;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.Feature;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;

/** A memory region, {@code struct ibv_mr}. */
final class RdmaMemoryRegion extends MemoryRegion {
    /** Results of {@code ibv_rereg_mr}: the region is unchanged. */
    private static final int REREG_ERR_INPUT = -1;
    private static final int REREG_ERR_DONT_FORK_NEW = -2;

    private final Handle handle;
    /** Memory that is freed with the region; null if it is the application's. */
    private @Nullable Mapping own;
    private volatile int lkey;
    private volatile int rkey;

    private RdmaMemoryRegion(ProtectionDomain pd, Handle handle, MemorySegment segment, int access, long address,
            long length, VerbsObject... others) throws VerbsException {
        super(pd, segment, access, address, length, others);
        this.handle = handle;
        readKeys();
        handle.context.hold(handle.address, segment);
        opened();
    }

    static RdmaMemoryRegion create(String verb, RdmaProtectionDomain pd, Handle.Creator creator, MemorySegment segment,
            int access, long address, long length, VerbsObject... others) throws VerbsException {
        RdmaContext c = pd.rdmaContext();
        List<VerbsObject> used = new ArrayList<>(List.of(others));
        used.add(pd);
        return Handle.create(verb, c, used, Handle.by(c, IbvFunction.DEREG_MR), creator, h -> new RdmaMemoryRegion(pd,
                h, segment, access, address, length, others));
    }

    /** Frees the memory with the region, which no other thread knows yet. */
    void owns(Mapping memory) {
        own = memory;
    }

    private void readKeys() {
        lkey = RawMemory.getInt(handle.address + Layout.MR_LKEY);
        rkey = RawMemory.getInt(handle.address + Layout.MR_RKEY);
    }

    long nativeAddress() {
        return handle.address;
    }

    @Override
    public int lkey() {
        return lkey;
    }

    @Override
    public int rkey() {
        return rkey;
    }

    @Override
    protected synchronized void implReregister(ProtectionDomain newPd, @Nullable MemorySegment newMemory, int newAccess)
            throws VerbsException {
        String verb = "reregister " + describe();
        checkOpen(verb);
        if (!handle.context.supports(Feature.REREGISTER)) { // its result would mean that the region is lost
            throw new VerbsException(verb, Errno.EOPNOTSUPP, "the driver of " + handle.context.describe()
                    + " does not reregister");
        }
        int flags = (newPd == protectionDomain() ? 0 : CHANGE_PD) | (newMemory == null ? 0 : CHANGE_TRANSLATION)
                | (newAccess == access() ? 0 : CHANGE_ACCESS);
        if (flags == 0) {
            return;
        }
        MemorySegment rereg = handle.verbs().function(verb, IbvFunction.REREG_MR);
        int result = (int) Calls.call(rereg, handle.address, flags, newPd instanceof RdmaProtectionDomain p
                ? p.address()
                : 0, newMemory == null ? 0 : newMemory.address(), newMemory == null ? 0 : newMemory.byteSize(),
                newAccess);
        if (result == REREG_ERR_INPUT || result == REREG_ERR_DONT_FORK_NEW) {
            throw Calls.failure(verb, Downcall.errno());
        }
        if (newMemory != null) {
            handle.context.hold(handle.address, newMemory);
        }
        if (result != 0) {
            throw new VerbsException(verb, Errno.EIO, "error " + result + " of ibv_rereg_mr, errno " + Errno.name(
                    Downcall.errno()) + ": the region cannot be used any more; close it and register anew");
        }
        readKeys();
    }

    @Override
    public String describe() {
        return "MR 0x" + Integer.toHexString(lkey) + " of " + handle.context.describe();
    }

    /** The driver's EINVAL for a region that it knows means that a window is bound to it: rxe does that. */
    private static VerbsException bound(String verb, VerbsException e) {
        VerbsException busy = new VerbsException(verb, Errno.EBUSY,
                "the driver says EINVAL, as it does while a memory window is bound to it: unbind, invalidate or close the window first");
        busy.initCause(e);
        return busy;
    }

    @Override
    protected synchronized void implClose() throws VerbsException {
        String verb = "close " + describe();
        handle.context.awaitPosts(verb); // the binding of a window may refer to it
        try {
            handle.destroy(this);
        } catch (VerbsException e) {
            throw e.errno() == Errno.EINVAL ? bound(verb, e) : e;
        }
        handle.context.release(handle.address);
        Mapping m = own;
        if (m != null) {
            try {
                m.discard(); // frees the pages, not the address range: a segment of it may be read
            } catch (LinuxException e) {
                // too many mappings: they are unmapped when no segment refers to them any more
            }
        }
    }
}
