// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.memory.MemoryHold;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.Feature;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.VerbsException;

/**
 * The memory region behind a {@link LocalRegion}: its key, which copies use and whose rights can be changed. A provider
 * with reregistration keeps the key. With any other, the memory gets a second key and loses the first; memory that is
 * freed with its key, as allocated memory is, has one more key there, without rights for the other end. The arena of
 * memory that the application owns cannot be closed before this.
 */
final class RegionMemory {
    private final ProtectionDomain pd;
    private final boolean reregisters;
    /** Owns the memory; null if the application or {@link #key} does. */
    private final @Nullable MemoryRegion backing;
    // guarded by this
    private MemoryRegion key;
    private boolean closed;
    private @Nullable MemoryHold held;

    private RegionMemory(ProtectionDomain pd, @Nullable MemoryRegion home, MemoryRegion key,
            @Nullable MemoryHold held) {
        this.pd = pd;
        this.backing = home;
        this.key = key;
        this.held = held;
        reregisters = reregisters(pd);
    }

    private static boolean reregisters(ProtectionDomain pd) {
        return pd.context().supports(Feature.REREGISTER);
    }

    static RegionMemory register(ProtectionDomain pd, MemorySegment memory, int access)
            throws VerbsException {
        MemoryHold held = hold(memory);
        try {
            return new RegionMemory(pd, null, pd.register(memory, access), held);
        } catch (VerbsException | RuntimeException | Error e) {
            MemoryHold.release(held);
            throw e;
        }
    }

    private static @Nullable MemoryHold hold(MemorySegment memory) {
        try {
            return memory.isNative() ? MemoryHold.take(memory) : null;
        } catch (IllegalStateException closed) {
            return null; // registering it reports that
        }
    }

    static RegionMemory allocate(ProtectionDomain pd, long bytes, int access) throws VerbsException {
        MemoryRegion made = pd.allocate(bytes, reregisters(pd) ? access : access & AccessFlags.LOCAL_WRITE);
        if (made.access() == access) {
            return new RegionMemory(pd, null, made, null);
        }
        try {
            return new RegionMemory(pd, made, pd.register(made.segment(), access), null);
        } catch (VerbsException | RuntimeException | Error e) {
            made.close();
            throw e;
        }
    }

    /** The key that copies use; {@link #change} may replace it. */
    synchronized MemoryRegion key() {
        return key;
    }

    /**
     * Changes the rights: when this returns, removed rights cannot be used any more. No copy of either end may use the
     * memory meanwhile.
     *
     * @throws VerbsException errors of the provider; the rights are unchanged then
     */
    synchronized void change(int access) throws VerbsException {
        MemoryRegion old = key;
        if (reregisters || closed) { // which rejects a closed region
            old.reregister(MemoryRegion.CHANGE_ACCESS, null, null, access);
            return;
        }
        MemoryRegion fresh = pd.register(old.segment(), access);
        try {
            old.close();
        } catch (VerbsException | RuntimeException | Error e) {
            fresh.close();
            throw e;
        }
        key = fresh;
    }

    /** Revokes all access and releases the memory; may be called again. */
    synchronized void close() throws VerbsException {
        closed = true;
        key.close();
        MemoryRegion last = backing;
        if (last != null) {
            last.close();
        }
        MemoryHold.release(held);
        held = null;
    }
}
