// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_CONNECT;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import java.nio.channels.CancelledKeyException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.Net;
import sun.nio.ch.SelChImpl;
import sun.nio.ch.SelectionKeyImpl;

import org.verbena.sockets.stream.FallbackReason;
import org.verbena.sockets.stream.Stream;

/**
 * A connection at selectors of the JDK, which a process has if Verbena came into it late. They ask the channel what to
 * wait for at its socket, and what that means when it comes; the channel is not informed of a registration itself.
 *
 * <p>A channel that such a selector asks stays with TCP, if that is not too late. If rings carry its bytes the peer is
 * asked for a doorbell, which is an event at the socket; and since the selector does not see what is in memory
 * already, the key asks again before each selection that follows an event.
 */
final class ForeignSelectors {
    private static final int BYTES = OP_READ | OP_WRITE;
    private static final int FAILED = Net.POLLERR | Net.POLLHUP;
    private static final long PAUSE_NANOS = 1_000_000;

    /** Pauses so far of threads in selectors. */
    private static final AtomicInteger PAUSES = new AtomicInteger();

    private final SelChImpl tcp;
    private final DescriptorHold hold;
    private volatile boolean known;
    private volatile @Nullable Stream stream;

    /** The value of {@link #PAUSES} when this channel called {@link #pause} last. */
    private volatile int pausesSeen;

    ForeignSelectors(SocketChannel inner) {
        this.tcp = (SelChImpl) inner;
        this.hold = new DescriptorHold(inner);
    }

    /** Whether a selector has asked. */
    boolean areKnown() {
        return known;
    }

    /**
     * The connection is made, and {@code made} carries its bytes; the caller lets {@link #forget} follow, without a
     * lock.
     */
    void connected(Stream made) {
        stream = made;
        if (known) {
            giveUp(made); // if one has asked only just now
        }
    }

    /**
     * The descriptor need not be kept: no selector has a key of the channel any more, or it is connected, so that the
     * channel itself sees to it that the socket is closed last. May take as long as SO_LINGER allows.
     */
    void forget() {
        hold.end();
    }

    private void asked() {
        if (!known) {
            known = true;
            Stream s = stream;
            if (s != null) {
                giveUp(s);
            }
        }
        if (stream == null) {
            hold.begin();
            if (stream != null) {
                hold.end();
            }
        }
    }

    private static void giveUp(Stream s) {
        s.stayWithTcp(FallbackReason.FOREIGN_SELECTOR);
        s.giveUpBell(); // if it has rings all the same
    }

    /** What to wait for at the socket, as poll(2) calls it. */
    int events(int ops) {
        asked();
        Stream s = stream;
        int wanted = ops & BYTES;
        if (s == null) {
            return tcp.translateInterestOps(ops);
        }
        if (wanted == 0) {
            return 0; // OP_CONNECT too: it would be room in TCP, which means nothing any more and stays
        }
        int ready = s.arm(wanted, null);
        int kernel = s.kernelOps(wanted);
        if (kernel == 0) {
            kernel = OP_READ; // TCP has ended: that is an event
        }
        if (ready != 0) {
            // the event is there at once, unless TCP is full of what was written before the rings and not read since
            kernel |= OP_WRITE;
        }
        return tcp.translateInterestOps(kernel);
    }

    /**
     * Notes in {@code key} what is ready.
     *
     * @param events at the socket
     * @param before what was noted before and still counts
     * @return whether there is something that was not noted
     */
    boolean ready(int events, int before, SelectionKeyImpl key) {
        Stream s = stream;
        if (s == null) {
            return before == 0
                    ? tcp.translateAndSetReadyOps(events, key)
                    : tcp.translateAndUpdateReadyOps(events, key);
        }
        if ((events & Net.POLLNVAL) != 0) {
            return false;
        }
        int wanted = key.nioInterestOps() & BYTES;
        int kernel = ((events & (Net.POLLIN | FAILED)) != 0 ? OP_READ : 0)
                | ((events & (Net.POLLOUT | FAILED)) != 0 ? OP_WRITE : 0);
        int found = s.kernelReady(kernel, wanted);
        boolean plain = isPlain(s);
        if (!plain && found == 0 && wanted != 0 && s.kernelOps(wanted) == 0) {
            pause(); // TCP has ended, and goes on reporting that, before the ring has
        }
        if (!plain || (kernel & ~wanted) != 0) { // also an event that was asked for before it was plain
            askAgain(key);
        }
        int noted = key.nioReadyOps();
        int now = before | found;
        key.nioReadyOps(now);
        return (now & ~noted) != 0;
    }

    /** Whether the kernel alone reports what is ready, as often as it is polled. */
    private static boolean isPlain(Stream s) {
        return s.staysWithTcp() && s.readyOps(OP_READ) == 0;
    }

    /** Once in a selection: a channel that is polled after another has paused does not. */
    private void pause() {
        int pauses = PAUSES.get();
        if (pauses == pausesSeen) {
            LockSupport.parkNanos(PAUSE_NANOS);
            pauses = PAUSES.incrementAndGet();
        }
        pausesSeen = pauses;
    }

    /**
     * Has the selector ask for the events before it selects the next time, which it does for keys that have changed.
     */
    private static void askAgain(SelectionKeyImpl key) {
        try {
            if ((key.interestOpsOr(OP_CONNECT) & OP_CONNECT) == 0) { // which means nothing any more
                key.interestOpsAnd(~OP_CONNECT);
            } else {
                key.interestOpsAnd(~OP_CONNECT);
                key.interestOpsOr(OP_CONNECT);
            }
        } catch (CancelledKeyException _) {
            // by another thread, a moment ago
        }
    }
}
