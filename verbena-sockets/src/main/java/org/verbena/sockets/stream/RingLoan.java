// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.nio.channels.FileChannel;

import org.verbena.linux.PosixFile;

/**
 * Bytes of a ring on their way into a file: the kernel takes them from the ring's memory, which stays as long as they are
 * lent, whatever becomes of the stream. For the thread that reads; after {@link #lend} has given bytes, {@link #take} or {@link
 * #end} has to follow.
 */
public final class RingLoan {
    /** The answer of {@link #write} if the caller is to read, and to write what it has read. */
    public static final long NOT_WRITTEN = Long.MIN_VALUE;

    private final RingReader ring;
    private final Outbound back;
    private int lent;

    RingLoan(RingReader ring, Outbound back) {
        this.ring = ring;
        this.back = back;
    }

    /**
     * Lends bytes that are there to be read, in one piece.
     *
     * @param count bytes at most
     * @return bytes; 0 if nothing is there; -1 at the end of the stream
     * @throws IOException as {@link Stream#read(java.nio.ByteBuffer)}
     */
    public int lend(long count) throws IOException {
        lent = ring.lend(count);
        return lent;
    }

    /**
     * Writes what is lent into a file, which may take long. Alone of all calls it may be under way when the stream is closed.
     *
     * @return bytes; minus errno; {@link #NOT_WRITTEN} if the file is closed, or cannot be held
     */
    public long write(FileChannel file, long position) {
        int held = FileHold.take(file);
        if (held == FileHold.NONE) {
            return NOT_WRITTEN;
        }
        try {
            return PosixFile.write(FileHold.descriptor(file), position, ring.link().ring.segment(), ring.lentAt(),
                    lent);
        } finally {
            FileHold.release(file, held);
        }
    }

    /** Ends the loan; {@code n} bytes of it are read. */
    public void take(int n) {
        ring.takeLent(n, back);
    }

    /** Ends the loan of a stream that was closed meanwhile. */
    public void end() {
        ring.endLoan();
    }
}
