// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.concurrent.atomic.AtomicBoolean;

import org.verbena.linux.Membarrier;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.spi.Engine;

/** What the {@link Engine} does for a queue pair whose sends wait, as long as the application does not do it. */
final class Attendance implements Engine.Waiting {
    private final ShmQueuePair qp;
    private final Engine engine;
    private final ShmSendQueue sendQueue;
    /** Address of the word that asks the peer to ring when it posts a receive. */
    private final long starvingWord;

    private final AtomicBoolean lookedAfter = new AtomicBoolean();
    private final Object starvingLock = new Object();
    private volatile boolean starving;
    /** The engine's: the application has gone on with what waits since the last tick. */
    private boolean applicationPolls;

    Attendance(ShmQueuePair qp, Engine engine, ShmSendQueue sendQueue, long starvingWord) {
        this.qp = qp;
        this.engine = engine;
        this.sendQueue = sendQueue;
        this.starvingWord = starvingWord;
    }

    boolean isLookedAfter() {
        return lookedAfter.get();
    }

    /** Something waits, or has failed: the engine goes on with it if the application does not. */
    void lookAfter() {
        if (lookedAfter.compareAndSet(false, true)) {
            engine.startPolling(this);
        } else {
            // it may sleep because what waited before had asked the peer for a bell
            engine.pollAgain();
        }
    }

    /** A send that waited for a receive waits no more. */
    void fed() {
        if (starving) {
            setStarving(false);
        }
    }

    /** Another wait for a receive is about to begin, at another queue perhaps: nobody there has been told yet. */
    void startAnew() {
        synchronized (starvingLock) {
            if (starving) {
                starving = false;
                RawMemory.putLongRelease(starvingWord, 0);
            }
        }
    }

    /** Whether the peer is to ring when it posts a receive; the flag and the word that the peer reads never differ. */
    private void setStarving(boolean on) {
        synchronized (starvingLock) {
            if (!on || sendQueue.waitsForReceive()) {
                starving = on;
                RawMemory.putLongRelease(starvingWord, on ? 1 : 0);
                if (on) {
                    sendQueue.setPoolStarving(); // after our own word, which is looked for then
                }
            }
        }
    }

    @Override
    public boolean wake() {
        if (qp.isClosed()) {
            lookedAfter.set(false);
            return true;
        }
        // an application that polls goes on by itself, and two at one queue only take its lines from each other
        applicationPolls = sendQueue.applicationLooked();
        if (sendQueue.isPending() && (isInError() || starving || !applicationPolls)) {
            sendQueue.progress();
        }
        long connection = qp.linkIdentity(); // first: what follows may be about the next one already
        boolean failed = isInError();
        if (hasWork() || failed && (!qp.peerHasLeft() || qp.receiveSide().isTaking())) {
            return false;
        }
        if (failed) {
            qp.receiveCompletionQueue().signal(qp, true);
            qp.leftForGood(connection);
        }
        lookedAfter.set(false);
        // a request may have begun to wait, or the queue pair may have failed, just before the flag was cleared
        return !hasWork() && (failed || !isInError()) || !lookedAfter.compareAndSet(false, true);
    }

    private boolean isInError() {
        return qp.state() == QueuePairState.ERR;
    }

    /** True if a send waits for something that may come; what is held back in SQD does not. */
    private boolean hasWork() {
        return sendQueue.isPending() && (qp.state() != QueuePairState.SQD || qp.isDraining());
    }

    @Override
    public boolean tick() {
        if (applicationPolls) {
            return true;
        }
        if (!starving && sendQueue.waitsForReceive()) {
            setStarving(true);
            Membarrier.ownProcess();
            sendQueue.progress();
            if (!sendQueue.waitsForReceive()) {
                setStarving(false);
            }
            return true;
        }
        return !starving || !sendQueue.waitsForEver();
    }
}
