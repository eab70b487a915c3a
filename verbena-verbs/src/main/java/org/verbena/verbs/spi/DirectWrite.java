// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import java.nio.ByteBuffer;

/**
 * A queue pair whose thread can write the peer's memory itself: a WRITE that is carried out by the call, of memory that need not be
 * registered, with neither a work request nor a completion. It takes no room in the send queue, and is in order with the
 * requests before and after it. For the thread that posts, which has no batch open. Nothing allocates.
 */
public interface DirectWrite {
    /**
     * Copies bytes of a buffer to the peer's memory.
     *
     * @param from its position and limit are neither used nor changed; the range is inside its limit
     * @param rkey as of a WRITE
     * @param remoteAddress as of a WRITE
     * @return false if that is not possible now, or not allowed: a WRITE that is posted then waits, or says why. Some of the bytes may
     *     have been written
     */
    boolean writeNow(ByteBuffer from, int position, int length, int rkey, long remoteAddress);

    /**
     * Stores a word, which the peer sees as a whole, and not before what was written before it.
     *
     * @param remoteAddress aligned to 8 bytes
     * @return as {@link #writeNow}
     */
    boolean writeWordNow(long value, int rkey, long remoteAddress);
}
