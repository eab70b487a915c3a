package org.verbena.rdmacore;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.VerbsException;

/** Requests for one address, oldest first. */
final class RdmaConnectionListener extends ConnectionListener {
    private static final int MAX_WAITING = 4096;

    private final RdmaContext context;
    private final RdmaConnectionManager manager;
    private final CmIdentifier id;
    private final InetSocketAddress address;
    /** An empty element wakes those who wait when the listener is closed. */
    private final LinkedBlockingQueue<Optional<RdmaConnectionRequest>> requests = new LinkedBlockingQueue<>(
            MAX_WAITING);
    private volatile boolean closing;

    RdmaConnectionListener(RdmaContext context, RdmaConnectionManager manager, CmIdentifier id,
            InetSocketAddress address) throws VerbsException {
        super(context);
        this.context = context;
        this.manager = manager;
        this.id = id;
        this.address = address;
        opened();
        id.giveTo(this::requested);
    }

    /** On the context's thread. */
    private void requested(CmEvent event) {
        CmIdentifier child = event.child();
        if (child != null && (closing || !manager.isHere(child) || !requests.offer(Optional.of(
                new RdmaConnectionRequest(manager, child, event.data()))))) {
            child.refuse();
        }
    }

    @Override
    public InetSocketAddress localAddress() {
        return address;
    }

    @Override
    public @Nullable ConnectionRequest awaitRequest(Duration timeout) throws VerbsException {
        Optional<RdmaConnectionRequest> r = Optional.empty();
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
    public String describe() {
        return "listener on port " + address.getPort() + " of " + context.describe();
    }

    @Override
    protected void implClose() {
        closing = true;
        id.destroy();
        for (Optional<RdmaConnectionRequest> r = requests.poll(); r != null; r = requests.poll()) {
            r.ifPresent(RdmaConnectionRequest::refuse);
        }
        requests.offer(Optional.empty());
    }
}
