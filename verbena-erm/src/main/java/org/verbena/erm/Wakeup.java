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
 * What wakes who waits for a queue: a thread that parks, or a selector that knows a pipe. It stays rung until it is silenced.
 * Thread-safe.
 */
final class Wakeup {
    private final Semaphore permit = new Semaphore(0);
    private @Nullable Pipe pipe;
    private boolean pipeReadable;
    private boolean closed;

    /** Rings; costs a system call if there is a pipe and it is silent. */
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
            return false; // the program has closed the other end of it
        }
    }

    /** Takes back what was rung. */
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

    /** Waits until it rings; false when the time is over. */
    boolean await(long nanos) throws InterruptedException {
        return permit.tryAcquire(nanos, TimeUnit.NANOSECONDS);
    }

    /** The end for a selector that takes the channel {@code like}; made at the first call. */
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

    /** The end of the pipe that nobody selects is closed: the other one becomes readable and stays so. */
    synchronized void close() {
        closed = true;
        Pipe p = pipe;
        if (p != null) {
            try {
                p.sink().close();
            } catch (IOException e) {
                // there is nothing else to be done with it
            }
        }
        permit.release();
    }

    /** Nobody waits any more: the end of the pipe that a selector knows is closed, too. */
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
