// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.spi.PeerRendezvous;

/**
 * The private data with which the ends of a connection connect their queue pairs, as {@link HandshakeLayout} draws it.
 *
 * @param version the sender's
 * @param features supported by the sender
 * @param queuePair {@link #COPIES} or {@link #CONTROL}
 * @param acceptorToken token of the end that was accepted
 * @param connectorToken token of the end that connected
 * @param credits initial credits: remote completions that the sender's program may leave unpolled
 * @param asyncCredits likewise for asynchronous copies
 * @param regions limit of regions that the sender accepts
 */
record Handshake(int version, int queuePair, int features, long acceptorToken, long connectorToken, int credits,
        int asyncCredits, int regions) {
    static final int VERSION = 1;
    /** The oldest version that is still supported. */
    static final int MIN_VERSION = 1;
    static final int COPIES = 0;
    static final int CONTROL = 1;
    /** A feature: regions may change by {@link Messages#HOLD} and {@link Messages#UPDATE}. */
    static final int UPDATES = 1;

    private static final int MAX_CREDITS = 1 << 20;

    /** The private data of this end. */
    static Handshake own(int queuePair, long accepted, long connected) {
        return new Handshake(VERSION, queuePair, UPDATES, accepted, connected, CreditLimit.DEFAULT.completions(),
                CreditLimit.DEFAULT
                        .asyncCompletions(), Limits.REGIONS);
    }

    /** Whether the sender supports updates of regions. */
    boolean supportsUpdates() {
        return (features & UPDATES) != 0;
    }

    byte[] bytes() {
        ByteBuffer b = ByteBuffer.allocate(HandshakeLayout.BYTES);
        b.putInt(HandshakeLayout.MAGIC, PeerRendezvous.MAGIC);
        b.put(HandshakeLayout.VERSION, (byte) version);
        b.put(HandshakeLayout.QUEUE_PAIR, (byte) queuePair);
        b.putShort(HandshakeLayout.FEATURES, (short) features);
        b.putLong(HandshakeLayout.ACCEPTOR_TOKEN, acceptorToken);
        b.putLong(HandshakeLayout.CONNECTOR_TOKEN, connectorToken);
        b.putInt(HandshakeLayout.CREDITS, credits);
        b.putInt(HandshakeLayout.ASYNC_CREDITS, asyncCredits);
        b.putInt(HandshakeLayout.REGIONS, regions);
        return b.array(); // what is reserved is 0
    }

    /** Parses private data, perhaps padded with zeros by a kernel; null if it is invalid. */
    static @Nullable Handshake parse(byte[] privateData) {
        ByteBuffer b = ByteBuffer.wrap(privateData);
        if (privateData.length < HandshakeLayout.BYTES || b.getInt(HandshakeLayout.MAGIC) != PeerRendezvous.MAGIC) {
            return null;
        }
        Handshake h = new Handshake(b.get(HandshakeLayout.VERSION) & 0xff, b.get(HandshakeLayout.QUEUE_PAIR),
                b.getShort(HandshakeLayout.FEATURES) & 0xffff, b.getLong(HandshakeLayout.ACCEPTOR_TOKEN),
                b.getLong(HandshakeLayout.CONNECTOR_TOKEN), b.getInt(HandshakeLayout.CREDITS),
                b.getInt(HandshakeLayout.ASYNC_CREDITS), b.getInt(HandshakeLayout.REGIONS));
        return h.isValid() ? h : null;
    }

    private boolean isValid() {
        return (queuePair == COPIES || queuePair == CONTROL) && credits > 0 && credits <= MAX_CREDITS
                && asyncCredits > 0 && asyncCredits <= MAX_CREDITS && regions > 0;
    }
}
