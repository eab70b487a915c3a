// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.io.IOException;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.WorkCompletion;

/**
 * Takes completions off one queue, one after the other. It sleeps in the queue's channel if it has one, else it spins;
 * when none has come for some time it gives up. For one thread.
 */
public final class CompletionWait {
    private static final int BATCH = 32;
    private static final int TURNS = 4096;

    private final CompletionQueue cq;
    private final @Nullable CompletionChannel channel;
    private final long limit;
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private int next;
    private int count;
    private boolean armed;
    private long events;

    public CompletionWait(CompletionQueue cq, Duration limit) {
        this.cq = cq;
        this.channel = cq.channel();
        this.limit = limit.toNanos();
    }

    /** Events of the channel so far. */
    public long events() {
        return events;
    }

    /**
     * The next completion, whatever its status; valid until the next call.
     *
     * @throws PeerException if none arrived in time
     */
    public WorkCompletion next() throws IOException {
        if (next == count) {
            next = 0;
            count = await();
        }
        return batch[next++];
    }

    @SuppressWarnings("ThreadPriorityCheck") // the peer may wait for this processor
    private int await() throws IOException {
        long start = System.nanoTime();
        for (int turn = 1;; turn++) {
            int n = cq.poll(batch);
            if (n > 0) {
                return n;
            }
            if (channel != null) {
                sleep(channel, limit - (System.nanoTime() - start));
            } else if (turn % TURNS != 0) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
                check(System.nanoTime() - start);
            }
        }
    }

    /** Arms the queue; on the next call, if the poll in between found nothing, sleeps until there is an event. */
    private void sleep(CompletionChannel c, long left) throws IOException {
        if (!armed) {
            int error = cq.requestNotify(false);
            if (error != 0) {
                throw new PeerException("the completion queue cannot be armed: error " + error);
            }
            armed = true;
        } else if (c.await(Duration.ofNanos(Math.max(0, left))) != null) {
            armed = false;
            events++;
        } else {
            check(limit - left);
        }
    }

    private void check(long waited) throws PeerException {
        if (waited >= limit) {
            throw new PeerException("the peer was silent for " + Duration.ofNanos(limit).toSeconds() + " seconds");
        }
    }
}
