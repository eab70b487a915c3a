// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.spi.OtherEnd;

/**
 * The private data by which the ends of a connection get their queue pairs: 40 bytes each way, big-endian.
 *
 * <pre>
 *  0  int    {@link OtherEnd#MAGIC}
 *  4  byte   version, 1
 *  5  byte   queue pair: 0 copies, 1 control
 *  6  short  features: bit 0 {@link #UPDATES}; unknown ones are not used
 *  8  long   number that the end that was accepted has said
 * 16  long   number that the end that connected has said
 * 24  int    notices that the sender's program may leave unseen, of copies; 28 of asynchronous copies
 * 32  int    regions that the sender takes note of, 36 int 0
 * </pre>
 *
 * @param version the sender's
 * @param features it knows
 * @param queuePair {@link #COPIES} or {@link #CONTROL}
 * @param accepted number that the end that was accepted has said
 * @param connected number that the end that connected has said
 * @param notices that the sender's program may leave unseen
 * @param asyncNotices the same of asynchronous copies
 * @param regions that the sender takes note of
 */
record Handshake(int version, int queuePair, int features, long acceptorToken, long connectorToken, int credits,
        int asyncCredits, int regions) {
    static final int BYTES = 40;
    static final int VERSION = 1;
    /** The oldest version that is still understood. */
    static final int MIN_VERSION = 1;
    static final int COPIES = 0;
    static final int CONTROL = 1;
    /** A feature: regions may change, {@link Messages#HOLD} and {@link Messages#UPDATE}. */
    static final int UPDATES = 1;

    private static final int MAX_CREDITS = 1 << 20;

    /** What this end says. */
    static Handshake own(int queuePair, long accepted, long connected) {
        return new Handshake(VERSION, queuePair, UPDATES, accepted, connected, CreditLimit.DEFAULT.completions(),
                CreditLimit.DEFAULT
                        .asyncCompletions(), Limits.REGIONS);
    }

    /** Whether the sender can be told that a region changes. */
    boolean supportsUpdates() {
        return (features & UPDATES) != 0;
    }

    byte[] bytes() {
        return ByteBuffer.allocate(BYTES).putInt(OtherEnd.MAGIC).put((byte) version).put((byte) queuePair)
                .putShort((short) features).putLong(acceptorToken).putLong(connectorToken).putInt(credits).putInt(
                        asyncCredits)
                .putInt(regions).putInt(0).array();
    }

    /** What was said, perhaps with zeros behind it, as it comes through a kernel; null if it makes no sense. */
    static @Nullable Handshake parse(byte[] privateData) {
        ByteBuffer b = ByteBuffer.wrap(privateData);
        if (privateData.length < BYTES || b.getInt(0) != OtherEnd.MAGIC) {
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
