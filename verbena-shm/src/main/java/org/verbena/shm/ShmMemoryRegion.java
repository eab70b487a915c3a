// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.shm.counts.RegionCounts;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.shm.memory.Backing;
import org.verbena.shm.memory.Region;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.DeviceMemory;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.VerbsException;

/** A memory region and its key. */
final class ShmMemoryRegion extends MemoryRegion {
    private final ContextInternals internals;
    /** Not volatile: a region that was replaced is not valid, whichever thread still sees it. */
    private Region region;
    private final boolean fixed;
    private final RegionCounts counts;

    ShmMemoryRegion(ContextInternals internals, ProtectionDomain pd, long publishedId, Region region)
            throws VerbsException {
        super(pd, region.segment, region.access, region.iova, region.length);
        this.internals = internals;
        this.region = region;
        fixed = region.nullRegion;
        CounterEntry e = internals.published().memoryRegion(region.key, publishedId, region.iova, region.length,
                region.access);
        publish(e);
        counts = count(e);
        opened();
    }

    /** A region of device memory, which this process does not access by a segment. */
    ShmMemoryRegion(ContextInternals internals, ProtectionDomain pd, long publishedId, Region region,
            DeviceMemory memory)
            throws VerbsException {
        super(pd, MemorySegment.NULL, region.access, region.iova, region.length, memory);
        this.internals = internals;
        this.region = region;
        fixed = true;
        CounterEntry e = internals.published().memoryRegion(region.key, publishedId, region.iova, region.length,
                region.access);
        publish(e);
        counts = count(e);
        opened();
    }

    /** Counts accesses of peers, until the region is closed. */
    private RegionCounts count(CounterEntry e) {
        RegionCounts c = new RegionCounts(internals.control(), region.key, e);
        internals.regionCounts().add(c);
        return c;
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
        return "MR 0x" + Integer.toHexString(region.key) + " of " + ShmLimits.DEVICE;
    }

    @Override
    protected synchronized void implClose() throws VerbsException {
        internals.memories().deregister(describe(), region);
        counts.close();
        internals.regionCounts().remove(counts);
    }

    @Override
    protected synchronized void implReregister(ProtectionDomain newPd, @Nullable MemorySegment newMemory,
            int newAccess) throws VerbsException {
        checkOpen("reregister " + describe()); // again: closing takes turns with this
        if (fixed) {
            throw new VerbsException("reregister " + describe(), Errno.EINVAL,
                    "a region of device memory, or without memory, cannot change");
        }
        int pd = ((NumberedDomain) newPd).index();
        Backing backing = newMemory == null
                ? Backing.of(region.segment, region.allocation, region.iova)
                : internals.memories().backing(pd, newMemory, newAccess, region.allocation);
        region = internals.memories().reregister(describe(), region, pd, newAccess, backing);
    }
}
