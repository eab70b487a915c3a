// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.shm.counts.RegionCounts;
import org.verbena.shm.memory.Backing;
import org.verbena.shm.memory.Region;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.DeviceMemory;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.VerbsException;

/** A memory region and its key. */
final class ShmMemoryRegion extends MemoryRegion {
    private final ShmContext context;
    /** Not volatile: a region that was replaced is not valid, whichever thread still sees it. */
    private Region region;
    private final boolean fixed;
    private final RegionCounts counts;

    ShmMemoryRegion(ShmContext context, ProtectionDomain pd, Region region) throws VerbsException {
        super(pd, region.segment, region.access, region.iova, region.length);
        this.context = context;
        this.region = region;
        fixed = region.nullRegion;
        CounterEntry e = context.published().memoryRegion(region.key, publishedId(pd), region.iova, region.length,
                region.access);
        publish(e);
        counts = context.counts(region.key, e);
        opened();
    }

    /** A region of device memory, which this process does not access by a segment. */
    ShmMemoryRegion(ShmContext context, ProtectionDomain pd, Region region, DeviceMemory memory)
            throws VerbsException {
        super(pd, MemorySegment.NULL, region.access, region.iova, region.length, memory);
        this.context = context;
        this.region = region;
        fixed = true;
        CounterEntry e = context.published().memoryRegion(region.key, publishedId(pd), region.iova, region.length,
                region.access);
        publish(e);
        counts = context.counts(region.key, e);
        opened();
    }

    private static long publishedId(ProtectionDomain pd) {
        return pd instanceof ShmProtectionDomain s ? s.publishedId() : 0;
    }

    /** The data path's view. */
    Region region() {
        return region;
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
    protected synchronized void implClose() throws VerbsException {
        context.memories().deregister(describe(), region);
        counts.close();
        context.remove(counts);
    }

    @Override
    protected synchronized void implReregister(ProtectionDomain newPd, @Nullable MemorySegment newMemory,
            int newAccess) throws VerbsException {
        checkOpen("reregister " + describe()); // again: closing takes turns with this
        if (fixed) {
            throw new VerbsException("reregister " + describe(), Errno.EINVAL,
                    "a region of device memory, or without memory, cannot change");
        }
        ShmProtectionDomain pd = (ShmProtectionDomain) newPd;
        Backing backing = newMemory == null
                ? Backing.of(region.segment, region.allocation, region.iova)
                : pd.backing(newMemory, newAccess, region.allocation);
        region = context.memories().reregister(describe(), region, pd.index(), newAccess, backing);
    }
}
