// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.linux.Membarrier;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.Link;

/**
 * Whether the peer has left a queue pair whose link was withdrawn. A peer that was in the middle of a transfer then may
 * still write; until it has left, or is given up, nothing of the queue pair is used for something else.
 *
 * <p>Time alone decides nothing: a peer that is given up, see {@link Link#GIVEN_UP}, finds that when it goes on, and does not
 * take for received what it commits then.
 */
final class PeerDeparture {
    private final QueuePairLifecycle qp;
    /** Of the link that was withdrawn last. */
    private volatile Look latest = new Look(false);

    /** What the peer touched when a link was withdrawn. A later one has another: what is learned late of this one is not taken for that. */
    final class Look {
        private long hazardThen;
        private long since;
        /** False from the moment that the link is about to be withdrawn until it is known what the peer touched then. */
        private volatile boolean settled;
        private volatile boolean left;

        private Look(boolean left) {
            this.left = left;
        }

        /** The link is withdrawn: finds out what the peer touches still. */
        void settle() {
            Membarrier.ownProcess();
            hazardThen = qp.peer().hazard();
            since = System.nanoTime();
            settled = true;
        }

        /** Waits until the peer has left; answers false if it does not. */
        boolean await() {
            settle();
            long end = System.nanoTime() + Hazard.PATIENCE_NANOS;
            while (!hasLeft()) {
                if (System.nanoTime() - end > 0) {
                    return false;
                }
                Thread.onSpinWait();
            }
            return true;
        }

        private boolean isOver() {
            if (!settled) {
                return false;
            }
            if (!hasLeft()) {
                if (System.nanoTime() - since <= Hazard.PATIENCE_NANOS) {
                    return false;
                }
                qp.own().giveUp();
            }
            return true;
        }

        private boolean hasLeft() {
            if (!left) {
                long h = qp.peer().hazard();
                if (h == 0 || h != hazardThen) {
                    if (qp.peer().isDead()) {
                        qp.own().giveUp(); // it may be its session alone that has ended
                    }
                    left = true;
                }
            }
            return left;
        }
    }

    PeerDeparture(QueuePairLifecycle qp) {
        this.qp = qp;
    }

    /** A new connection begins. */
    void nobodyLeft() {
        latest = new Look(false);
    }

    /** The link is about to be withdrawn. */
    Look begins() {
        Look l = new Look(latest.left);
        latest = l;
        return l;
    }

    /** True if the peer has left, or had time enough to and is given up. */
    boolean isOver() {
        return latest.isOver();
    }
}
