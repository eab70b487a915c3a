// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import java.nio.ByteBuffer;

import org.verbena.linux.Errno;

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

    /**
     * Reads a file into the peer's memory, as far as the page cache has it: waits for no disk.
     *
     * @param fd descriptor of the file, which stays open
     * @param position of the first byte in the file
     * @param length at least 1
     * @param rkey as of a WRITE
     * @param remoteAddress as of a WRITE
     * @return bytes read, fewer than {@code length} where the file or what is cached of it ends; 0 at the end of the file; minus
     *     errno if none: {@code EAGAIN} for a file that is not cached, {@code EOPNOTSUPP} if this is not possible now, not
     *     allowed, or not with such a file
     */
    default int readFileNow(int fd, long position, int length, int rkey, long remoteAddress) {
        return -Errno.EOPNOTSUPP;
    }
}
