// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Membarrier;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.Link;
import org.verbena.shm.layout.Peer;

/**
 * Waits until an invalidated object is not accessed any more, see {@link Hazard}. An initiator that starts after the barrier
 * sees the invalidation; one that is inside shows it by its word, and has left when the word has changed.
 */
public final class Revocation {
    private Revocation() {}

    /** Waits for all to leave regions, see {@link #of}, whose keys have been invalidated; returns those that did not. */
    static List<Inside> revoke(Collection<? extends MemoryUser> queuePairs, Collection<Inside> unconnectedUsers,
            Collection<Inside> stoppedPeers, Set<Integer> regions) {
        Membarrier.ownProcess();
        List<Inside> inside = new ArrayList<>();
        for (Inside i : stoppedPeers) {
            if (i.isIn(regions)) {
                inside.add(i);
            }
        }
        for (Inside peer : unconnectedUsers) {
            if (peer.isIn(regions)) {
                inside.add(peer);
            }
        }
        for (MemoryUser qp : queuePairs) {
            long own = qp.ownHazard();
            if (own != 0) {
                inside.add(new Inside(qp, qp.linkIdentity(), null, 0, own));
            }
            Peer p = qp.connectedPeer();
            if (p != null) {
                Inside peer = Inside.peerOf(qp, p);
                if (peer.isIn(regions)) {
                    inside.add(peer);
                }
            }
        }
        long end = System.nanoTime() + Hazard.TIMEOUT_NANOS;
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
     * An initiator inside a transfer of a queue pair: this process, or its peer.
     *
     * @param qp our queue pair; null for one of the peer that is not connected to one of ours
     * @param connection that our queue pair was in then, see {@link Link}
     * @param peer null for this process
     * @param peerEntry address of the peer's directory entry
     * @param word the hazard word that was seen
     */
    public record Inside(@Nullable MemoryUser qp, long connection, @Nullable Peer peer, long peerEntry, long word) {
        /** The peer of a queue pair, as it is now. */
        public static Inside peerOf(MemoryUser qp, Peer p) {
            long entry = p.mapping().base() + AdapterLayout.qpEntry(qp.peerNumber());
            return new Inside(qp, qp.linkIdentity(), p, entry, RawMemory.getLongAcquire(entry
                    + AdapterLayout.QP_HAZARD));
        }

        /** It does not leave: our queue pair, if one is concerned, fails. */
        void fail(String reason) {
            if (qp != null) {
                qp.enterError(connection, reason, -1);
            }
        }

        boolean own() {
            return peer == null;
        }

        /** True if one of these regions may be accessed; an initiator that fills receives may access any. */
        boolean isIn(Set<Integer> regions) {
            int what = Hazard.what(word);
            return what == Hazard.RECEIVES || regions.contains(what);
        }

        String name() {
            return peer == null ? "this process" : peer.name();
        }

        /** True if the word has changed since, or the peer's process has ended. */
        public boolean hasLeft() {
            if (peer == null) {
                return qp == null || qp.ownHazard() != word;
            }
            return word == 0 || RawMemory.getLongAcquire(peerEntry + AdapterLayout.QP_HAZARD) != word
                    || peer.isGone();
        }
    }
}
