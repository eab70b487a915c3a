package org.verbena.shm;

import org.verbena.linux.Membarrier;

/**
 * Whether the peer has left a queue pair whose link was withdrawn. A peer that was in the middle of a transfer then may
 * still write; until it has left, or had time enough, nothing of the queue pair is used for something else.
 */
final class PeerDeparture {
    private final ShmQueuePair qp;
    /** Of the link that was withdrawn last. */
    private volatile Look latest = new Look();
    private volatile boolean left;

    /** What the peer touched when a link was withdrawn. A later one has another: what is learned late of this one is not taken for that. */
    final class Look {
        private long hazardThen;
        private long since;
        /** False from the moment that the link is about to be withdrawn until it is known what the peer touched then. */
        private volatile boolean settled;

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
            long end = System.nanoTime() + Revocation.PATIENCE_NANOS;
            while (!hasLeft()) {
                if (System.nanoTime() - end > 0) {
                    return false;
                }
                Thread.onSpinWait();
            }
            return true;
        }

        private boolean isOver() {
            return settled && (hasLeft() || System.nanoTime() - since > Revocation.PATIENCE_NANOS);
        }

        private boolean hasLeft() {
            if (!left) {
                long h = qp.peer().hazard();
                left = h == 0 || h != hazardThen;
            }
            return left;
        }
    }

    PeerDeparture(ShmQueuePair qp) {
        this.qp = qp;
    }

    /** A new connection begins. */
    void nobodyLeft() {
        left = false;
    }

    /** The link is about to be withdrawn. */
    Look begins() {
        Look l = new Look();
        latest = l;
        return l;
    }

    void peerDied() {
        left = true;
    }

    /** True if the peer has left, or had time enough to. */
    boolean isOver() {
        return latest.isOver();
    }
}
