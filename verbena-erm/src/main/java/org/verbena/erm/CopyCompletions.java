// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.WcStatus;

/**
 * What has become of the copies of a {@link CopyQueue}: reads their completions, in the order of the copies, and saves those
 * that were polled while the program did not poll. Guarded by the queue's quiescence guard.
 */
final class CopyCompletions {
    private static final int DEPTH = Limits.COPIES;
    private static final int MASK = DEPTH - 1;
    private static final VarHandle REPORTED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            REPORTED = lookup.findVarHandle(CopyCompletions.class, "reported", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final PeerLink link;
    private final CompletionQueue done;

    // copies by number, modulo DEPTH; numbers count from 0
    private final long[] contexts = new long[DEPTH];
    private final boolean[] suppressed = new boolean[DEPTH];
    /** Copies before this number have been reported, or need not be. */
    private long reported;

    // completions polled on behalf of the program while it did not poll
    private final long[] savedNumbers = new long[DEPTH];
    private final int[] savedStatuses = new int[DEPTH];
    private int savedCount;
    private int savedHead;

    private long context;
    private int status;
    private long failed;

    CopyCompletions(PeerLink link) {
        this.link = link;
        done = link.copyCompletions();
    }

    /** A copy has been posted. */
    void started(long number, long userContext, boolean unsignaled) {
        int slot = (int) number & MASK;
        contexts[slot] = userContext;
        suppressed[slot] = unsignaled;
    }

    /**
     * Advances to the next copy that is to be reported.
     *
     * @param live whether the provider may be polled; otherwise saved completions are all there is
     * @return true if there is one: {@link #context} and {@link #status} describe it
     */
    boolean next(boolean live) {
        while (true) {
            long number;
            int result;
            if (savedCount > 0) {
                number = savedNumbers[savedHead];
                result = savedStatuses[savedHead];
                savedHead = savedHead + 1 & MASK;
                savedCount--;
            } else if (live && done.startPoll() == 0) {
                number = done.wrId();
                result = done.status();
                done.endPoll();
            } else {
                return false;
            }
            if (number < reported) {
                continue; // the second request of a failed copy
            }
            REPORTED.setRelease(this, number + 1);
            int slot = (int) number & MASK;
            if (result != WcStatus.SUCCESS) {
                failed++;
                onFailure(result);
            } else if (suppressed[slot]) {
                continue;
            }
            context = contexts[slot];
            status = result;
            return true;
        }
    }

    /** Fails the link: the queue pair of a failed copy is in the error state, the other one is not. */
    private void onFailure(int result) {
        if (link.failure() == null) {
            link.fail("a copy failed: " + WcStatus.toString(result));
        }
    }

    /** Of the copy that {@link #next} found. */
    long context() {
        return context;
    }

    /** Of the copy that {@link #next} found. */
    int status() {
        return status;
    }

    /** The number before which copies have been reported; for the copying thread. */
    long reported() {
        return reported;
    }

    /** The same for any thread. */
    long reportedAcquire() {
        return (long) REPORTED.getAcquire(this);
    }

    /** Requests a notification of the next completion. */
    void requestNotify() {
        done.requestNotify(false);
    }

    /** The number before which copies have been reported or saved. */
    long savedEnd() {
        return savedCount == 0 ? reported : savedNumbers[savedHead + savedCount - 1 & MASK] + 1;
    }

    /**
     * Saves the completions that are there.
     *
     * @param posted copies that have been posted
     */
    void save(long posted) {
        while (done.startPoll() == 0) {
            save(done.wrId(), done.status(), posted);
            done.endPoll();
        }
    }

    /** Saves what is there, and has all copies that are outstanding fail. */
    void saveAll(long posted) {
        save(posted);
        while (savedEnd() < posted) {
            save(savedEnd(), WcStatus.WR_FLUSH_ERR, posted);
        }
    }

    private void save(long number, int result, long posted) {
        if (number >= savedEnd() && number < posted) {
            int at = savedHead + savedCount++ & MASK;
            savedNumbers[at] = number;
            savedStatuses[at] = result;
            if (result != WcStatus.SUCCESS) {
                onFailure(result);
            }
        }
    }

    /** Copies that have failed. */
    long failed() {
        return failed;
    }
}
