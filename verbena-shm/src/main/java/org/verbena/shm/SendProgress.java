// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.concurrent.atomic.AtomicBoolean;

import org.verbena.linux.Membarrier;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.spi.Engine;

/** The {@link Engine}'s work for a queue pair whose sends wait, as long as the application does not poll. */
final class SendProgress implements Engine.Waiting {
    private final QueuePairBase qp;
    private final Engine engine;
    private final ShmSendQueue sendQueue;
    /** Address of the word that asks the peer to ring when it posts a receive. */
    private final long starvingWord;

    private final AtomicBoolean requested = new AtomicBoolean();
    private final Object starvingLock = new Object();
    private volatile boolean starving;
    /** The engine's: the application has made progress with the waiting sends since the last tick. */
    private boolean applicationPolls;

    SendProgress(QueuePairBase qp, Engine engine, ShmSendQueue sendQueue, long starvingWord) {
        this.qp = qp;
        this.engine = engine;
        this.sendQueue = sendQueue;
        this.starvingWord = starvingWord;
    }

    boolean isRequested() {
        return requested.get();
    }

    /** A send waits, or the queue pair has failed: the engine makes progress if the application does not. */
    void requestProgress() {
        if (requested.compareAndSet(false, true)) {
            engine.startPolling(this);
        } else {
            // the engine may sleep because an earlier wait had requested a doorbell from the peer
            engine.pollAgain();
        }
    }

    /** A send no longer waits for a receive. */
    void receiveWaitEnded() {
        if (starving) {
            setStarving(false);
        }
    }

    /** Another wait for a receive is about to begin, perhaps at another queue, whose owner does not know of it yet. */
    void restartReceiveWait() {
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
                    sendQueue.setPoolStarving(); // after our own word, which the owner then reads
                }
            }
        }
    }

    @Override
    public boolean wake() {
        if (qp.isClosed()) {
            requested.set(false);
            return true;
        }
        // an application that polls makes progress itself, and two threads at one queue only take its lines from each other
        applicationPolls = sendQueue.applicationPolled();
        if (sendQueue.isPending() && (isInError() || starving || !applicationPolls)) {
            sendQueue.progress();
        }
        long connection = qp.linkIdentity(); // first: the checks below may already concern the next connection
        boolean failed = isInError();
        if (hasWork() || failed && (!qp.peerHasLeft() || qp.isPollInProgress())) {
            return false;
        }
        if (failed) {
            qp.wakePollers();
            qp.lastWqeReached(connection);
        }
        requested.set(false);
        // a request may have begun to wait, or the queue pair may have failed, just before the flag was cleared
        return !hasWork() && (failed || !isInError()) || !requested.compareAndSet(false, true);
    }

    private boolean isInError() {
        return qp.state() == QueuePairState.ERR;
    }

    /** True if a send waits for an event that may come; a send held back in SQD does not. */
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
        return !starving || !sendQueue.waitsIndefinitely();
    }
}
