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
    static final int MIN_BYTES = 64 << 10;

    /** Pause between two checks whether the channel was closed while the kernel has the memory. */
    private static final int CHECK_MILLIS = 10;

    private static final long NAP_NANOS = 1_000_000;

    private final SelChImpl tcp;

    /** Sends whose notification has not come yet. */
    private long pending;
    private long sends;

    /** The kernel copies all the same: so it does over loopback, and where the device cannot gather. */
    private boolean copied;

    ZeroCopyOutput(SelChImpl tcp) {
        this.tcp = tcp;
    }

    /** Whether to send it this way; a virtual thread would pin its carrier while it waits. */
    boolean takes(ByteBuffer from) {
        return !copied && from.remaining() >= MIN_BYTES && from.isDirect() && !Thread.currentThread().isVirtual();
    }

    /**
     * Sends some of it.
     *
     * @return bytes; 0 if there is no room just now; -1 if it has to be written in the ordinary way, which also reports
     *        what is wrong
     */
    int send(Stream stream, ByteBuffer from) throws IOException {
        int n = stream.sendZeroCopy(from);
        if (n == -Errno.ENOBUFS && pending > 0) { // no memory for more notifications
            awaitNotification();
            return send(stream, from);
        }
        takeNotifications(); // a thread that waits for room is to be woken by room only
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
    void awaitNotification() throws IOException {
        long before = pending;
        takeNotifications();
        if (pending == before && Poll.await(Fd.of(tcp.getFDVal()), 0, CHECK_MILLIS) != 0) {
            takeNotifications();
            if (pending == before) { // an error of the connection, which stays, for the next write
                LockSupport.parkNanos(NAP_NANOS);
            }
        }
    }

    private void takeNotifications() throws IOException {
        long notification;
        while (pending > 0 && (notification = ZeroCopy.takeNotice(tcp.getFDVal())) != 0) {
            copied |= (notification & ZeroCopy.COPIED) != 0;
            pending -= notification & ~ZeroCopy.COPIED;
        }
    }

    /** How many there were. */
    long sends() {
        return sends;
    }
}
