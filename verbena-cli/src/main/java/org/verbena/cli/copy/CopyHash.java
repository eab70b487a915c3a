// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * SHA-256 of a file from its start, as far as it has been read.
 *
 * <p>Files are read with read(2), never through a mapping: a file that is truncated meanwhile then ends early,
 * where a mapping would fault.
 */
final class CopyHash {
    private static final int PIECE = 256 << 10;

    private final MessageDigest digest = newDigest();
    private final ByteBuffer piece = ByteBuffer.allocateDirect(PIECE);
    private long position;

    static MessageDigest newDigest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }

    /** How many bytes have been hashed. */
    long position() {
        return position;
    }

    /** Starts again. */
    void reset() {
        digest.reset();
        position = 0;
    }

    /** Hashes bytes that have been read. */
    void update(ByteBuffer bytes) {
        position += bytes.remaining();
        digest.update(bytes);
    }

    /**
     * Hashes the next bytes of a file.
     *
     * @throws EOFException if the file ends before
     */
    void update(FileChannel file, long length) throws IOException {
        long end = position + length;
        while (position < end) {
            piece.clear().limit((int) Math.min(PIECE, end - position));
            if (file.read(piece, position) <= 0) {
                throw new EOFException("the file ends at " + position + " bytes");
            }
            update(piece.flip());
        }
    }

    /** The hash of the bytes so far; more may follow. */
    CopyBytes value() {
        try {
            return CopyBytes.of(((MessageDigest) digest.clone()).digest());
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException("the JDK's SHA-256 can be cloned", e);
        }
    }
}
