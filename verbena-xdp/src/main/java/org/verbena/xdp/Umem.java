// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.verbs.VerbsException;

/**
 * Memory that sockets can have as their UMEM: chunks that the application has as a region, and behind them others, which
 * its queue pairs copy packets to that cannot be sent from where they are.
 *
 * <pre>
 * | region: chunks of the application | staging of a queue pair | staging of another | not used, takes no memory |
 * </pre>
 *
 * <p>A queue pair registers all up to the end of its part with its socket. Thread-safe.
 */
final class Umem {
    private final Mapping mapping;
    private final int regionChunks;
    private final boolean[] taken = new boolean[XdpLimits.STAGING_CHUNKS];
    private int users;
    private boolean ended;

    /** New memory, zeroed, with a number of bytes for the application; 0 for staging alone. */
    Umem(long bytes) throws LinuxException {
        regionChunks = (int) ((bytes + XdpLimits.CHUNK - 1) / XdpLimits.CHUNK);
        mapping = Mapping.anonymous(((long) regionChunks + XdpLimits.STAGING_CHUNKS) * XdpLimits.CHUNK);
    }

    /** Chunks of the application. */
    int regionChunks() {
        return regionChunks;
    }

    /** All of it. */
    MemorySegment segment() {
        return mapping.segment();
    }

    long address() {
        return mapping.address();
    }

    /** What a socket registers whose staging ends there. */
    MemorySegment upTo(int chunk) {
        return mapping.segment().asSlice(0, (long) chunk * XdpLimits.CHUNK);
    }

    /**
     * Takes chunks for staging, for a queue pair that from now on uses the memory.
     *
     * @return the first, counted from the beginning of the memory
     * @throws VerbsException {@code ENOMEM} if there are not so many in a row
     */
    synchronized int take(String verb, int chunks) throws VerbsException {
        if (ended) {
            throw new VerbsException(verb, Errno.EINVAL, "the region is closed");
        }
        int run = 0;
        for (int i = 0; i < taken.length; i++) {
            run = taken[i] ? 0 : run + 1;
            if (run == chunks) {
                int first = i + 1 - chunks;
                Arrays.fill(taken, first, i + 1, true);
                users++;
                return regionChunks + first;
            }
        }
        throw new VerbsException(verb, Errno.ENOMEM, "the queue pairs that use the region have taken all of its "
                + XdpLimits.STAGING_CHUNKS
                + " chunks for packets to send: allocate another region, or create queue pairs"
                + " with a smaller maxSendWr");
    }

    /** A work queue receives into the region from now on; false if it is closed. */
    synchronized boolean enter() {
        users += ended ? 0 : 1;
        return !ended;
    }

    /** Undoes {@link #enter}. */
    synchronized void leave() {
        users--;
    }

    /** Undoes {@link #take}. */
    synchronized void give(int first, int chunks) {
        Arrays.fill(taken, first - regionChunks, first - regionChunks + chunks, false);
        users--;
    }

    /** False if a queue pair uses it; else none will any more. */
    synchronized boolean end() {
        ended |= users == 0;
        return ended;
    }

    /** Gives the memory back; no queue pair uses it. */
    void discard() throws LinuxException {
        mapping.discard();
    }
}
