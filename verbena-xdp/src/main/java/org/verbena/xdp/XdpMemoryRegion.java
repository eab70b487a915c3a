// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.VerbsException;

/** A memory region and its key. Packets are received only into one that was allocated, which has a UMEM. */
final class XdpMemoryRegion extends MemoryRegion {
    private final XdpContext context;
    private final XdpProtectionDomain pd;
    private final int key;
    private final @Nullable Umem umem;
    private final MemorySegment memory;
    private final long first;

    XdpMemoryRegion(XdpContext context, XdpProtectionDomain pd, int key, MemorySegment memory, int access,
            @Nullable Umem umem) throws VerbsException {
        super(pd, memory, access);
        this.context = context;
        this.pd = pd;
        this.key = key;
        this.umem = umem;
        this.memory = memory;
        first = memory.address();
        CounterEntry e = context.published().memoryRegion(key, pd.publishedId(), address(), length(), access);
        publish(e);
        context.regions().put(this);
        opened();
    }

    /** What packets are received into; null for memory that was registered. */
    @Nullable
    Umem umem() {
        return umem;
    }

    /** Whether packets may be received into it. */
    boolean isReceivable() {
        return umem != null && (access() & AccessFlags.LOCAL_WRITE) != 0;
    }

    boolean isOf(XdpProtectionDomain domain) {
        return pd.underlying() == domain.underlying();
    }

    /** The offset of a range that is within the region, or -1. */
    long offset(long address, long length) {
        long offset = address - first;
        return length >= 0 && offset >= 0 && offset <= length() - length ? offset : -1;
    }

    MemorySegment memory() {
        return memory;
    }

    @Override
    public int lkey() {
        return key;
    }

    @Override
    public int rkey() {
        return key;
    }

    @Override
    public String describe() {
        return "MR 0x" + Integer.toHexString(key) + " of " + context.describe();
    }

    @Override
    protected void implClose() throws VerbsException {
        Umem u = umem;
        if (u != null && !u.end()) {
            throw new VerbsException("deregister " + describe(), Errno.EBUSY,
                    "a queue receives into it, or a queue pair has its staging there: close that, or move it to RESET,"
                            + " first");
        }
        context.regions().give(key);
        pd.forget(this);
        if (u != null) {
            try {
                u.discard();
            } catch (LinuxException e) {
                throw new VerbsException("free the memory of " + describe(), e);
            }
        }
    }
}
