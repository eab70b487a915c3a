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

/** The two ends of one session, in one process: what the engine makes of two processes. */
final class SessionPair implements AutoCloseable {
    final Session a;
    final Session b;
    /** How often a WRITE did not complete at once. */
    final AtomicInteger busy = new AtomicInteger();
    private final Context context;

    SessionPair() throws VerbsException {
        context = Verbs.open("shm0");
        a = new Session(context, 1, context.createCompletionChannel(), busy::incrementAndGet, 1 << 28);
        b = new Session(context, 2, context.createCompletionChannel(), busy::incrementAndGet, 1 << 28);
        try (ConnectionListener listener = context.connectionManager()
                .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            CompletableFuture<Connection> connected = CompletableFuture.supplyAsync(() -> {
                try {
                    return context.connectionManager().connect(a.queuePair(), listener.localAddress(),
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
        context.close();
    }
}
