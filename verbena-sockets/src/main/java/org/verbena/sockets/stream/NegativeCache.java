// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;

import org.jspecify.annotations.Nullable;

/**
 * Remembers that no peer was found on another host: for a while connections to there are not offered rings. For a whole
 * host, or one port of it. For one thread at a time.
 */
final class NegativeCache {
    /** How long it is believed. */
    static final long NANOS = 60_000_000_000L;
    /** The number of peers that are remembered; the eldest goes first. */
    static final int MAX_ENTRIES = 1024;

    private record Refusal(FallbackReason reason, long until) {}

    private final LinkedHashMap<InetSocketAddress, Refusal> all = new LinkedHashMap<>();

    /** The host has no peer. */
    void host(InetAddress host, FallbackReason reason, long now) {
        put(new InetSocketAddress(host, 0), reason, now);
    }

    /** No peer there serves that port. */
    void port(InetSocketAddress server, FallbackReason reason, long now) {
        put(server, reason, now);
    }

    private void put(InetSocketAddress where, FallbackReason reason, long now) {
        all.remove(where);
        all.put(where, new Refusal(reason, now + NANOS));
        if (all.size() > MAX_ENTRIES) {
            all.pollFirstEntry();
        }
    }

    /** Why no peer is to be asked; null if one is. */
    @Nullable
    FallbackReason reason(InetSocketAddress server, long now) {
        FallbackReason host = at(new InetSocketAddress(server.getAddress(), 0), now);
        return host == null ? at(server, now) : host;
    }

    private @Nullable FallbackReason at(InetSocketAddress where, long now) {
        Refusal refusal = all.get(where);
        if (refusal != null && now - refusal.until >= 0) {
            all.remove(where);
            return null;
        }
        return refusal == null ? null : refusal.reason;
    }

    /** The host has a peer. */
    void forget(InetAddress host) {
        all.keySet().removeIf(where -> where.getAddress().equals(host));
    }
}
