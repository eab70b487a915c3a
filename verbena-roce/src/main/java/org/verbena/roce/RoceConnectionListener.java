package org.verbena.roce;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.roce.cm.CmConnection;
import org.verbena.roce.cm.CmMessage;
import org.verbena.roce.cm.CmService;
import org.verbena.roce.cm.RejectReason;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Gid;
import org.verbena.verbs.VerbsException;

/** Requests for one port, oldest first. */
final class RoceConnectionListener extends ConnectionListener implements CmService {
    private static final int MAX_WAITING = 4096;

    private final RoceContext context;
    private final RoceConnectionManager manager;
    private final InetSocketAddress address;
    /** Null if it listens on all GIDs. */
    private final @Nullable Gid gid;
    /** An empty element wakes those who wait when the listener is closed. */
    private final LinkedBlockingQueue<Optional<RoceConnectionRequest>> requests = new LinkedBlockingQueue<>(
            MAX_WAITING);
    private volatile boolean closing;

    RoceConnectionListener(RoceContext context, RoceConnectionManager manager, InetSocketAddress address,
            @Nullable Gid gid) throws VerbsException {
        super(context);
        this.context = context;
        this.manager = manager;
        this.address = address;
        this.gid = gid;
    }

    void listening() {
        opened();
    }

    void abandonListener() {
        abandon();
    }

    /** Under the context's lock. */
    @Override
    public int requested(CmConnection connection, CmMessage.Request request) {
        if (closing || gid != null && !gid.equals(connection.local())) {
            return RejectReason.INVALID_SERVICE_ID;
        }
        return requests.offer(Optional.of(new RoceConnectionRequest(manager, connection, request)))
                ? 0
                : RejectReason.NO_RESOURCES;
    }

    @Override
    public InetSocketAddress localAddress() {
        return address;
    }

    @Override
    public @Nullable ConnectionRequest awaitRequest(Duration timeout) throws VerbsException {
        long nanos = TimeUnit.NANOSECONDS.convert(timeout);
        Optional<RoceConnectionRequest> r = Optional.empty();
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
        for (Optional<RoceConnectionRequest> r = requests.poll(); r != null; r = requests.poll()) {
            r.ifPresent(RoceConnectionRequest::refuse);
        }
        requests.offer(Optional.empty());
    }
}
