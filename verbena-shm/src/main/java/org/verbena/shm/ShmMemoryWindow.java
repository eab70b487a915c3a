// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.shm.layout.ShmLimits;
import org.verbena.shm.memory.Memories;
import org.verbena.shm.memory.Window;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.VerbsException;

/** A memory window as the application sees it. */
final class ShmMemoryWindow extends MemoryWindow {
    private final Memories memories;
    private final Window window;

    ShmMemoryWindow(Memories memories, ProtectionDomain pd, Window window) throws VerbsException {
        super(pd, window.type);
        this.memories = memories;
        this.window = window;
        opened();
    }

    /** The data path's view. */
    Window window() {
        return window;
    }

    @Override
    public int rkey() {
        return window.rkey();
    }

    @Override
    public String describe() {
        return "MW 0x" + Integer.toHexString(window.rkey()) + " of " + ShmLimits.DEVICE;
    }

    @Override
    protected void implClose() throws VerbsException {
        memories.close(describe(), window);
    }
}
