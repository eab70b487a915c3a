// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.verbena.shm.layout.Claim;
import org.verbena.shm.ring.Inbox;

/**
 * Finds the entries committed into an {@link Inbox}, in the order of positions as far as possible: a position that was
 * claimed and is not committed yet is skipped, for its initiator may be stopped, and is checked again. Before
 * a later one is taken, skipped ones are checked once more: entries of one sender are found in order. Used by
 * one thread at a time.
 */
public final class InboxReader {
    private static final VarHandle AT;
    private static final VarHandle BEHIND;
    private static final long NOTHING = Long.MAX_VALUE;

    static {
        try {
            AT = MethodHandles.lookup().findVarHandle(InboxReader.class, "at", long.class);
            BEHIND = MethodHandles.lookup().findVarHandle(InboxReader.class, "behind", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ReceivePool pool;
    private final long base;
    /** All positions before this one have been found or skipped. */
    private long at;
    /** Claims that were skipped, the oldest first. */
    private final long[] passed;
    private int passedCount;
    /** The position of the first of them. */
    @SuppressWarnings("unused") // BEHIND
    private long behind = NOTHING;

    InboxReader(ReceivePool pool, long base, int entries) {
        this.pool = pool;
        this.base = base;
        passed = new long[entries];
    }

    /** Address of the entry of a claim. */
    public long entry(long claim) {
        return Inbox.entry(base, claim);
    }

    /** The claim of the oldest receive that was completed, taken out of the pool; {@link Claim#NONE} if there is none. */
    public long next() {
        long p = at;
        long posted = pool.posted();
        if (p < posted) {
            long c = pool.at(p);
            if (passedCount == 0 && isUnread(c)) { // the common case
                if (!pool.isClaimed(c)) {
                    pool.fail(); // a peer completes a receive that another may still claim
                    return Claim.NONE;
                }
                AT.setOpaque(this, p + 1);
                if (pool.finish(c)) {
                    return c;
                }
            }
            passOver(posted);
        }
        return passedCount == 0 ? Claim.NONE : takePassed();
    }

    /** Continues to the first position that is committed, or not claimed. */
    private void passOver(long posted) {
        long claimed = Math.min(pool.claimed(), posted);
        while (at < claimed && passedCount < passed.length) {
            long c = pool.at(at);
            AT.setOpaque(this, at + 1);
            if (passedCount == 0) {
                BEHIND.setOpaque(this, Claim.position(c));
            }
            passed[passedCount++] = c;
            if (isUnread(c)) {
                return;
            }
        }
    }

    private long takePassed() {
        int kept = 0;
        long found = Claim.NONE;
        for (int i = 0; i < passedCount; i++) {
            long c = passed[i];
            if (found == Claim.NONE && isUnread(c) && pool.finish(c)) {
                found = c;
            } else if (pool.isOutstanding(c)) { // else it was recovered, because its sender died
                passed[kept++] = c;
            }
        }
        passedCount = kept;
        BEHIND.setOpaque(this, kept == 0 ? NOTHING : Claim.position(passed[0]));
        return found;
    }

    /** The next position to check; any thread. */
    long at() {
        return (long) AT.getOpaque(this);
    }

    /** How many receives were completed and not taken yet; any thread, and only a hint while another one polls. */
    public long waiting() {
        long end = pool.claimed();
        long first = Math.min(at(), (long) BEHIND.getOpaque(this));
        long n = 0;
        for (long p = Math.max(first, end - 2L * passed.length); p < end; p++) {
            long c = pool.at(p);
            if (isUnread(c) && pool.isOutstanding(c)) {
                n++;
            }
        }
        return n;
    }

    /** True if the receive of a claim was completed, according to its entry; any thread. */
    boolean isUnread(long claim) {
        return Inbox.isCommitted(entry(claim), claim);
    }
}
