// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Membarrier;
import org.verbena.linux.spi.RawMemory;

/**
 * Waits until nobody touches something that has been invalidated, see {@link Hazard}. Whoever starts after the barrier
 * sees the invalidation; whoever is inside shows it by its word, and is out when the word has changed.
 */
final class Revocation {
    /** A peer gets this long to leave before it is taken for stopped. */
    static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private Revocation() {}

    /** Waits for all to leave regions, see {@link #of}, whose keys have been taken away; answers those who did not. */
    static List<Inside> revoke(Collection<ShmQueuePair> queuePairs, Collection<PoolGuest> guests,
            Collection<Inside> lingering, Set<Integer> regions) {
        Membarrier.ownProcess();
        List<Inside> inside = new ArrayList<>();
        for (Inside i : lingering) {
            if (i.isIn(regions)) {
                inside.add(i);
            }
        }
        for (PoolGuest g : guests) {
            Inside peer = Inside.guest(g);
            if (peer.isIn(regions)) {
                inside.add(peer);
            }
        }
        for (ShmQueuePair qp : queuePairs) {
            long own = qp.own().hazard();
            if (own != 0) {
                inside.add(new Inside(qp, qp.linkIdentity(), null, 0, own));
            }
            Session s = qp.session();
            if (s != null) {
                Inside peer = Inside.peerOf(qp, s);
                if (peer.isIn(regions)) {
                    inside.add(peer);
                }
            }
        }
        long end = System.nanoTime() + PATIENCE_NANOS;
        for (int round = 0; !inside.isEmpty(); round++) {
            inside.removeIf(Inside::hasLeft);
            if (System.nanoTime() - end > 0 && inside.stream().noneMatch(Inside::own)) {
                return inside;
            }
            if (round < 100) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(50_000);
            }
        }
        return List.of();
    }

    /** Regions as hazards name them, see {@link Hazard#region}. */
    static Set<Integer> of(Collection<Region> regions) {
        return regions.stream().map(r -> Hazard.region(r.key)).collect(Collectors.toSet());
    }

    /**
     * Somebody inside a transfer of a queue pair: this process, or its peer.
     *
     * @param qp our queue pair; null for a {@link PoolGuest}
     * @param connection that our queue pair was in then, see {@link Link}
     * @param session the peer's session; null for this process
     * @param peerEntry address of the peer's directory entry
     * @param word the hazard word that was seen
     */
    record Inside(@Nullable ShmQueuePair qp, long connection, @Nullable Session session, long peerEntry, long word) {
        /** The peer of a queue pair, as it is now. */
        static Inside peerOf(ShmQueuePair qp, Session s) {
            long entry = qp.peer().address(s);
            return new Inside(qp, qp.linkIdentity(), s, entry, RawMemory.getLongAcquire(entry
                    + AdapterLayout.QP_HAZARD));
        }

        /** A guest, as it is now. */
        static Inside guest(PoolGuest g) {
            return new Inside(null, 0, g.session(), g.entry(), g.word());
        }

        /** It does not leave: our queue pair, if one is concerned, fails. */
        void fail(String reason) {
            if (qp != null) {
                qp.enterError(connection, reason, -1);
            }
        }

        boolean own() {
            return session == null;
        }

        /** True if one of these regions may be touched; who fills receives may be in any. */
        boolean isIn(Set<Integer> regions) {
            int what = Hazard.what(word);
            return what == Hazard.RECEIVES || regions.contains(what);
        }

        String peer() {
            return session == null ? "this process" : session.peerName();
        }

        /** True if the word has changed since, or the peer's process has ended. */
        boolean hasLeft() {
            if (session == null) {
                return qp == null || qp.own().hazard() != word;
            }
            return word == 0 || RawMemory.getLongAcquire(peerEntry + AdapterLayout.QP_HAZARD) != word
                    || session.isGone();
        }
    }
}
