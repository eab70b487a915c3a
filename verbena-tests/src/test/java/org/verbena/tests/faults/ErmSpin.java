// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.time.Duration;

import org.verbena.erm.CopyFlags;
import org.verbena.erm.CopyQueue;
import org.verbena.erm.EventQueue;
import org.verbena.erm.EventType;
import org.verbena.erm.RemoteMemory;
import org.verbena.verbs.WcStatus;

/**
 * A thread of an {@link ErmPeer}, called "spinner", that exchanges copies with that of the other end: it polls for the
 * completion of its copy and for the event of the other, and optionally sleeps if there is none yet.
 */
final class ErmSpin {
    private static final int BYTES = 64;
    /** Polls in each round that find nothing, of both kinds. */
    private static final int POLLS = 100;
    private static final Duration LONG = Duration.ofSeconds(60);

    private final RemoteMemory memory;
    private final CopyQueue copies;
    private final EventQueue events;
    private final int from;
    private final int to;
    private final boolean sleeps;
    private volatile long rounds;

    ErmSpin(RemoteMemory memory, int from, int to, boolean sleeps) {
        this.memory = memory;
        copies = memory.copies();
        events = memory.events();
        this.from = from;
        this.to = to;
        this.sleeps = sleeps;
    }

    /** @param begins whether this end copies first */
    void start(boolean begins) {
        Thread.ofPlatform().daemon().name("spinner").start(() -> {
            try {
                run(begins);
            } catch (InterruptedException | RuntimeException e) {
                if (memory.isOpen()) {
                    e.printStackTrace(); // the test prints it when this process has ended
                    Runtime.getRuntime().halt(1);
                }
            }
        });
    }

    /** Copies that were done, completed, and answered. */
    long rounds() {
        return rounds;
    }

    private void run(boolean begins) throws InterruptedException {
        long n = 0;
        if (begins) {
            copy(n);
        }
        while (true) {
            for (int i = 0; i < POLLS; i++) {
                if (copies.poll()) {
                    throw new IllegalStateException("a completion of nothing");
                }
            }
            awaitEvent();
            copy(++n);
            rounds = n;
        }
    }

    private void copy(long number) throws InterruptedException {
        int error = copies.copy(from, 0, to, 0, BYTES, CopyFlags.REMOTE_COMPLETION, number);
        if (error != 0) {
            throw new IllegalStateException("copy: error " + error + " " + memory.endReason());
        }
        while (!copies.poll()) {
            pause(RemoteMemory.COMPLETIONS);
        }
        if (copies.status() != WcStatus.SUCCESS || copies.context() != number) {
            throw new IllegalStateException(WcStatus.toString(copies.status()) + " of " + copies.context());
        }
    }

    private void awaitEvent() throws InterruptedException {
        while (!events.poll()) {
            pause(RemoteMemory.EVENTS);
        }
        if (events.type() != EventType.COPIED || events.length() != BYTES || events.userData() != 0) {
            throw new IllegalStateException(EventType.toString(events.type()) + " of " + events.length() + " with "
                    + events.userData());
        }
    }

    private void pause(int what) throws InterruptedException {
        if (sleeps) {
            memory.await(what, LONG);
        } else {
            Thread.onSpinWait();
        }
    }
}
