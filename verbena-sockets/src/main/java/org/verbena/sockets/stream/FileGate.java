// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.nio.channels.FileChannel;

/**
 * Keeps files that the kernel sends by TCP and the change to the ring apart. A file may have to be waited for, so the engine
 * neither takes a lock that is held meanwhile nor waits: it comes again. Thread-safe; one thread sends at a time.
 */
final class FileGate {
    /** Bytes that TCP is given at a time. */
    private static final int PIECE = 1 << 20;

    private enum State {
        OPEN, SENDING,
        /** A file is being sent, and is the last one. */
        LAST, CLOSED
    }

    private State state;

    FileGate(boolean open) {
        state = open ? State.OPEN : State.CLOSED;
    }

    /** Sends from a file by TCP; -1 if that is not to be any more, as for {@link Stream#sendFile}. */
    long send(Outbound out, FileChannel file, long position, long count) throws IOException {
        if (!enter()) {
            return -1;
        }
        try {
            return out.sendFileByTcp(file, position, Math.min(count, PIECE));
        } finally {
            leave();
        }
    }

    /** Whether a file may be sent; {@link #leave} follows then. */
    synchronized boolean enter() {
        boolean enters = state == State.OPEN;
        if (enters) {
            state = State.SENDING;
        }
        return enters;
    }

    synchronized void leave() {
        state = state == State.LAST ? State.CLOSED : State.OPEN;
    }

    /** Lets no further file in; whether none is being sent. */
    synchronized boolean close() {
        state = state == State.SENDING || state == State.LAST ? State.LAST : State.CLOSED;
        return state == State.CLOSED;
    }
}
