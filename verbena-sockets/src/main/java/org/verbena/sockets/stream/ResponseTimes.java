// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.SocketSamplePoint;
import org.verbena.telemetry.CounterEntry;

/**
 * How long a connection's other end takes to answer, as the client of a protocol of requests and responses sees it: from the
 * write that follows a read, or the first one, until the next read has bytes. Further writes before that belong to the same
 * request; bytes that go from a ring straight into a file are no read. One thread writes and one reads at a time, and others
 * look on.
 */
final class ResponseTimes {
    /** Whether connections have them; each has none otherwise, and asks no clock. */
    private static final boolean ON = "on".equals(System.getProperty("verbena.latency", "off"));

    /** The cells of a connection's entry from that of the first bucket on. */
    static final int BUCKETS = SocketSamplePoint.CONNECTION_RESPONSES_LONGER
            - SocketSamplePoint.CONNECTION_RESPONSES_256NS + 1;
    /** Times of fewer bits are in the first bucket, and each next one is twice as wide. */
    private static final int FIRST_BITS = 8;

    private final AtomicLongArray buckets = new AtomicLongArray(BUCKETS);
    /** When the request began; 0 while there is none. */
    private final AtomicLong since = new AtomicLong();

    /** Those of a new connection; null where they are switched off. */
    static @Nullable ResponseTimes ofNew() {
        return ON ? new ResponseTimes() : null;
    }

    /**
     * The program writes: before it does, since the answer may be there before the call returns.
     *
     * @param times null where they are off
     * @return whether a request begins with it
     */
    static boolean asks(@Nullable ResponseTimes times, Outbound out) {
        return times != null && out.isByRing() && times.asks(System.nanoTime());
    }

    boolean asks(long now) {
        if (since.getOpaque() != 0) {
            return false;
        }
        since.setOpaque(now == 0 ? 1 : now);
        return true;
    }

    /** Nothing was written by the call with which a request was to begin. */
    static void hasNotAsked(@Nullable ResponseTimes times) {
        if (times != null) {
            times.since.setOpaque(0);
        }
    }

    /** The program has read. */
    static void answered(@Nullable ResponseTimes times) {
        if (times != null && times.since.getOpaque() != 0) {
            times.answered(System.nanoTime());
        }
    }

    void answered(long now) {
        long began = since.getOpaque();
        if (began == 0) { // the write that was to begin it has failed meanwhile
            return;
        }
        since.setOpaque(0);
        int bucket = bucket(now - began);
        buckets.setOpaque(bucket, buckets.getOpaque(bucket) + 1);
    }

    static int bucket(long nanos) {
        return Math.clamp(Long.SIZE - Long.numberOfLeadingZeros(Math.max(0, nanos)) - FIRST_BITS, 0, BUCKETS - 1);
    }

    /** How many there were in a bucket. */
    long count(int bucket) {
        return buckets.getOpaque(bucket);
    }

    /** Stores them into the entry of the connection. */
    void raise(CounterEntry e) {
        for (int i = 0; i < BUCKETS; i++) {
            PublishedSockets.raise(e, SocketSamplePoint.CONNECTION_RESPONSES_256NS + i, buckets.getOpaque(i));
        }
    }
}
