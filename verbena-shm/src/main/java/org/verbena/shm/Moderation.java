// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.concurrent.TimeUnit;

import org.verbena.shm.layout.ArmWord;
import org.verbena.verbs.spi.Engine;

/**
 * Moderated events of a completion queue: whoever completes something for an armed queue rings the engine of the queue's
 * owner, once, and the engine watches until enough completions are there or time is over. So unmoderated queues know
 * nothing of it. While it watches the engine ticks, and a period is good to a tick; if only a count is waited for and
 * nothing comes, it arms the queue anew and sleeps.
 *
 * <p>All but {@link #set} and {@link #armed} runs on the engine's thread.
 */
public final class Moderation implements Engine.Waiting {
    private static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final ShmCompletionQueue cq;
    private volatile int count;
    private volatile long periodNanos;
    /** Completions at the time of the arming. */
    private volatile long base;

    /** The arming that is looked at. */
    private long watched;
    private boolean watching;
    private boolean wantsTick;
    private long firstSeen;
    private long lastCount;
    private long lastChange;

    Moderation(ShmCompletionQueue cq) {
        this.cq = cq;
    }

    void set(int completions, int periodMicros) {
        count = completions;
        periodNanos = TimeUnit.MICROSECONDS.toNanos(periodMicros);
    }

    /** True if events have to wait for something. */
    boolean isOn() {
        return count > 1 || count == 0 && periodNanos > 0;
    }

    /** The queue is being armed, after so many completions. */
    void armed(long completions) {
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
            look(word);
        } else {
            watching = false;
        }
        return false;
    }

    private void look(long word) {
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
        // fewer than at the beginning: a queue pair has gone, or was reset, and nobody knows how many it had
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
            wantsTick = cq.completions() - base != n; // it came before anybody could see the new word
        }
    }

    @Override
    public boolean tick() {
        return wantsTick;
    }
}
