// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.VerbsException;

/** A memory window as the application sees it. */
final class RoceMemoryWindow extends MemoryWindow {
    private final RoceContext context;
    private final Window window;

    RoceMemoryWindow(RoceContext context, RoceProtectionDomain pd, Window window) throws VerbsException {
        super(pd, window.type);
        this.context = context;
        this.window = window;
        ContextLock lock = context.lock();
        lock.lock();
        context.keys().put(window);
        lock.unlock();
        opened();
    }

    Window window() {
        return window;
    }

    boolean isOf(RoceContext c) {
        return c == context;
    }

    @Override
    public int rkey() {
        return window.rkey();
    }

    @Override
    public String describe() {
        return "MW 0x" + Integer.toHexString(window.rkey()) + " of " + context.describe();
    }

    @Override
    protected void implClose() {
        ContextLock lock = context.lock();
        lock.lock();
        window.unbind();
        context.keys().remove(window);
        lock.unlock();
        context.keys().freeKey(window.rkey());
    }
}
