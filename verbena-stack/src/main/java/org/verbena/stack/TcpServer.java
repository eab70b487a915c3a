// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.tcp.Connection;
import org.verbena.stack.tcp.Listener;

/** A port of a {@link Stack} at which connections are accepted. Any thread may call any method. */
public final class TcpServer implements AutoCloseable, Engine.Sleeper {
    private final Engine engine;
    private final Listener listener;
    private final Condition arrival;
    private boolean closed;

    TcpServer(Engine engine, Listener listener) {
        this.engine = engine;
        this.listener = listener;
        arrival = engine.lock.newCondition();
        listener.onArrival(arrival::signal);
    }

    /** The port. */
    public int port() {
        return listener.port();
    }

    /** How many connections wait to be accepted. */
    int waiting() {
        engine.lock.lock();
        try {
            return listener.ready();
        } finally {
            engine.lock.unlock();
        }
    }

    /**
     * Waits for a connection; any of several threads gets it.
     *
     * @param timeout 0 for a single look
     * @return null if none has come in time
     * @throws ClosedChannelException if this or the stack is closed
     */
    public @Nullable TcpSocket accept(Duration timeout) throws IOException {
        long left = Engine.nanos(timeout);
        long began = left == 0 ? 0 : engine.now(); // as in UdpSocket.receive
        engine.lock.lock();
        try {
            for (int i = 0;; i++) {
                if (closed) {
                    throw new ClosedChannelException();
                }
                engine.requireOpen();
                Connection c = listener.accept();
                if (c != null) {
                    return engine.add(new TcpSocket(engine, c));
                }
                if (!engine.await(arrival, began, left, i)) {
                    return null;
                }
            }
        } finally {
            engine.lock.unlock();
        }
    }

    /** Gives the port back, and resets connections that nobody has accepted. Calls that wait throw {@link ClosedChannelException}. */
    @Override
    public void close() throws IOException {
        engine.lock.lock();
        try {
            if (!closed) {
                closed = true;
                engine.remove(this);
                arrival.signalAll();
                if (engine.isOpen()) {
                    listener.close(engine.now());
                    engine.touched();
                }
            }
        } finally {
            engine.lock.unlock();
        }
    }

    @Override
    public void wake() {
        arrival.signalAll();
    }
}
