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
record Handshake(int version, int queuePair, int features, long accepted, long connected, int notices,
        int asyncNotices, int regions) {
    static final int BYTES = 40;
    static final int VERSION = 1;
    /** The oldest version that is still understood. */
    static final int OLDEST = 1;
    static final int COPIES = 0;
    static final int CONTROL = 1;
    /** A feature: regions may change, {@link Messages#HOLD} and {@link Messages#UPDATE}. */
    static final int UPDATES = 1;

    private static final int MOST_NOTICES = 1 << 20;

    /** What this end says. */
    static Handshake ours(int queuePair, long accepted, long connected) {
        return new Handshake(VERSION, queuePair, UPDATES, accepted, connected, Leeway.USUAL.notices(), Leeway.USUAL
                .asyncNotices(), Limits.REGIONS);
    }

    /** Whether the sender can be told that a region changes. */
    boolean knowsUpdates() {
        return (features & UPDATES) != 0;
    }

    byte[] bytes() {
        return ByteBuffer.allocate(BYTES).putInt(OtherEnd.MAGIC).put((byte) version).put((byte) queuePair)
                .putShort((short) features).putLong(accepted).putLong(connected).putInt(notices).putInt(asyncNotices)
                .putInt(regions).putInt(0).array();
    }

    /** What was said, perhaps with zeros behind it, as it comes through a kernel; null if it makes no sense. */
    static @Nullable Handshake of(byte[] said) {
        ByteBuffer b = ByteBuffer.wrap(said);
        if (said.length < BYTES || b.getInt(0) != OtherEnd.MAGIC) {
            return null;
        }
        Handshake h = new Handshake(b.get(4) & 0xff, b.get(5), b.getShort(6) & 0xffff, b.getLong(8), b.getLong(16), b
                .getInt(24), b.getInt(28), b.getInt(32));
        return h.isSane() ? h : null;
    }

    private boolean isSane() {
        return (queuePair == COPIES || queuePair == CONTROL) && notices > 0 && notices <= MOST_NOTICES
                && asyncNotices > 0 && asyncNotices <= MOST_NOTICES && regions > 0;
    }
}
