package org.verbena.shm;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.verbena.linux.Membarrier;

/**
 * Waits until nobody touches something that has been invalidated, see {@link Hazard}. Whoever starts after the barrier
 * sees the invalidation; whoever is inside shows it by its word, and is out when the word has changed.
 */
final class Revocation {
    /** A peer gets this long to leave before it is taken for stopped. */
    static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private Revocation() {
    }

    /** Waits for all to leave a region; answers the queue pairs whose peers did not. */
    static List<ShmQueuePair> revoke(Collection<ShmQueuePair> queuePairs, Region region) {
        Membarrier.globalExpedited();
        List<Inside> inside = new ArrayList<>();
        for (ShmQueuePair qp : queuePairs) {
            long own = qp.ownHazard();
            if (own != 0) {
                inside.add(new Inside(qp, own, true));
            }
            long peer = qp.peerHazard();
            int what = Hazard.what(peer);
            if (what == Hazard.RECEIVES || what == Hazard.region(region.key)) {
                inside.add(new Inside(qp, peer, false));
            }
        }
        long end = System.nanoTime() + PATIENCE_NANOS;
        for (int round = 0; !inside.isEmpty(); round++) {
            inside.removeIf(Inside::hasLeft);
            if (System.nanoTime() - end > 0 && inside.stream().noneMatch(Inside::own)) {
                return inside.stream().map(Inside::qp).toList();
            }
            if (round < 100) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(50_000);
            }
        }
        return List.of();
    }

    private record Inside(ShmQueuePair qp, long word, boolean own) {
        boolean hasLeft() {
            return (own ? qp.ownHazard() : qp.peerHazard()) != word;
        }
    }
}
