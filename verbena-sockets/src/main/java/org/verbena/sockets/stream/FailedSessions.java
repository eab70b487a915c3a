// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.verbena.sockets.stream.memory.StreamLog;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.VerbsException;

/** Sessions that have died, until their last connection is gone. For the engine's thread. */
final class FailedSessions {
    /** The time in which TCP may report the end. */
    private static final long TCP_END_NANOS = 600_000_000L;

    private final StreamEngine engine;
    private final CompletionChannel events;
    private final Consumer<Session> onFailure;
    private final List<Session> failed = new ArrayList<>();

    /**
     * @param events of the sessions' queue pairs
     * @param whenDead called with each, once
     */
    FailedSessions(StreamEngine engine, CompletionChannel events, Consumer<Session> whenDead) {
        this.engine = engine;
        this.events = events;
        this.onFailure = whenDead;
    }

    /** Takes what was noticed: deaths, and calls of the peers. */
    void poll() {
        try {
            CompletionQueue cq;
            while ((cq = events.await(Duration.ZERO)) != null) {
                if (cq.userContext() instanceof Session session && !session.answerProgressRequests() && !failed
                        .contains(session)) {
                    session.fail();
                    onFailure.accept(session);
                    failed.add(session);
                    engine.at(System.nanoTime() + TCP_END_NANOS, () -> breakOff(session));
                }
            }
        } catch (VerbsException e) {
            StreamLog.warn("deaths of other processes go unnoticed: " + e.getMessage());
        }
    }

    /** TCP has had time to report the end; threads that still wait are woken now. */
    private static void breakOff(Session session) {
        session.streams().all().forEach(RingStream::breakOff);
    }

    /** Closes those that have no connection any more. */
    void closeFailed() {
        failed.removeIf(session -> {
            if (session.streams().size() > 0) {
                return false;
            }
            Sessions.close(session);
            return true;
        });
    }

    boolean areAny() {
        return !failed.isEmpty();
    }
}
