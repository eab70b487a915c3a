// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.DeviceMemory;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;

/** A memory region and its key. */
final class RoceMemoryRegion extends MemoryRegion {
    private final RoceContext context;
    private final boolean fixed;
    private final CounterEntry counters;
    private volatile Region region;

    RoceMemoryRegion(RoceContext context, RoceProtectionDomain pd, Region region) throws VerbsException {
        this(context, pd, region, region.segment, false);
    }

    /** A region of device memory, which this process does not access by a segment. */
    RoceMemoryRegion(RoceContext context, RoceProtectionDomain pd, Region region, DeviceMemory memory)
            throws VerbsException {
        this(context, pd, region, MemorySegment.NULL, true, memory);
    }

    private RoceMemoryRegion(RoceContext context, RoceProtectionDomain pd, Region region, MemorySegment segment,
            boolean fixed, VerbsObject... others) throws VerbsException {
        super(pd, segment, region.access, region.iova, region.length, others);
        this.context = context;
        this.region = region;
        this.fixed = fixed;
        counters = context.published().memoryRegion(region.key, pd.publishedId(), region.iova, region.length,
                region.access);
        region.countWith(counters);
        publish(counters);
        ContextLock lock = context.lock();
        lock.lock();
        context.keys().put(region);
        lock.unlock();
        opened();
    }

    Region region() {
        return region;
    }

    boolean isOf(RoceContext c) {
        return c == context;
    }

    @Override
    public int lkey() {
        return region.key;
    }

    @Override
    public int rkey() {
        return region.key;
    }

    @Override
    public String describe() {
        return "MR 0x" + Integer.toHexString(region.key) + " of " + context.describe();
    }

    @Override
    protected void implClose() throws VerbsException {
        Region r = region;
        ContextLock lock = context.lock();
        lock.lock();
        try {
            refuseWindows("deregister", r);
            context.keys().remove(r); // every later holder of the lock finds the memory unregistered
        } finally {
            lock.unlock();
        }
        context.keys().freeKey(r.key);
        Region.Resource resource = r.resource;
        if (resource != null) {
            try {
                resource.release();
            } catch (LinuxException e) {
                throw new VerbsException("free the memory of " + describe(), e);
            }
        }
    }

    private void refuseWindows(String verb, Region r) throws VerbsException {
        if (r.windows > 0) {
            throw new VerbsException(verb + " " + describe(), Errno.EBUSY,
                    "a memory window is bound to it: invalidate or close that first");
        }
    }

    @Override
    protected synchronized void implReregister(ProtectionDomain newPd, @Nullable MemorySegment newMemory,
            int newAccess) throws VerbsException {
        checkOpen("reregister " + describe()); // again: closing takes turns with this
        if (fixed) {
            throw new VerbsException("reregister " + describe(), Errno.EINVAL,
                    "a region of device memory cannot change");
        }
        RoceProtectionDomain pd = (RoceProtectionDomain) newPd;
        ContextLock lock = context.lock();
        lock.lock();
        try {
            Region r = region;
            refuseWindows("reregister", r);
            boolean zeroBased = (newAccess & AccessFlags.ZERO_BASED) != 0;
            Region changed = newMemory == null
                    ? r.changed(pd.index(), newAccess, r.segment, r.iova, r.isOwn())
                    : r.changed(pd.index(), newAccess, newMemory, zeroBased ? 0 : newMemory.address(), false);
            context.keys().put(changed);
            region = changed;
        } finally {
            lock.unlock();
        }
    }
}
