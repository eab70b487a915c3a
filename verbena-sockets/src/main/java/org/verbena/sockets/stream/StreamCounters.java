package org.verbena.sockets.stream;

import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;

/** What the streams of this process have come to. */
final class StreamCounters {
    private static final LongAdder[] FALLBACKS = new LongAdder[FallbackReason.values().length];
    private static final LongAdder AGREED = new LongAdder();
    private static final LongAdder DOORBELLS = new LongAdder();

    static {
        Arrays.setAll(FALLBACKS, i -> new LongAdder());
    }

    private StreamCounters() {}

    @SuppressWarnings("EnumOrdinal") // an index for an array of this class
    static void count(FallbackReason reason) {
        FALLBACKS[reason.ordinal()].increment();
    }

    @SuppressWarnings("EnumOrdinal")
    static long fallbacks(FallbackReason reason) {
        return FALLBACKS[reason.ordinal()].sum();
    }

    static void agreed() {
        AGREED.increment();
    }

    static long agreements() {
        return AGREED.sum();
    }

    static void doorbell() {
        DOORBELLS.increment();
    }

    static long doorbells() {
        return DOORBELLS.sum();
    }
}
