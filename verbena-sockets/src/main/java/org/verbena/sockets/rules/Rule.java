// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.LongAdder;

import org.jspecify.annotations.Nullable;

/** One {@code use} line. Its counters are thread-safe, all else is immutable. */
public final class Rule {
    private final Transport transport;
    private final Role role;
    private final Endpoints first;
    private final Endpoints second;
    private final @Nullable String counter;
    private final @Nullable String device;
    private final boolean atOnce;
    private final Place place;
    private final LongAdder hits = new LongAdder();

    /** Where a statement was written. */
    public record Place(String source, int line, int column, String text) {
        @Override
        public String toString() {
            return source + ":" + line + ": " + text;
        }
    }

    Rule(Transport transport, Role role, Endpoints first, Endpoints second, @Nullable String counter,
            @Nullable String device, boolean atOnce, Place place) {
        this.transport = transport;
        this.role = role;
        this.first = first;
        this.second = second;
        this.counter = counter;
        this.device = device;
        this.atOnce = atOnce;
        this.place = place;
    }

    /** What it asks for. */
    public Transport transport() {
        return transport;
    }

    /** What sockets it is for. */
    public Role role() {
        return role;
    }

    /** The name of the counter that it raises, which several rules may share; null if it names none. */
    public @Nullable String counter() {
        return counter;
    }

    /** The device by which peers on other hosts are reached; null if TCP reaches them. */
    public @Nullable String device() {
        return device;
    }

    /** Whether connections take rings at once, rather than when they have carried enough. */
    public boolean isAtOnce() {
        return atOnce;
    }

    /** Where it was written. */
    public Place place() {
        return place;
    }

    /** How many sockets it has decided in this process. */
    public long hits() {
        return hits.sum();
    }

    void hit() {
        hits.increment();
    }

    boolean matches(@Nullable InetSocketAddress local, @Nullable InetSocketAddress remote) {
        if (transport == Transport.GONE || !first.matches(role.isRemoteFirst() ? remote : local)) {
            return false;
        }
        return !role.hasSecond() || second.matches(local);
    }

    /** Whether it would match this remote address, and its local address has to be compared as well. */
    boolean asksForLocal(@Nullable InetSocketAddress remote) {
        return transport != Transport.GONE && role.hasSecond() && !second.equals(Endpoints.ALL) && first.matches(
                remote);
    }

    /** Whether nothing is left for {@code later}, a rule of the same role after this one. */
    boolean covers(Rule later) {
        return transport != Transport.GONE && first.covers(later.first)
                && (!role.hasSecond() || second.covers(later.second));
    }

    @Override
    public String toString() {
        return place.toString();
    }
}
