// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.CommonsLayout;
import org.verbena.shm.layout.Hazard;

/**
 * How initiators take receives out of a pool: the one that advances {@code next} from a position has the receive that is
 * posted there. Used by one thread at a time, inside a {@link Hazard}, by which the owner recovers the claims of a process
 * that died.
 */
public final class PoolClaims {
    /** After this number of lost races the attempt fails, and the caller tries again later: a peer may write endlessly. */
    private static final int TRIES = 64;

    private final long posted;
    private final long next;
    private final long lost;
    private final long ring;
    private final long mask;
    private final int slots;
    private long left;
    private boolean lossSeen;

    /**
     * Makes one.
     *
     * @param entry address of the pool's directory entry
     * @param line address of the pool's lines in the commons
     * @param ring address of its ring
     * @param entries the most slots there are, a power of two
     */
    public PoolClaims(long entry, long line, long ring, int entries) {
        this.posted = entry + AdapterLayout.POOL_POSTED;
        this.next = line + CommonsLayout.NEXT;
        this.lost = line + CommonsLayout.LOST;
        this.ring = ring;
        this.mask = 2L * entries - 1;
        this.slots = entries;
    }

    /** Takes the oldest receive; {@link Claim#NONE} if there is none. */
    public long claim() {
        for (int i = 0; i < TRIES; i++) {
            long n = RawMemory.getLongAcquire(next);
            long p = RawMemory.getLongAcquire(posted);
            if (n < 0 || n >= p) {
                return Claim.NONE;
            }
            if (RawMemory.compareAndSetLong(next, n, n + 1)) {
                long c = RawMemory.getLongAcquire(ring + ((n & mask) << 3));
                if (Claim.isOf(c, n) && Claim.slot(c) < slots) {
                    left = p - n - 1;
                    return c;
                }
                // this process was not scheduled for a whole round of the ring
                lose();
                lossSeen = true;
            }
        }
        return Claim.NONE;
    }

    /** Reports a lost claim to the owner. */
    void lose() {
        RawMemory.putLongVolatile(lost, 1);
    }

    /** True once after claims were lost: the owner is to be woken. */
    boolean takeLoss() {
        boolean seen = lossSeen;
        lossSeen = false;
        return seen;
    }

    /** How many receives were left when the last claim succeeded. */
    long left() {
        return left;
    }

    /** True if a receive can be claimed. */
    boolean isAvailable() {
        return RawMemory.getLongAcquire(next) < RawMemory.getLongAcquire(posted);
    }
}
