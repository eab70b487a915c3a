// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import org.verbena.telemetry.CounterEntry;

/** {@link StreamFigures} that are added up, for what looks at many streams again and again. For one thread at a time. */
final class StreamTally {
    private long sentByRing;
    private long sentByTcp;
    private long receivedByRing;
    private long receivedByTcp;
    private long doorbells;
    private long wakeUps;
    private long stalls;
    private long growths;

    /** Back to nothing. */
    void clear() {
        sentByRing = 0;
        sentByTcp = 0;
        receivedByRing = 0;
        receivedByTcp = 0;
        doorbells = 0;
        wakeUps = 0;
        stalls = 0;
        growths = 0;
    }

    /** Adds what the parameters of {@link StreamFigures} are of one stream. */
    void add(long bytesSentByRing, long bytesSentByTcp, long bytesReceivedByRing, long bytesReceivedByTcp,
            long doorbellsRung, long doorbellsTaken, long writesStalled, long ringsGrown) {
        sentByRing += bytesSentByRing;
        sentByTcp += bytesSentByTcp;
        receivedByRing += bytesReceivedByRing;
        receivedByTcp += bytesReceivedByTcp;
        doorbells += doorbellsRung;
        wakeUps += doorbellsTaken;
        stalls += writesStalled;
        growths += ringsGrown;
    }

    void add(StreamTally other) {
        add(other.sentByRing, other.sentByTcp, other.receivedByRing, other.receivedByTcp, other.doorbells,
                other.wakeUps, other.stalls, other.growths);
    }

    StreamFigures figures() {
        return new StreamFigures(sentByRing, sentByTcp, receivedByRing, receivedByTcp, doorbells, wakeUps, stalls,
                growths);
    }

    /** Stores all of it into the cells of an entry, the first of which is that of a sample point. */
    void raise(CounterEntry e, int first) {
        int cell = first & 0xff;
        e.raise(cell, sentByRing);
        e.raise(cell + 1, sentByTcp);
        e.raise(cell + 2, receivedByRing);
        e.raise(cell + 3, receivedByTcp);
        e.raise(cell + 4, doorbells);
        e.raise(cell + 5, wakeUps);
        e.raise(cell + 6, stalls);
        e.raise(cell + 7, growths);
    }
}
