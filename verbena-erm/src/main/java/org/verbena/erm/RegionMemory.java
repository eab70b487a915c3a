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
 * The memory of a {@link LocalRegion} as verbs have it: the key that copies use, whose rights can be changed. A provider that
 * reregisters keeps the key. By any other the memory gets a second key, and loses the first; memory that goes with its key, as
 * allocated memory does, has one more there, that gives the other end nothing. The arena of memory that the application has
 * cannot be closed before this.
 */
final class RegionMemory {
    private final ProtectionDomain pd;
    private final boolean reregisters;
    /** Has the memory; null if the application has it, or {@link #key} does. */
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
            return null; // to register it says so
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

    /** By what copies name it; {@link #change} may change it. */
    synchronized MemoryRegion key() {
        return key;
    }

    /**
     * Gives it other rights: when this returns nobody can use those that it has lost. No copy of either end uses it meanwhile.
     *
     * @throws VerbsException what the provider says; the rights are as before then
     */
    synchronized void change(int access) throws VerbsException {
        MemoryRegion old = key;
        if (reregisters || closed) { // which refuses it for what is closed
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

    /** Takes it away from everybody; may be called again. */
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
