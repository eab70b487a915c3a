// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

import org.verbena.sockets.telemetry.StreamEvents;

/**
 * What the streams of this process have come to. A stream counts in fields of its own, which cost next to nothing; they
 * are added to those of the process when it is closed. Safe for use by several threads.
 */
final class StreamCounters {
    private static final LongAdder[] FALLBACKS = new LongAdder[FallbackReason.values().length];
    private static final LongAdder HANDSHAKES = new LongAdder();
    private static final AtomicLong NUMBERS = new AtomicLong();

    private static final Set<Stream> OPEN = new HashSet<>(); // and the lock of what follows
    private static long opened;
    private static final StreamTally CLOSED = new StreamTally();

    static {
        Arrays.setAll(FALLBACKS, i -> new LongAdder());
    }

    private StreamCounters() {}

    @SuppressWarnings("EnumOrdinal") // an index for an array of this class
    static void count(FallbackReason reason) {
        if (reason != FallbackReason.NONE) {
            FALLBACKS[reason.ordinal()].increment();
        }
    }

    /** A reason that was counted has changed: TCP carries the connection no longer, or for another one. */
    @SuppressWarnings("EnumOrdinal")
    static void uncount(FallbackReason reason) {
        if (reason != FallbackReason.NONE) {
            FALLBACKS[reason.ordinal()].decrement();
        }
    }

    @SuppressWarnings("EnumOrdinal")
    static long fallbacks(FallbackReason reason) {
        return FALLBACKS[reason.ordinal()].sum();
    }

    static void handshakeCompleted() {
        HANDSHAKES.increment();
    }

    static long completedHandshakes() {
        return HANDSHAKES.sum();
    }

    /** For a socket of this process, from 1 on. */
    static long nextNumber() {
        return NUMBERS.incrementAndGet();
    }

    /** The connections that there are. */
    static List<Stream> open() {
        synchronized (OPEN) {
            return List.copyOf(OPEN);
        }
    }

    /** Adds those connections. */
    static void addOpen(List<Stream> to) {
        synchronized (OPEN) {
            for (Stream stream : OPEN) { // addAll has an array made of them first
                to.add(stream);
            }
        }
    }

    /** A connection begins. */
    static <S extends Stream> S opened(S stream) {
        synchronized (OPEN) {
            opened++;
            OPEN.add(stream);
        }
        return stream;
    }

    /** A connection has ended, and counts no more. */
    static void closed(Stream stream) {
        synchronized (OPEN) {
            if (OPEN.remove(stream)) {
                stream.addTo(CLOSED);
            }
        }
        StreamEvents.closed(stream.tcp(), stream.age(),
                () -> stream.figures().carried());
    }

    /**
     * Has the flight recorder sample what waits in rings, once; by a class, for there is nothing to sample before the
     * first ring.
     */
    private static final class RecordedRings {
        static {
            StreamEvents.recordRings(StreamCounters::waiting);
        }

        private RecordedRings() {}

        static void begin() {}
    }

    /** Has the flight recorder sample the rings of this process, of which there are some now. Idempotent. */
    static void recordRings() {
        RecordedRings.begin();
    }

    private static List<StreamEvents.Rings> waiting() {
        List<StreamEvents.Rings> all = new ArrayList<>();
        for (Stream stream : open()) {
            StreamState s = stream.state();
            if (s.outOccupied() != 0 || s.inOccupied() != 0) {
                all.add(new StreamEvents.Rings(stream.tcp(), s.outRing(), s.outOccupied(), s.inRing(), s.inOccupied()));
            }
        }
        return all;
    }

    /** All that has been counted. */
    static StreamTotals totals() {
        Map<FallbackReason, Long> fallbacks = new EnumMap<>(FallbackReason.class);
        for (FallbackReason reason : FallbackReason.values()) {
            if (fallbacks(reason) != 0) {
                fallbacks.put(reason, fallbacks(reason));
            }
        }
        StreamTally sum = new StreamTally();
        synchronized (OPEN) {
            addUp(sum);
            return new StreamTotals(opened, OPEN.size(), completedHandshakes(), fallbacks, sum.figures());
        }
    }

    /**
     * Adds what all connections have come to, those that have ended too.
     *
     * @return how many there were
     */
    static long addUp(StreamTally sum) {
        synchronized (OPEN) {
            sum.add(CLOSED);
            for (Stream stream : OPEN) {
                stream.addTo(sum);
            }
            return opened;
        }
    }
}
