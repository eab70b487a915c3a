// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.LockSupport;

import sun.nio.ch.SelChImpl;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.Poll;
import org.verbena.linux.ZeroCopy;
import org.verbena.sockets.stream.Stream;

/**
 * Writes that TCP sends from the program's own memory, as {@code SO_ZEROCOPY} allows it, and that last until the kernel
 * has let go of the memory. Its methods are called with the lock of the output held, which keeps the descriptor open.
 */
final class ZeroCopyOutput {
    /** For less a copy costs no more than to pin pages and to wait. */
    static final int LEAST = 64 << 10;

    /** How soon a close of the channel is noticed while the kernel has the memory. */
    private static final int LOOK_MILLIS = 10;

    private static final long NAP_NANOS = 1_000_000;

    private final SelChImpl tcp;

    /** Sends without a notice as yet. */
    private long pending;
    private long sends;

    /** The kernel copies all the same: so it does over loopback, and where the device cannot gather. */
    private boolean copied;

    ZeroCopyOutput(SelChImpl tcp) {
        this.tcp = tcp;
    }

    /** Whether to send it this way; a virtual thread would pin its carrier while it waits. */
    boolean takes(ByteBuffer from) {
        return !copied && from.remaining() >= LEAST && from.isDirect() && !Thread.currentThread().isVirtual();
    }

    /**
     * Sends some of it.
     *
     * @return bytes; 0 if there is no room just now; -1 if it has to be written in the ordinary way, which also says
     *        what is wrong
     */
    int send(Stream stream, ByteBuffer from) throws IOException {
        int n = stream.sendZeroCopy(from);
        if (n == -Errno.ENOBUFS && pending > 0) { // no memory for more notices
            awaitNotice();
            return send(stream, from);
        }
        takeNotices(); // a thread that waits for room is to be woken by room only
        if (n > 0) {
            pending++;
            sends++;
        }
        return n == -Errno.EAGAIN ? 0 : n > 0 ? n : -1;
    }

    boolean isPending() {
        return pending > 0;
    }

    /** Waits a while until the kernel lets go of what was sent. */
    void awaitNotice() throws IOException {
        long before = pending;
        takeNotices();
        if (pending == before && Poll.await(Fd.of(tcp.getFDVal()), 0, LOOK_MILLIS) != 0) {
            takeNotices();
            if (pending == before) { // an error of the connection, which stays, for the next write
                LockSupport.parkNanos(NAP_NANOS);
            }
        }
    }

    private void takeNotices() throws IOException {
        long notice;
        while (pending > 0 && (notice = ZeroCopy.takeNotice(tcp.getFDVal())) != 0) {
            copied |= (notice & ZeroCopy.COPIED) != 0;
            pending -= notice & ~ZeroCopy.COPIED;
        }
    }

    /** How many there were. */
    long sends() {
        return sends;
    }
}
