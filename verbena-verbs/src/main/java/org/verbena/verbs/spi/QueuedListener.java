// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.VerbsException;

/**
 * A listener whose requests wait in a queue, oldest first.
 *
 * @param <R> the provider's requests
 */
public abstract class QueuedListener<R extends ConnectionRequest> extends ConnectionListener {
    private static final int MAX_WAITING = 4096;

    private final Context context;
    private final InetSocketAddress address;
    /** An empty element wakes waiting threads when the listener is closed. */
    private final LinkedBlockingQueue<Optional<R>> requests = new LinkedBlockingQueue<>(MAX_WAITING);
    private volatile boolean closing;

    /** At an address, with the port that was chosen. */
    protected QueuedListener(Context context, InetSocketAddress address) throws VerbsException {
        super(context);
        this.context = context;
        this.address = address;
    }

    /** A peer wants to connect; false if the listener is closed, or too many requests wait. */
    protected final boolean offer(R request) {
        return !closing && requests.offer(Optional.of(request));
    }

    /** True as soon as {@link #close()} was called. */
    protected final boolean isClosing() {
        return closing;
    }

    /** No requests come any more; ends what brings them. */
    protected abstract void stop();

    /** A request waited when the listener was closed. */
    protected abstract void refuse(R request);

    @Override
    public final InetSocketAddress localAddress() {
        return address;
    }

    @Override
    public final @Nullable ConnectionRequest awaitRequest(Duration timeout) throws VerbsException {
        Optional<R> r = Optional.empty();
        try {
            if (!closing) {
                r = requests.poll(TimeUnit.NANOSECONDS.convert(timeout), TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (closing) {
            requests.offer(Optional.empty());
            throw new VerbsException("await request on " + describe(), Errno.EINVAL, "the listener is closed");
        }
        return r == null ? null : r.orElse(null);
    }

    @Override
    public final String describe() {
        return "listener on port " + address.getPort() + " of " + context.describe();
    }

    @Override
    protected final void implClose() {
        closing = true;
        stop();
        for (Optional<R> r = requests.poll(); r != null; r = requests.poll()) {
            r.ifPresent(this::refuse);
        }
        requests.offer(Optional.empty());
    }
}
