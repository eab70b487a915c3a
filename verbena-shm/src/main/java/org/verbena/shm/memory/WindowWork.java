// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Membarrier;
import org.verbena.shm.layout.Hazard;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.SendOpcode;

/**
 * The work requests that bind memory windows and invalidate their keys. They concern this process alone, and need no
 * connection; all return a status. After success the old key is not in use any more: they wait for peers inside a
 * transfer, as a rule for no time at all.
 */
public final class WindowWork {
    private WindowWork() {}

    public static int execute(WorkRequest w, MemoryUser qp, KeyTable keys) {
        return w.opcode == SendOpcode.BIND_MW ? bind(w, qp) : localInvalidate(w, qp, keys);
    }

    private static int localInvalidate(WorkRequest w, MemoryUser qp, KeyTable keys) {
        Window window = keys.window(w.rkey);
        return window != null && window.pd == qp.pdIndex() && invalidate(window, w.rkey, window.owner(), null)
                ? WcStatus.SUCCESS
                : WcStatus.LOC_QP_OP_ERR;
    }

    /** A message that arrived through {@code qp} invalidates a key; false if it had no right to. */
    public static boolean invalidateFor(MemoryUser qp, KeyTable keys, int rkey) {
        Window window = keys.window(rkey);
        return window != null && window.pd == qp.pdIndex() && invalidate(window, rkey, qp, qp.waitBudget());
    }

    /**
     * Invalidates a window's key.
     *
     * @param budget of the wait; null for the timeout of stopped peers
     */
    private static boolean invalidate(Window window, int rkey, @Nullable MemoryUser owner,
            @Nullable WaitBudget budget) {
        if (owner == null || !window.beginInvalidate(rkey, owner)) {
            return false;
        }
        window.withdraw();
        if (!hasLeft(owner, Hazard.region(rkey), budget)) {
            owner.enterError("the peer did not leave a memory window that was invalidated", -1);
            window.stick(); // the region is held until the window can be closed
            return false;
        }
        window.release();
        window.endFree();
        return true;
    }

    /** Waits for the only peer that can be inside a window of type 2; false if it does not leave. */
    private static boolean hasLeft(MemoryUser owner, int what, @Nullable WaitBudget budget) {
        Membarrier.ownProcess();
        long word = owner.peerHazard();
        if (Hazard.what(word) != what) {
            return !owner.memories().hasStoppedPeerIn(what);
        }
        long start = System.nanoTime();
        long timeout = budget == null ? Hazard.TIMEOUT_NANOS : budget.left(owner.state());
        for (int round = 0; owner.peerHazard() == word; round++) {
            long waited = System.nanoTime() - start;
            if (waited > timeout) {
                if (budget != null) {
                    budget.spend(waited);
                }
                return false;
            }
            if (round < 100) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(50_000);
            }
        }
        if (budget != null) {
            budget.spend(System.nanoTime() - start);
        }
        return !owner.memories().hasStoppedPeerIn(what); // its queue pair may have been closed meanwhile
    }

    private static int bind(WorkRequest w, MemoryUser qp) {
        Window window = w.window;
        Region r = w.region;
        w.window = null;
        w.region = null;
        if (window == null || window.pd != qp.pdIndex() || !window.beginBind()) {
            return WcStatus.MW_BIND_ERR;
        }
        boolean once = window.type == MemoryWindow.TYPE_2;
        long length = w.compare;
        int access = (int) w.swap;
        Region to = length == 0 ? null : r;
        if (to == null ? once : !mayBind(to, window, w.rkey, w.remoteAddress, length, access) || !to.bind()) {
            window.cancelBind();
            return WcStatus.MW_BIND_ERR;
        }
        if (window.region() != null && !unbind(window, qp)) {
            if (to != null) {
                to.unbind();
            }
            return WcStatus.MW_BIND_ERR;
        }
        if (to == null) {
            window.endFree();
        } else {
            window.endBound(w.rkey, to, w.remoteAddress - to.iova, length, access, once ? qp : null);
        }
        return WcStatus.SUCCESS;
    }

    private static boolean unbind(Window window, MemoryUser qp) {
        try {
            qp.memories().withdraw("a memory window that was bound anew", window);
            return true;
        } catch (VerbsException stopped) {
            window.stick();
            return false;
        }
    }

    private static boolean mayBind(Region r, Window window, int key, long at, long length, int access) {
        boolean writes = (access & (AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC)) != 0;
        return r.valid && r.pd == window.pd && r.covers(at, length) && (r.access & AccessFlags.MW_BIND) != 0
                && (!writes || (r.access & AccessFlags.LOCAL_WRITE) != 0)
                && (r.access & AccessFlags.ZERO_BASED) == 0
                && (window.type == MemoryWindow.TYPE_2 || (access & AccessFlags.ZERO_BASED) == 0)
                && key >>> 8 == window.rkey() >>> 8;
    }
}
