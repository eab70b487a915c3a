// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.rules.Decision;

/** A socket of this process that has no {@link Stream}: one that listens, or is about to be connected. Thread-safe. */
public final class OpenSocket {
    private static final Set<OpenSocket> ALL = new HashSet<>(); // and its lock

    private final long number = StreamCounters.nextNumber();
    private final long created = System.currentTimeMillis();
    private final @Nullable ServerSocketChannel listening;
    private final @Nullable SocketChannel connecting;
    private final @Nullable Decision decision;
    private final LongAdder accepted = new LongAdder();
    /** Guarded by {@link PublishedSockets}. */
    @Nullable PublishedSocket published;

    private OpenSocket(@Nullable ServerSocketChannel listening, @Nullable SocketChannel connecting,
            @Nullable Decision decision) {
        this.listening = listening;
        this.connecting = connecting;
        this.decision = decision;
        synchronized (ALL) {
            ALL.add(this);
        }
    }

    /** One that listens, until it is {@linkplain #end ended}. */
    public static OpenSocket listening(ServerSocketChannel tcp, Decision decision) {
        return new OpenSocket(tcp, null, decision);
    }

    /** One that TCP is to connect, until it is {@linkplain #end ended}: connected, or given up. */
    public static OpenSocket connecting(SocketChannel tcp) {
        return new OpenSocket(null, tcp, null);
    }

    /** It has taken a connection. */
    public void accepted() {
        accepted.increment();
    }

    /** It is no more. Idempotent. */
    public void end() {
        synchronized (ALL) {
            ALL.remove(this);
        }
    }

    /** Adds all that there are. */
    static void addAll(List<OpenSocket> to) {
        synchronized (ALL) {
            for (OpenSocket s : ALL) { // addAll has an array made of them first
                to.add(s);
            }
        }
    }

    long number() {
        return number;
    }

    /** In milliseconds since 1970. */
    long created() {
        return created;
    }

    @Nullable
    ServerSocketChannel listening() {
        return listening;
    }

    @Nullable
    SocketChannel connecting() {
        return connecting;
    }

    /** The decision of the rules; null if they were not asked. */
    @Nullable
    Decision decision() {
        return decision;
    }

    long connectionsAccepted() {
        return accepted.sum();
    }
}
