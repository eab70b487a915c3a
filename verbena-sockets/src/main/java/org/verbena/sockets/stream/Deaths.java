// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.VerbsException;

/** Sessions that have died, until their last connection is gone. For the engine's thread. */
final class Deaths {
    /** In which TCP may tell of the end. */
    private static final long TELLING_NANOS = 600_000_000L;

    private final StreamEngine engine;
    private final CompletionChannel events;
    private final Consumer<Session> whenDead;
    private final List<Session> dead = new ArrayList<>();

    /**
     * @param events of the sessions' queue pairs
     * @param whenDead told of each, once
     */
    Deaths(StreamEngine engine, CompletionChannel events, Consumer<Session> whenDead) {
        this.engine = engine;
        this.events = events;
        this.whenDead = whenDead;
    }

    /** Takes what was noticed: deaths, and calls of the peers. */
    void take() {
        try {
            CompletionQueue cq;
            while ((cq = events.await(Duration.ZERO)) != null) {
                if (cq.userContext() instanceof Session session && !session.takeCalls() && !dead.contains(session)) {
                    session.fail();
                    whenDead.accept(session);
                    dead.add(session);
                    engine.at(System.nanoTime() + TELLING_NANOS, () -> breakOff(session));
                }
            }
        } catch (VerbsException e) {
            StreamEngine.warn("deaths of other processes go unnoticed: " + e.getMessage());
        }
    }

    /** TCP has had time to tell of the end; whoever still waits is told now. */
    private static void breakOff(Session session) {
        session.streams().forEach(RingStream::breakOff);
    }

    /** Closes those that have no connection any more. */
    void bury() {
        dead.removeIf(session -> {
            if (!session.streams().isEmpty()) {
                return false;
            }
            Sessions.close(session);
            return true;
        });
    }

    boolean areAny() {
        return !dead.isEmpty();
    }
}
