package org.verbena.shm;

import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.VerbsException;

/** A memory region and its key. */
final class ShmMemoryRegion extends MemoryRegion {
    private final ShmContext context;
    private final Region region;

    ShmMemoryRegion(ShmContext context, ProtectionDomain pd, Region region) throws VerbsException {
        super(pd, region.segment, region.access);
        this.context = context;
        this.region = region;
        opened();
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
    protected void implClose() throws VerbsException {
        context.deregister(describe(), region);
    }
}
