// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.roce.cm.CmConnection;
import org.verbena.roce.cm.CmMessage;
import org.verbena.roce.cm.CmUser;
import org.verbena.roce.cm.PrivateData;
import org.verbena.roce.cm.RejectReason;
import org.verbena.verbs.ConnectionRejectedException;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.VerbsException;

/**
 * One end of a connection: receives the connection manager's events, under the context's lock, and has threads wait for
 * them. Each event completes a future, or is left to the engine, which may take the lock again.
 */
final class ConnectionEnd implements CmUser {
    private final RoceContext context;
    private final String verb;
    final boolean active;
    /** The REP, or on the passive side null when the peer is ready. */
    private final CompletableFuture<CmMessage.@Nullable Rep> answer = new CompletableFuture<>();
    private volatile @Nullable RoceConnection connection;
    private volatile @Nullable String endedBecause;
    @Nullable CmConnection cm;

    ConnectionEnd(RoceContext context, String verb, boolean active) {
        this.context = context;
        this.verb = verb;
        this.active = active;
    }

    /** Waits for the peer's reply. */
    CmMessage.@Nullable Rep await(Duration timeout) throws VerbsException {
        try {
            return answer.get(TimeUnit.NANOSECONDS.convert(timeout), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof VerbsException why) {
                throw why;
            }
            throw new AssertionError(e);
        } catch (TimeoutException e) {
            throw timeout();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VerbsException(verb, Errno.EINTR, "the thread was interrupted");
        }
    }

    private VerbsException timeout() {
        return new VerbsException(verb, Errno.ETIMEDOUT, active
                ? "the peer has not accepted yet"
                : "the peer is not ready yet");
    }

    /** Sets the connection that is notified when the peer ends it; at once, if the peer already has. */
    void setConnection(RoceConnection c) {
        connection = c;
        String reason = endedBecause;
        if (reason != null) {
            c.ended(reason);
        }
    }

    @Override
    public void replied(CmMessage.Rep reply) {
        answer.complete(reply);
    }

    @Override
    public void established() {
        answer.complete(null);
    }

    @Override
    public void rejected(int reason, PrivateData data) {
        context.count(SamplePoint.DEVICE_REJECTS);
        String text = RejectReason.toString(reason);
        ended(text, active
                ? new ConnectionRejectedException(verb, reason, data.bytes(), text)
                : new VerbsException(verb, Errno.ECONNRESET, text));
    }

    @Override
    public void timedOut() {
        ended("the peer does not respond", timeout());
    }

    @Override
    public void disconnected() {
        ended("the peer disconnected", new VerbsException(verb, Errno.ECONNRESET, "the peer disconnected"));
    }

    private void ended(String reason, VerbsException why) {
        endedBecause = reason;
        answer.completeExceptionally(why);
        RoceConnection c = connection;
        if (c != null) {
            context.engine().submit(() -> c.ended(reason));
        }
    }
}
