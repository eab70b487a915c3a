// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.late;

import java.net.InetSocketAddress;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionEvent;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionManager;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;

/** The connection manager of {@code shm0}, for queue pairs of {@code late0}. */
final class LateConnectionManager extends ConnectionManager {
    private final LateContext context;
    private final ConnectionManager inner;

    LateConnectionManager(LateContext context, ConnectionManager inner) {
        this.context = context;
        this.inner = inner;
    }

    @Override
    public ConnectionListener listen(InetSocketAddress local) throws VerbsException {
        return new Listener(context, inner.listen(local));
    }

    @Override
    protected Connection implConnect(QueuePair qp, InetSocketAddress remote, ConnectionParameters parameters)
            throws VerbsException {
        return new Connected(context, qp, inner.connect(inner(qp), remote, parameters));
    }

    private static QueuePair inner(QueuePair qp) {
        return ((LateQueuePair) qp).inner;
    }

    private static final class Listener extends ConnectionListener {
        private final LateContext context;
        private final ConnectionListener inner;

        Listener(LateContext context, ConnectionListener inner) throws VerbsException {
            super(context);
            this.context = context;
            this.inner = inner;
            context.adopt(this);
            opened();
        }

        @Override
        public InetSocketAddress localAddress() {
            return inner.localAddress();
        }

        @Override
        public @Nullable ConnectionRequest awaitRequest(Duration timeout) throws VerbsException {
            ConnectionRequest request = inner.awaitRequest(timeout);
            return request == null ? null : new Request(context, request);
        }

        @Override
        public String describe() {
            return "late " + inner.describe();
        }

        @Override
        protected void implClose() throws VerbsException {
            inner.close();
        }
    }

    private static final class Request extends ConnectionRequest {
        private final LateContext context;
        private final ConnectionRequest inner;

        Request(LateContext context, ConnectionRequest inner) {
            this.context = context;
            this.inner = inner;
        }

        @Override
        public byte[] privateData() {
            return inner.privateData();
        }

        @Override
        public String peer() {
            return inner.peer();
        }

        @Override
        protected Connection implAccept(QueuePair qp, ConnectionParameters parameters) throws VerbsException {
            return new Connected(context, qp, inner.accept(inner(qp), parameters));
        }

        @Override
        public void reject(byte... privateData) throws VerbsException {
            inner.reject(privateData);
        }
    }

    private static final class Connected extends Connection {
        private final Connection inner;

        Connected(LateContext context, QueuePair qp, Connection inner) throws VerbsException {
            super(qp);
            this.inner = inner;
            context.adopt(this);
            opened();
        }

        @Override
        public byte[] privateData() {
            return inner.privateData();
        }

        @Override
        public String peer() {
            return inner.peer();
        }

        @Override
        public boolean isConnected() {
            return inner.isConnected();
        }

        @Override
        public @Nullable ConnectionEvent awaitEvent(Duration timeout) throws VerbsException {
            return inner.awaitEvent(timeout);
        }

        @Override
        public void disconnect() throws VerbsException {
            inner.disconnect();
        }

        @Override
        public String describe() {
            return "late " + inner.describe();
        }

        @Override
        protected void implClose() throws VerbsException {
            inner.close();
        }
    }
}
