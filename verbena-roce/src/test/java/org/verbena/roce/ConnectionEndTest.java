// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.roce.link.Gids;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionEvent;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;

/**
 * The effects of the end of a connection on its other end; two contexts of this process over the loopback interface.
 */
class ConnectionEndTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private Context near;
    private Context far;
    private QueuePair nearQp;
    private Connection nearEnd;
    private Connection farEnd;

    private static QueuePair queuePair(Context context) throws Exception {
        return context.allocateProtectionDomain().createQueuePair(QueuePairInitAttributes.builder(context
                .createCompletionQueue(8), context.createCompletionQueue(8)).maxSendWr(2).maxReceiveWr(2).build());
    }

    @BeforeEach
    void connect() throws Exception {
        near = LoopbackDevice.open();
        far = LoopbackDevice.open();
        nearQp = queuePair(near);
        ConnectionParameters parameters = ConnectionParameters.builder().timeout(PATIENCE).build();
        try (ConnectionListener listener = far.connectionManager().listen(new InetSocketAddress(Gids.address(far
                .queryGid(1, 0)), 0))) {
            CompletableFuture<Connection> accepted = CompletableFuture.supplyAsync(() -> {
                try {
                    ConnectionRequest request = listener.awaitRequest(PATIENCE);
                    assertThat(request).isNotNull();
                    return request.accept(queuePair(far), parameters);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            nearEnd = near.connectionManager().connect(nearQp, listener.localAddress(), parameters);
            farEnd = accepted.get();
        }
        assertThat(nearEnd.awaitEvent(PATIENCE).type()).isEqualTo(ConnectionEvent.ESTABLISHED);
    }

    @AfterEach
    void close() throws Exception {
        near.close();
        far.close();
    }

    private void assertPeerDisconnected() throws Exception {
        ConnectionEvent end = nearEnd.awaitEvent(PATIENCE);
        assertThat(end.type()).isEqualTo(ConnectionEvent.DISCONNECTED);
        assertThat(end.detail()).isEqualTo("the peer disconnected");
        assertThat(nearQp.state()).isEqualTo(QueuePairState.ERR);
        assertThat(nearQp.errorReason()).as("it was not the application here").isEqualTo("the peer disconnected");
    }

    @Test
    void peerDisconnectEndsConnection() throws Exception {
        farEnd.disconnect();
        assertPeerDisconnected();
    }

    @Test
    void closedPeerContextEndsConnection() throws Exception {
        far.close();
        assertPeerDisconnected();
    }

    @Test
    void closingContextWaitsForPeer() throws Exception {
        ContextLock deaf = ((RoceContext) far).lock();
        long start = System.nanoTime();
        deaf.lock();
        try {
            near.close();
        } finally {
            deaf.unlock();
        }
        assertThat(System.nanoTime() - start).as("there was no sign of the peer").isGreaterThanOrEqualTo(
                RoceConnectionManager.LINGER);
        assertThat(farEnd.awaitEvent(PATIENCE).type()).isEqualTo(ConnectionEvent.ESTABLISHED);
        assertThat(farEnd.awaitEvent(PATIENCE).type()).isEqualTo(ConnectionEvent.DISCONNECTED);
    }
}
