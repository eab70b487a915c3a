// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.VerbsException;

/** A memory window, {@code struct ibv_mw}. */
final class RdmaMemoryWindow extends MemoryWindow {
    private final Handle handle;
    private volatile int rkey;
    private volatile @Nullable RdmaMemoryRegion region;

    RdmaMemoryWindow(ProtectionDomain pd, Handle handle, int type) throws VerbsException {
        super(pd, type);
        this.handle = handle;
        rkey = RawMemory.getInt(handle.address + Layout.MW_RKEY);
        opened();
    }

    long nativeAddress() {
        return handle.address;
    }

    /** The driver has given a window of type 1 another key. */
    void readKey() {
        rkey = RawMemory.getInt(handle.address + Layout.MW_RKEY);
    }

    /** The region that a window of type 1 was bound to last; null if it never was. */
    @Nullable
    RdmaMemoryRegion region() {
        return region;
    }

    void boundTo(RdmaMemoryRegion r) {
        region = r;
    }

    /**
     * The application has given a window of type 2 another key. A driver may name the window by the key in
     * {@code ibv_mw} when it is bound next, as rxe's does, and leaves it to the application to write it there. To be
     * called before the window can be destroyed.
     */
    void setBoundKey(int key) {
        RawMemory.putInt(handle.address + Layout.MW_RKEY, key);
        rkey = key;
    }

    @Override
    public int rkey() {
        return rkey;
    }

    @Override
    public String describe() {
        return "MW 0x" + Integer.toHexString(rkey) + " of " + handle.context.describe();
    }

    @Override
    protected void implClose() throws VerbsException {
        handle.context.awaitPosts("close " + describe());
        handle.destroy(this);
    }
}
