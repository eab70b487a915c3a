// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** Bytes that were taken from TCP for the program, which has not read them. Guarded by its {@link Inbound}. */
final class Leftover {
    /** Bytes to ask TCP for at a time. */
    static final int PIECE = 16 << 10;

    private static final ByteBuffer NONE = ByteBuffer.allocate(0);

    private ByteBuffer bytes = NONE;

    /** Whether there are any; without the lock an earlier answer. */
    boolean hasRemaining() {
        return bytes.hasRemaining();
    }

    int remaining() {
        return bytes.remaining();
    }

    /** Moves what there is room for; answers how many. */
    int take(ByteBuffer into) {
        ByteBuffer from = bytes;
        int n = Math.min(into.remaining(), from.remaining());
        into.put(into.position(), from, from.position(), n);
        into.position(into.position() + n);
        from.position(from.position() + n);
        return n;
    }

    /**
     * Reads TCP to the place behind the bytes that are here; answers as a read does. None of them is here before
     * {@link #keep} makes it the stream's.
     *
     * @param piece bytes at most
     */
    int read(SocketChannel tcp, int piece) throws IOException {
        makeRoom(piece);
        int before = bytes.limit();
        bytes.limit(before + piece);
        ByteBuffer rest = bytes.slice(before, piece);
        bytes.limit(before); // before the read, which may throw
        return SocketEvents.read(tcp, rest);
    }

    /** The first {@code n} of the bytes that were just read are the stream's. */
    void keep(int n) {
        bytes.limit(bytes.limit() + n);
    }

    private void makeRoom(int piece) {
        if (!bytes.hasRemaining()) {
            if (bytes.capacity() < piece) {
                bytes = ByteBuffer.allocate(PIECE);
            }
            bytes.clear().limit(0);
        } else if (bytes.capacity() - bytes.limit() < piece) {
            ByteBuffer larger = ByteBuffer.allocate(Math.max(2 * bytes.capacity(), bytes.remaining() + piece));
            larger.put(bytes).flip();
            bytes = larger;
        }
    }
}
