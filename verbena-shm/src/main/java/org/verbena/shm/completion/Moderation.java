// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.completion;

import java.util.concurrent.TimeUnit;

import org.verbena.shm.layout.ArmWord;
import org.verbena.verbs.spi.Engine;

/**
 * Moderated events of a completion queue: the first completion for an armed queue wakes the engine of the queue's
 * owner, and the engine counts until there are enough completions or the period is over. So unmoderated queues are not
 * affected. Meanwhile the engine ticks, and a period is accurate to a tick; if only a count is awaited and
 * no completion comes, it arms the queue again and sleeps.
 *
 * <p>All but {@link #set} and {@link #armed} runs on the engine's thread.
 */
public final class Moderation implements Engine.Waiting {
    /** The completion queue whose events are moderated; called on the engine's thread. */
    public interface Queue {
        boolean isClosed();

        /** Completions so far, polled or not; fewer after a queue pair was reset or has gone. */
        long completions();

        /** The arm word if the queue is armed, moderated, and has no event yet; else 0. */
        long moderatedWord();

        /** True if a completion was signalled for that arm word. */
        boolean wasNotified(long word);

        /** Raises the event of an arming, unless another has replaced that meanwhile. */
        void raise(long word);

        /** Arms for the next completion once more; returns the new arm word. */
        long armAgain(long word);
    }

    private static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final Queue cq;
    private volatile int count;
    private volatile long periodNanos;
    /** Completions at the time of the arming. */
    private volatile long base;

    /** The arming that is being watched. */
    private long watched;
    private boolean watching;
    private boolean wantsTick;
    private long firstSeen;
    private long lastCount;
    private long lastChange;

    public Moderation(Queue cq) {
        this.cq = cq;
    }

    public void set(int completions, int periodMicros) {
        count = completions;
        periodNanos = TimeUnit.MICROSECONDS.toNanos(periodMicros);
    }

    /** True if events are moderated. */
    public boolean isOn() {
        return count > 1 || count == 0 && periodNanos > 0;
    }

    /** The queue is being armed, after {@code completions} of them. */
    public void armed(long completions) {
        base = completions;
    }

    @Override
    public boolean wake() {
        if (cq.isClosed()) {
            return true;
        }
        wantsTick = false;
        long word = cq.moderatedWord();
        if (word != 0) {
            check(word);
        } else {
            watching = false;
        }
        return false;
    }

    private void check(long word) {
        if (!ArmWord.isSame(watched, word)) {
            watched = word;
            watching = false;
        }
        if (!watching && !cq.wasNotified(word)) {
            return;
        }
        long time = System.nanoTime();
        long n = cq.completions() - base;
        if (!watching) {
            watching = true;
            firstSeen = time;
            lastCount = n;
            lastChange = time;
        }
        long period = periodNanos;
        int enough = count;
        boolean over = period > 0 && time - firstSeen >= period;
        // fewer than at the beginning: a queue pair has gone, or was reset, and the number of its completions is unknown
        if (!isOn() || over || enough > 0 && n >= enough || n < 0) {
            watching = false;
            cq.raise(word);
            return;
        }
        wantsTick = true;
        if (n != lastCount) {
            lastCount = n;
            lastChange = time;
        } else if (period == 0 && time - lastChange > QUIET_NANOS) {
            watched = cq.armAgain(word);
            lastChange = time;
            wantsTick = cq.completions() - base != n; // it came before the new word could be seen
        }
    }

    @Override
    public boolean tick() {
        return wantsTick;
    }
}
