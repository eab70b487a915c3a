// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.model.TcpSettings;

/** A port at which connections are accepted (LISTEN of RFC 9293). */
public final class Listener {
    final TcpPorts ports;
    final TcpSettings settings;
    final int port;
    final int backlog;
    /** Connections whose peers have not answered yet. */
    int half;
    /** When a SYN was answered with a cookie last, if one was. */
    long cookieAt;
    boolean hasCookies;
    private final ArrayDeque<Connection> ready = new ArrayDeque<>();
    private Runnable arrival = Listener::nobody;

    Listener(TcpPorts ports, TcpSettings settings, int port, int backlog) {
        this.ports = ports;
        this.settings = settings;
        this.port = port;
        this.backlog = backlog;
    }

    private static void nobody() {}

    /** The port. */
    public int port() {
        return port;
    }

    /** Has {@code r} called when a connection may be accepted. */
    public void onArrival(Runnable r) {
        arrival = r;
    }

    boolean isFull() {
        return ready.size() > backlog; // one more than it says, as listen(2) has it
    }

    void add(Connection c) {
        c.queued = true;
        ready.add(c);
        ports.tcpCounts.accepted++;
        arrival.run();
    }

    void remove(Connection c) {
        ready.remove(c);
    }

    /** How many may be accepted. */
    public int ready() {
        return ready.size();
    }

    /** The next connection; null if there is none. */
    public @Nullable Connection accept() {
        Connection c = ready.poll();
        if (c != null) {
            c.listener = null;
        }
        return c;
    }

    /** Takes no more, and resets those that nobody has accepted. */
    public void close(long now) throws IOException {
        arrival = Listener::nobody;
        ports.forget(this);
        ready.clear();
        List<Connection> mine = new ArrayList<>();
        ports.forEach(c -> {
            if (c.listener == this) {
                mine.add(c);
            }
        });
        for (Connection c : mine) {
            c.listener = null;
            c.abort(now);
        }
    }
}
