// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/**
 * A range of a memory region, {@code struct ibv_sge}, for calls of the control path. Work requests take the three numbers
 * themselves. Immutable.
 */
public final class ScatterGatherElement {
    private final int lkey;
    private final long address;
    private final long length;

    private ScatterGatherElement(int lkey, long address, long length) {
        this.lkey = lkey;
        this.address = address;
        this.length = length;
    }

    /**
     * A range by key and address.
     *
     * @param lkey key of the region
     * @param address first byte, as {@link MemoryRegion#address()} counts
     * @param length bytes
     */
    public static ScatterGatherElement of(int lkey, long address, long length) {
        return new ScatterGatherElement(lkey, address, length);
    }

    /** A range by its offset in a region; bounds are checked where it is used. */
    public static ScatterGatherElement in(MemoryRegion region, long offset, long length) {
        return new ScatterGatherElement(region.lkey(), region.address() + offset, length);
    }

    /** The key of the region. */
    public int lkey() {
        return lkey;
    }

    /** The first byte, as {@link MemoryRegion#address()} counts. */
    public long address() {
        return address;
    }

    /** Bytes. */
    public long length() {
        return length;
    }

    @Override
    public String toString() {
        return length + " bytes at 0x" + Long.toHexString(address) + " of key 0x" + Integer.toHexString(lkey);
    }
}
