// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.LinkedHashSet;
import java.util.function.LongSupplier;

/**
 * Which handshakes may listen. To listen takes a descriptor until the other end comes, and where that does not use
 * Verbena, until the time-out: so only a part of the limit of this process is used for it, and the rest is left to the
 * program. A handshake without a permit waits for one. For the engine's thread.
 */
final class ListenPermits {
    /** One in this number of descriptors. */
    private static final int PART = 16;
    private static final int MIN_PERMITS = 8;

    private final LongSupplier descriptors;
    private final LinkedHashSet<ClientHandshake> waiting = new LinkedHashSet<>();
    private long max = MIN_PERMITS;
    private long taken;

    /** @param descriptors how many this process may have, now */
    ListenPermits(LongSupplier descriptors) {
        this.descriptors = descriptors;
    }

    /** Whether it may listen now; otherwise it is called when it may, unless it leaves before. */
    boolean acquire(ClientHandshake handshake) {
        if (taken >= max) {
            max = Math.max(descriptors.getAsLong() / PART, MIN_PERMITS);
        }
        if (taken >= max) {
            waiting.add(handshake);
            return false;
        }
        taken++;
        return true;
    }

    void cancel(ClientHandshake handshake) {
        waiting.remove(handshake);
    }

    /** Ends a turn. */
    void release(StreamEngine engine) {
        if (waiting.isEmpty()) {
            taken--;
        } else {
            engine.submit(waiting.removeFirst()::onPermit);
        }
    }
}
