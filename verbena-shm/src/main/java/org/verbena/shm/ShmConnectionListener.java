package org.verbena.shm;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionRejectedException;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.VerbsException;

/** Requests for one port, oldest first. */
final class ShmConnectionListener extends ConnectionListener {
    private static final int MAX_WAITING = 4096;

    private final ShmContext context;
    private final ShmConnectionManager manager;
    private final InetSocketAddress address;
    /** An empty element wakes those who wait when the listener is closed. */
    private final LinkedBlockingQueue<Optional<ShmConnectionRequest>> requests = new LinkedBlockingQueue<>(MAX_WAITING);
    private @Nullable Acceptor acceptor;
    private volatile boolean closing;

    ShmConnectionListener(ShmContext context, ShmConnectionManager manager, InetSocketAddress address)
            throws VerbsException {
        super(context);
        this.context = context;
        this.manager = manager;
        this.address = address;
    }

    void bind(Acceptor a) {
        acceptor = a;
        opened();
    }

    void abandonListener() {
        abandon();
    }

    boolean offer(ShmConnectionRequest r) {
        return !closing && requests.offer(Optional.of(r));
    }

    @Override
    public InetSocketAddress localAddress() {
        return address;
    }

    @Override
    public @Nullable ConnectionRequest awaitRequest(Duration timeout) throws VerbsException {
        long nanos = TimeUnit.NANOSECONDS.convert(timeout);
        Optional<ShmConnectionRequest> r = Optional.empty();
        try {
            if (!closing) {
                r = requests.poll(nanos, TimeUnit.NANOSECONDS);
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
    public String describe() {
        return "listener on port " + address.getPort() + " of " + context.describe();
    }

    @Override
    protected void implClose() {
        closing = true;
        manager.forget(this);
        Acceptor a = acceptor;
        if (a != null) {
            a.close();
        }
        for (Optional<ShmConnectionRequest> r = requests.poll(); r != null; r = requests.poll()) {
            r.ifPresent(q -> q.refuse(ConnectionRejectedException.INVALID_SERVICE_ID, "the listener was closed"));
        }
        requests.offer(Optional.empty());
    }
}
