// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.SelChImpl;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.TcpConnection;

/** What TCP still carries beside a ring: doorbells to and fro, and its own end. Safe for use by several threads. */
final class Doorbells {
    private static final int MAX_AT_ONCE = 64;

    private final SocketChannel tcp;
    private final Object lock = new Object();
    private @Nullable ByteBuffer bytes;

    private volatile boolean left;
    private volatile boolean ended;
    private volatile @Nullable IOException error;
    /** TCP brings nothing else. */
    private volatile boolean alone;
    /** Nothing is read of TCP any more. */
    private volatile boolean shut;
    /** The error that the kernel has reported to a writer or a reader, and does not report again. */
    private @Nullable IOException reported;

    /** In TCP's phase under the lock of the {@link Inbound}, then under this one's. */
    private long taken;

    Doorbells(SocketChannel tcp) {
        this.tcp = tcp;
    }

    /** Takes the doorbells off TCP, and finds its end if there are none. */
    void drain() {
        drain(false);
    }

    /** Takes the doorbells off TCP, and finds the end behind them: the kernel has reported it, and does so once. */
    void drainToEnd() {
        drain(true);
    }

    private void drain(boolean toEnd) {
        synchronized (lock) {
            if (isOver() || shut) {
                return;
            }
            ByteBuffer bells = bytes;
            if (bells == null) {
                bells = ByteBuffer.allocateDirect(MAX_AT_ONCE);
                bytes = bells;
            }
            try {
                int n;
                do {
                    n = SocketEvents.read(tcp, bells.clear());
                    taken += n > 0 ? 1 : 0;
                } while (n == bells.capacity() || toEnd && n > 0);
                if (n < 0) {
                    end();
                }
            } catch (IOException e) {
                error = e;
            }
        }
    }

    /**
     * Rings one at the other end. An error of TCP comes to light where it is read, behind all that it has brought.
     *
     * @return whether it was sent: without room the peer has something to read already
     */
    boolean ring(ByteBuffer one) {
        synchronized (lock) { // a thread that finds the end of TCP finds the error reported here
            try {
                return SocketEvents.write(tcp, one.clear()) > 0;
            } catch (IOException e) {
                recordError(e);
                return false;
            }
        }
    }

    /**
     * The program ends what comes in: a read finds an end that is its own, so from now on {@link #askKernel} finds
     * TCP's.
     */
    void shut() {
        synchronized (lock) {
            shut = true;
        }
    }

    /** Whether nothing is read of TCP any more. */
    boolean areShut() {
        return shut;
    }

    /** Asks the kernel for TCP's end without a read. The caller keeps the descriptor open. */
    void askKernel() {
        synchronized (lock) {
            if (isOver() || !(tcp instanceof SelChImpl channel)) {
                return;
            }
            try {
                // first: an error that comes later is not missed
                boolean over = TcpConnection.hasEnded(channel.getFDVal());
                int errno = TcpConnection.takeError(channel.getFDVal());
                if (errno != 0 && errno != Errno.EPIPE) { // which is no error of reads
                    error = errno == Errno.ECONNRESET
                            ? new SocketException(Ending.RESET_TEXT)
                            : new IOException(Errno.text(errno));
                } else if (over) {
                    end();
                }
            } catch (LinuxException e) {
                error = e;
            }
        }
    }

    /** Whether TCP has bytes that were not taken. The caller keeps the descriptor open. */
    boolean hasUnread() {
        try {
            return tcp instanceof SelChImpl channel && TcpConnection.unread(channel.getFDVal()) > 0;
        } catch (LinuxException e) {
            return false;
        }
    }

    /**
     * Writing or reading TCP has failed; returns whether with an error of the connection, which the kernel does not
     * report again.
     */
    boolean recordError(IOException e) {
        String what = e.getMessage();
        if (e instanceof ClosedChannelException || Ending.PIPE_TEXT.equals(what)) {
            return false;
        }
        synchronized (lock) {
            if (reported == null) {
                reported = Ending.RESET_BY_PEER_TEXT.equals(what) ? new SocketException(Ending.RESET_TEXT) : e;
            }
        }
        return true;
    }

    /** TCP brings nothing else from now on. */
    void alone() {
        alone = true;
    }

    /** Whether TCP brings nothing else. */
    boolean areAlone() {
        return alone;
    }

    /**
     * One has arrived and stays with TCP, to save a system call now; it is to be taken before the next one is asked
     * for.
     */
    void leave() {
        left = true;
    }

    /** Whether one was {@linkplain #leave left}. */
    boolean areLeft() {
        return left;
    }

    /** None is left any more. */
    void takenLeft() {
        synchronized (lock) {
            left = false;
        }
    }

    /** {@link #drain Drains}, if one was {@linkplain #leave left}. */
    void drainLeft() {
        synchronized (lock) {
            if (left) {
                left = false;
                drain();
            }
        }
    }

    /** One was found among the bytes of TCP's phase. */
    void found() {
        taken++;
    }

    /** How many there were. */
    long taken() {
        return taken;
    }

    /** TCP has brought the end of what it brings. */
    void end() {
        synchronized (lock) {
            if (reported != null) {
                error = reported;
            } else {
                ended = true;
            }
        }
    }

    /** Reading TCP has failed, or is no more use; too late if it is over. */
    void fail(IOException why) {
        synchronized (lock) {
            if (!isOver()) {
                error = why;
            }
        }
    }

    /** Whether TCP has ended in order. */
    boolean isEnded() {
        return ended;
    }

    /** Whether TCP has ended, be it in order or not: reported once, for the kernel's readiness was taken with it. */
    boolean isOver() {
        return ended || error != null;
    }

    /** What reading TCP has failed with. */
    @Nullable
    IOException error() {
        return error;
    }
}
