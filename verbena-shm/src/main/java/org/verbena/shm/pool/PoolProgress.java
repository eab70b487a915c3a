// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Membarrier;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.Hazard;
import org.verbena.verbs.spi.Engine;

/**
 * The engine's work for a pool: reports that its limit is reached, wakes initiators that wait for receives, and recovers
 * receives whose initiator will not use them.
 *
 * <p>An initiator claims inside a {@link Hazard} and, before it leaves, has committed an entry or published that it holds the
 * claim. So when all that were inside have left once, an earlier claim that is neither held nor committed nor completed
 * has no owner.
 */
final class PoolProgress implements Engine.Waiting {
    private final OwnPool pool;
    private final Engine engine;
    private final OwnPool.Owner owner;
    private volatile boolean recoveryWanted;
    private boolean brokenReported;
    /** The receives that were claimed when recovery began; null if there is none. */
    private long @Nullable [] candidates;
    private final List<Inside> inside = new ArrayList<>();
    private final RecoveryRateLimiter limiter = new RecoveryRateLimiter(System.nanoTime());

    private record Inside(PoolUser user, long hazard) {}

    PoolProgress(OwnPool pool, Engine engine, OwnPool.Owner owner) {
        this.pool = pool;
        this.engine = engine;
        this.owner = owner;
    }

    void start() {
        engine.startPolling(this);
    }

    /** Has the engine poll the pool soon. */
    void requestProgress() {
        engine.pollAgain();
    }

    void recover() {
        recoveryWanted = true;
        requestProgress();
    }

    @Override
    public boolean wake() {
        synchronized (pool) { // closing releases the memory that is written here
            return pool.isClosed() || progress();
        }
    }

    private boolean progress() {
        if (!pool.receives().check()) {
            if (!brokenReported) {
                brokenReported = true;
                owner.broken();
            }
            return false;
        }
        if (pool.takeLimitReached()) {
            owner.limitReached();
        }
        if (pool.isStarving()) {
            serveStarving();
        }
        if (pool.takeLost()) {
            recoveryWanted = true;
        }
        continueRecovery();
        return false;
    }

    @Override
    public boolean tick() {
        // a failed pool recovers no receive
        return (candidates != null || recoveryWanted) && !pool.receives().isBroken();
    }

    private void serveStarving() {
        pool.setStarving(false); // before the check: an initiator that begins to wait now sets it again
        if (wakeStarving()) {
            pool.setStarving(true);
            Membarrier.ownProcess(); // the poster reads that word after it has posted
            wakeStarving();
        }
    }

    /** Wakes waiting initiators, if there are receives; whether any waits. */
    private boolean wakeStarving() {
        boolean some = false;
        for (PoolUser u : pool.users()) {
            if (u.isStarving()) {
                some = true;
                if (pool.receives().available() > 0) {
                    u.wake();
                }
            }
        }
        return some;
    }

    private void continueRecovery() {
        if (candidates == null && !recoveryWanted) {
            return;
        }
        long start = System.nanoTime();
        if (!limiter.mayContinue(start)) {
            return;
        }
        long[] all = candidates;
        if (all == null) {
            recoveryWanted = false;
            all = beginRecovery();
            candidates = all;
            limiter.spent(System.nanoTime() - start);
        }
        inside.removeIf(i -> i.user.hazard() != i.hazard);
        if (!inside.isEmpty() || pool.hasStoppedUser()) { // a user of the start of the recovery may be a stopped one by now
            return;
        }
        start = System.nanoTime();
        if (finishRecovery(all)) {
            candidates = null;
        }
        long end = System.nanoTime();
        limiter.spent(end - start);
        limiter.pause(end);
    }

    private long[] beginRecovery() {
        pool.forgetGone();
        ReceivePool r = pool.receives();
        long claimed = r.claimed();
        long[] all = r.outstanding();
        int n = 0;
        for (long c : all) {
            if (Claim.isBefore(c, claimed)) {
                all[n++] = c;
            }
        }
        for (PoolUser u : pool.users()) {
            long h = u.hazard();
            if (h != 0) {
                inside.add(new Inside(u, h));
            }
        }
        return Arrays.copyOf(all, n);
    }

    /** Recovers receives without an owner; false if one has to wait for the reader of the inbox. */
    private boolean finishRecovery(long[] all) {
        ReceivePool r = pool.receives();
        InboxReader reader = pool.reader();
        ClaimOwners owners = new ClaimOwners(r);
        pool.users().forEach(owners::collect);
        for (long c : all) {
            if (r.isOutstanding(c) && !owners.isOwned(c) && (reader == null || !reader.isUnread(c))) {
                if (reader != null && !r.mayRepost(reader.at())) {
                    return false;
                }
                if (r.finish(c)) {
                    r.repost(Claim.slot(c));
                }
            }
        }
        if (pool.isStarving()) {
            serveStarving();
        }
        return true;
    }
}
