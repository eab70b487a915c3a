// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * Wakes a thread that waits for a queue: one that parks, or one in a selector with a pipe. It stays signaled until it
 * is reset. Thread-safe.
 */
final class Wakeup {
    private final Semaphore permit = new Semaphore(0);
    private @Nullable Pipe pipe;
    private boolean pipeReadable;
    private boolean closed;

    /** Signals; costs a system call if there is a pipe that is not readable yet. */
    void signal() {
        if (permit.availablePermits() == 0) {
            permit.release();
        }
        synchronized (this) {
            Pipe p = pipe;
            if (p != null && !pipeReadable && !closed) {
                pipeReadable = write(p);
            }
        }
    }

    private static boolean write(Pipe p) {
        try {
            return p.sink().write(ByteBuffer.wrap(new byte[1])) == 1;
        } catch (IOException e) {
            return false; // the program has closed its source
        }
    }

    /** Resets the signal. */
    void reset() {
        permit.drainPermits();
        synchronized (this) {
            Pipe p = pipe;
            if (p != null && pipeReadable) {
                pipeReadable = false;
                try {
                    int taken = p.source().read(ByteBuffer.allocate(1));
                    if (taken == 0) {
                        Engine.debug("the program reads from the channel of readiness");
                    }
                } catch (IOException e) {
                    Engine.debug("the program has closed the channel of readiness");
                }
            }
        }
    }

    /** Waits for the signal; false after the timeout. */
    boolean await(long nanos) throws InterruptedException {
        return permit.tryAcquire(nanos, TimeUnit.NANOSECONDS);
    }

    /** The source of the pipe, for a selector that accepts the channel {@code like}; created at the first call. */
    synchronized Pipe.SourceChannel pipe(SocketChannel like) throws IOException {
        Pipe p = pipe;
        if (p == null) {
            if (closed) {
                throw new IOException("the remote memory has ended");
            }
            p = like.provider().openPipe();
            try {
                p.source().configureBlocking(false);
                p.sink().configureBlocking(false);
            } catch (IOException e) {
                p.source().close();
                p.sink().close();
                throw e;
            }
            pipe = p;
            if (permit.availablePermits() > 0) {
                pipeReadable = write(p);
            }
        }
        return p.source();
    }

    /** Closes the sink of the pipe: the source becomes readable and stays so. */
    synchronized void close() {
        closed = true;
        Pipe p = pipe;
        if (p != null) {
            try {
                p.sink().close();
            } catch (IOException e) {
                // nothing else can be done
            }
        }
        permit.release();
    }

    /** Closes the source of the pipe, too: no thread waits any more. */
    synchronized void closePipe() {
        close();
        Pipe p = pipe;
        if (p != null) {
            try {
                p.source().close();
            } catch (IOException e) {
                // as above
            }
        }
    }
}
