// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** The two ends of one session, in one process: what the engine makes of two processes, or of one. */
final class SessionPair implements AutoCloseable {
    final Session a;
    final Session b;
    /** How often a WRITE did not complete at once. */
    final AtomicInteger busy = new AtomicInteger();
    final Context contextOfA;
    private final Context contextOfB;

    /** Both in one context, as the ends of a process that connects to itself. */
    static SessionPair ofOne() throws VerbsException {
        Context context = Verbs.open("shm0");
        return new SessionPair(context, context);
    }

    /** Each in its own, as those of two processes. */
    static SessionPair ofTwo() throws VerbsException {
        return new SessionPair(Verbs.open("shm0"), Verbs.open("shm0"));
    }

    private SessionPair(Context contextOfA, Context contextOfB) throws VerbsException {
        this.contextOfA = contextOfA;
        this.contextOfB = contextOfB;
        a = new Session(contextOfA, 1, contextOfA.createCompletionChannel(), busy::incrementAndGet, 1 << 28);
        b = new Session(contextOfB, 2, contextOfB.createCompletionChannel(), busy::incrementAndGet, 1 << 28);
        try (ConnectionListener listener = contextOfB.connectionManager()
                .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            CompletableFuture<Connection> connected = CompletableFuture.supplyAsync(() -> {
                try {
                    return contextOfA.connectionManager().connect(a.queuePair(), listener.localAddress(),
                            ConnectionParameters.defaults());
                } catch (VerbsException e) {
                    throw new IllegalStateException(e);
                }
            });
            Connection accepted = listener.awaitRequest(Duration.ofSeconds(60)).accept(b.queuePair(),
                    ConnectionParameters.defaults());
            a.connected(connected.join(), b.header().address(), b.header().rkey());
            b.connected(accepted, a.header().address(), a.header().rkey());
        }
    }

    @Override
    public void close() throws VerbsException {
        a.close();
        b.close();
        contextOfA.close();
        contextOfB.close();
    }
}
