// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.spi.PeerRendezvous;

/**
 * The private data with which the ends of a connection connect their queue pairs: 40 bytes each way, big-endian.
 *
 * <pre>
 *  0  int    {@link PeerRendezvous#MAGIC}
 *  4  byte   version, 1
 *  5  byte   queue pair: 0 copies, 1 control
 *  6  short  features: bit 0 {@link #UPDATES}; unknown ones are not used
 *  8  long   token of the end that was accepted
 * 16  long   token of the end that connected
 * 24  int    initial credits for the remote completions of copies; 28 of asynchronous copies
 * 32  int    limit of regions that the sender accepts; 36 int 0
 * </pre>
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
    static final int BYTES = 40;
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
        return ByteBuffer.allocate(BYTES).putInt(PeerRendezvous.MAGIC).put((byte) version).put((byte) queuePair)
                .putShort((short) features).putLong(acceptorToken).putLong(connectorToken).putInt(credits).putInt(
                        asyncCredits)
                .putInt(regions).putInt(0).array();
    }

    /** Parses private data, perhaps padded with zeros by a kernel; null if it is invalid. */
    static @Nullable Handshake parse(byte[] privateData) {
        ByteBuffer b = ByteBuffer.wrap(privateData);
        if (privateData.length < BYTES || b.getInt(0) != PeerRendezvous.MAGIC) {
            return null;
        }
        Handshake h = new Handshake(b.get(4) & 0xff, b.get(5), b.getShort(6) & 0xffff, b.getLong(8), b.getLong(16), b
                .getInt(24), b.getInt(28), b.getInt(32));
        return h.isValid() ? h : null;
    }

    private boolean isValid() {
        return (queuePair == COPIES || queuePair == CONTROL) && credits > 0 && credits <= MAX_CREDITS
                && asyncCredits > 0 && asyncCredits <= MAX_CREDITS && regions > 0;
    }
}
