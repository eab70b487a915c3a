package org.verbena.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Finds what was committed into an {@link Inbox}, in the order of positions as far as that is known: a position that was
 * claimed and is not committed yet is passed over, for whoever claimed it may be stopped, and is looked at again. Before
 * a later one is taken, those passed over are looked at once more: what one sender commits is found in its order. Used by
 * one thread at a time.
 */
final class InboxReader {
    private static final VarHandle AT;

    static {
        try {
            AT = MethodHandles.lookup().findVarHandle(InboxReader.class, "at", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ReceivePool pool;
    private final long base;
    /** All positions before this one have been found or passed over. */
    private long at;
    /** Claims that were passed over, the oldest first. */
    private final long[] passed;
    private int passedCount;

    InboxReader(ReceivePool pool, long base, int entries) {
        this.pool = pool;
        this.base = base;
        passed = new long[entries];
    }

    /** Address of the entry of a claim. */
    long entry(long claim) {
        return Inbox.entry(base, claim);
    }

    /** The claim of the oldest receive that was completed, taken out of the pool; {@link Claim#NONE} if there is none. */
    long next() {
        long p = at;
        long posted = pool.posted();
        if (p < posted) {
            long c = pool.at(p);
            if (passedCount == 0 && isCommitted(c)) { // the usual case
                AT.setOpaque(this, p + 1);
                if (pool.finish(c)) {
                    return c;
                }
            }
            passOver(posted);
        }
        return passedCount == 0 ? Claim.NONE : takePassed();
    }

    /** Goes on to the first position that is committed, or not claimed. */
    private void passOver(long posted) {
        long claimed = Math.min(pool.claimed(), posted);
        while (at < claimed && passedCount < passed.length) {
            long c = pool.at(at);
            AT.setOpaque(this, at + 1);
            passed[passedCount++] = c;
            if (isCommitted(c)) {
                return;
            }
        }
    }

    private long takePassed() {
        int kept = 0;
        long found = Claim.NONE;
        for (int i = 0; i < passedCount; i++) {
            long c = passed[i];
            if (found == Claim.NONE && isCommitted(c) && pool.finish(c)) {
                found = c;
            } else if (pool.isOutstanding(c)) { // else it was brought back, because its sender died
                passed[kept++] = c;
            }
        }
        passedCount = kept;
        return found;
    }

    private boolean isCommitted(long claim) {
        return Inbox.isCommitted(entry(claim), claim);
    }

    /** How far positions were looked at; any thread. */
    long at() {
        return (long) AT.getOpaque(this);
    }

    /** How many receives were completed and not taken yet, as far as positions were not looked at; any thread. */
    long waiting() {
        long end = pool.claimed();
        long n = 0;
        for (long p = Math.max(at(), end - passed.length); p < end; p++) {
            if (isUnread(pool.at(p))) {
                n++;
            }
        }
        return n;
    }

    /** True if the receive of a claim was completed and has not been taken yet; any thread. */
    boolean isUnread(long claim) {
        return isCommitted(claim);
    }
}
