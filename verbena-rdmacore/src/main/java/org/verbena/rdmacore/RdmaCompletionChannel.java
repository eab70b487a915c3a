// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Poll;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.VerbsException;

/** A completion channel, {@code struct ibv_comp_channel}. Events are acknowledged as they are taken. */
final class RdmaCompletionChannel extends CompletionChannel {
    /** A platform thread checks for interruption, and for the channel being closed, this often. */
    private static final int SLICE_MILLIS = 200;

    private final Handle handle;
    /** A duplicate of the channel's, so that threads can wait for it while the channel is closed. */
    private final Fd fd;
    private final Events.Watched watched;

    RdmaCompletionChannel(Handle handle) throws VerbsException {
        super(handle.context);
        this.handle = handle;
        Fd copy = null;
        try {
            copy = Fd.duplicate(RawMemory.getInt(handle.address + Layout.CHANNEL_FD));
            copy.setNonBlocking(true); // an event may disappear, with its queue, before it is read
        } catch (LinuxException e) {
            if (copy != null) {
                copy.close();
            }
            abandon();
            throw new VerbsException("create completion channel on " + handle.context.describe(), e);
        }
        fd = copy;
        watched = handle.context.events().watched(fd);
        opened();
    }

    long address() {
        return handle.address;
    }

    @Override
    public int descriptor() {
        try {
            return fd.value();
        } catch (IllegalStateException closed) {
            return -1;
        }
    }

    @Override
    public @Nullable CompletionQueue await(Duration timeout) throws VerbsException {
        String verb = "await event on " + describe();
        long end = System.nanoTime() + TimeUnit.NANOSECONDS.convert(timeout);
        while (true) {
            try {
                CompletionQueue cq = take(verb);
                if (cq != null) {
                    return cq;
                }
                long left = end - System.nanoTime();
                if (left <= 0 || Thread.currentThread().isInterrupted()) {
                    return null;
                }
                if (Thread.currentThread().isVirtual()) {
                    watched.park(left);
                } else {
                    Poll.await(fd, Poll.IN, (int) Math.min(SLICE_MILLIS, TimeUnit.NANOSECONDS.toMillis(left) + 1));
                }
            } catch (IllegalStateException e) {
                throw new VerbsException(verb, Errno.EINVAL, "the channel was closed");
            } catch (LinuxException e) {
                throw new VerbsException(verb, e);
            }
        }
    }

    /** Takes an event if there is one. */
    private synchronized @Nullable CompletionQueue take(String verb) throws VerbsException, LinuxException {
        checkOpen(verb);
        while ((Poll.await(fd, Poll.IN, 0) & Poll.IN) != 0) {
            try (Arena arena = Arena.ofConfined()) {
                Struct out = new Struct(arena, 2 * Long.BYTES);
                NativeContext verbs = handle.verbs();
                try {
                    Calls.zero(verb, verbs.function(verb, IbvFunction.GET_CQ_EVENT), handle.address, out.address(), out
                            .address() + Long.BYTES);
                } catch (VerbsException e) {
                    if (e.errno() == Errno.EAGAIN || e.errno() == Errno.EINTR) {
                        continue;
                    }
                    throw e;
                }
                long cq = out.getLong(0);
                Object found = handle.context.object(cq);
                Calls.call(verbs.function(verb, IbvFunction.ACK_CQ_EVENTS), cq, 1);
                if (found instanceof CompletionQueue q) {
                    return q;
                }
            }
        }
        return null;
    }

    @Override
    public String describe() {
        return "completion channel of " + handle.context.describe();
    }

    @Override
    protected synchronized void implClose() throws VerbsException {
        handle.destroy(this);
        watched.close();
        fd.close();
    }
}
