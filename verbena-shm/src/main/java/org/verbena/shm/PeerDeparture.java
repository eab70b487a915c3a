// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.linux.Membarrier;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.Link;

/**
 * Whether the peer has left a queue pair whose link was withdrawn. A peer that was in the middle of a transfer then may
 * still write; until it has left, or is given up, no part of the queue pair is reused.
 *
 * <p>Time alone does not decide: a peer that is given up, see {@link Link#GIVEN_UP}, finds that when it resumes, and does not
 * report as received what it commits then.
 */
final class PeerDeparture {
    private final QueuePairBase qp;
    /** Of the link that was withdrawn last. */
    private volatile Withdrawal latest = new Withdrawal(false);

    /** One withdrawal of a link, and the peer's hazard word at that time: a late result of an earlier one is not taken for that of a later. */
    final class Withdrawal {
        private long hazardThen;
        private long since;
        /** False from just before the link is withdrawn until the peer's hazard word has been read. */
        private volatile boolean captured;
        private volatile boolean left;

        private Withdrawal(boolean left) {
            this.left = left;
        }

        /** The link is withdrawn: reads the peer's hazard word. */
        void capture() {
            Membarrier.ownProcess();
            hazardThen = qp.peer().hazard();
            since = System.nanoTime();
            captured = true;
        }

        /** Waits until the peer has left; false on timeout. */
        boolean await() {
            capture();
            long end = System.nanoTime() + Hazard.TIMEOUT_NANOS;
            while (!hasLeft()) {
                if (System.nanoTime() - end > 0) {
                    return false;
                }
                Thread.onSpinWait();
            }
            return true;
        }

        private boolean isOver() {
            if (!captured) {
                return false;
            }
            if (!hasLeft()) {
                if (System.nanoTime() - since <= Hazard.TIMEOUT_NANOS) {
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
                        qp.own().giveUp(); // perhaps only its session has ended, and not its process
                    }
                    left = true;
                }
            }
            return left;
        }
    }

    PeerDeparture(QueuePairBase qp) {
        this.qp = qp;
    }

    /** A new connection begins. */
    void connected() {
        latest = new Withdrawal(false);
    }

    /** The link is about to be withdrawn. */
    Withdrawal begin() {
        Withdrawal w = new Withdrawal(latest.left);
        latest = w;
        return w;
    }

    /** True if the peer has left, or has exceeded the timeout and is given up. */
    boolean isOver() {
        return latest.isOver();
    }
}
