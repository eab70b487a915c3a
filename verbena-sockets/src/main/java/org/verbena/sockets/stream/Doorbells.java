package org.verbena.sockets.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

import org.jspecify.annotations.Nullable;

/** What TCP still says to the reader of a ring: doorbells, and its own end. Safe for use by several threads. */
final class Doorbells {
    private static final int MOST = 64;

    private final SocketChannel tcp;
    private final Object lock = new Object();
    private @Nullable ByteBuffer bytes;

    private volatile boolean left;
    private volatile boolean ended;
    private volatile @Nullable IOException error;

    /** In TCP's phase under the lock of the {@link Inbound}, then under this one's. */
    private long taken;

    Doorbells(SocketChannel tcp) {
        this.tcp = tcp;
    }

    /** Takes the doorbells off TCP, and learns of its end if there are none. */
    void drain() {
        drain(false);
    }

    /** Takes the doorbells off TCP, and learns of the end behind them: the kernel has told of it, and does so once. */
    void drainToEnd() {
        drain(true);
    }

    private void drain(boolean toEnd) {
        synchronized (lock) {
            if (isOver()) {
                return;
            }
            ByteBuffer bells = bytes;
            if (bells == null) {
                bells = ByteBuffer.allocateDirect(MOST);
                bytes = bells;
            }
            try {
                int n;
                do {
                    n = SocketEvents.read(tcp, bells.clear());
                    taken += n > 0 ? 1 : 0;
                } while (n == bells.capacity() || toEnd && n > 0);
                if (n < 0) {
                    ended = true;
                }
            } catch (IOException e) {
                error = e;
            }
        }
    }

    /** One was heard and stays with TCP, so that nobody waits for a system call; it is to be taken before the next wish for one. */
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
        ended = true;
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

    /** Whether TCP has ended, be it in order or not: said once, for the kernel's readiness was taken with it. */
    boolean isOver() {
        return ended || error != null;
    }

    /** What reading TCP has failed with. */
    @Nullable
    IOException error() {
        return error;
    }
}
