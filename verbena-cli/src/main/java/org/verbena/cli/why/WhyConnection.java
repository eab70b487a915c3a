// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.why;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * A connection of a process. Immutable.
 *
 * @param local its address
 * @param remote that of the other end
 * @param role {@code client} or {@code server}; empty if it is not known
 * @param state of {@link org.verbena.sockets.SocketState}; empty if it is not Verbena's
 * @param reason why TCP carries it, as statistics have it; empty if none is known
 * @param since when it was made; null if it is not known
 * @param device that carries its rings to another host; empty if none does
 * @param bytes that it has carried, both ways; -1 if that is not known
 */
record WhyConnection(String local, String remote, String role, String state, Carrier carrier, String reason,
        @Nullable Instant since, String device, long bytes, @Nullable WhyRule rule, @Nullable WhyPeer peer) {

    /** What carries it. */
    enum Carrier {
        /** Both directions. */
        RING("by rings"),
        /** One direction, so far or since the other one has ended. */
        RING_AND_TCP("one way by a ring, the other by TCP"),
        /** The handshake decides. */
        UNDECIDED("by TCP, being decided"),
        /** TCP is about to connect it. */
        CONNECTING("being connected"),
        /** Verbena has it, and TCP carries it. */
        TCP("by TCP"),
        /** Verbena does not have it. */
        NOT_VERBENA("by TCP, not Verbena's");

        private final String words;

        Carrier(String words) {
            this.words = words;
        }

        String words() {
            return words;
        }
    }

    /** The two addresses, ours first. */
    String ends() {
        return local + " > " + remote;
    }

    /** What connections have in common that are told in one place. */
    Group group() {
        return new Group(carrier, reason, role, role.equals("server") ? local : remote, peer, rule);
    }

    /** @param server the address of the end that was connected to, as far as known */
    record Group(Carrier carrier, String reason, String role, String server, @Nullable WhyPeer peer,
            @Nullable WhyRule rule) {}
}
