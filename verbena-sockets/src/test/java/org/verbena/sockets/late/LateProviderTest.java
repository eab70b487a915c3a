// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.late;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** The provider is as late as it is configured, and otherwise right: else tests over it would show little. */
@Tag("late-provider")
class LateProviderTest {
    private static final int PLACES = 40;
    private static final int WRITES = 5000;
    private static final int RW = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;

    @Test
    void writesArriveLateInOrderAndFullQueueIsReported() throws VerbsException {
        try (Context context = Verbs.open(LateDevice.NAME)) {
            ProtectionDomain pd = context.allocateProtectionDomain();
            CompletionQueue sent = context.createCompletionQueue(2 * PLACES);
            QueuePair from = queuePair(pd, sent, context.createCompletionQueue(1));
            QueuePair to = queuePair(pd, context.createCompletionQueue(1), context.createCompletionQueue(1));
            connect(context, from, to);
            try (MemoryRegion source = pd.allocate(8L * WRITES, RW); MemoryRegion target = pd.allocate(8, RW)) {
                int refused = 0;
                int late = 0;
                int empty = 0;
                int completed = 0;
                for (int i = 1; i <= WRITES;) {
                    long at = 8L * (i - 1);
                    source.segment().set(ValueLayout.JAVA_LONG, at, i);
                    int error = from.sendQueue().start().write(i, SendFlags.SIGNALED, target.rkey(), target.address())
                            .sge(source, at, 8).complete();
                    long seen = target.segment().get(ValueLayout.JAVA_LONG, 0);
                    if (error == 0) {
                        late += seen < i ? 1 : 0;
                        i++;
                    } else {
                        assertThat(error).isEqualTo(Errno.ENOMEM);
                        refused++;
                    }
                    if (sent.startPoll() == 0) {
                        do {
                            completed++;
                            assertThat(sent.status()).isEqualTo(WcStatus.SUCCESS);
                            assertThat(sent.wrId()).isEqualTo(completed);
                            assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isGreaterThanOrEqualTo(
                                    completed);
                        } while (sent.nextPoll() == 0);
                        sent.endPoll();
                    } else {
                        empty++;
                    }
                    assertThat(i - 1 - completed).isBetween(0, PLACES);
                }
                assertThat(refused).as("posts that found no place").isPositive();
                assertThat(late).as("writes that had not arrived when they were posted").isGreaterThan(WRITES / 2);
                assertThat(empty).as("polls that found no completion").isPositive();
            }
        }
    }

    private static QueuePair queuePair(ProtectionDomain pd, CompletionQueue sent, CompletionQueue received)
            throws VerbsException {
        return pd.createQueuePair(QueuePairInitAttributes.builder(sent, received).maxSendWr(PLACES).build());
    }

    private static void connect(Context context, QueuePair from, QueuePair to) throws VerbsException {
        try (ConnectionListener listener = context.connectionManager()
                .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            CompletableFuture<Void> connected = CompletableFuture.runAsync(() -> {
                try {
                    context.connectionManager().connect(from, listener.localAddress(), ConnectionParameters.defaults());
                } catch (VerbsException e) {
                    throw new IllegalStateException(e);
                }
            });
            listener.awaitRequest(Duration.ofSeconds(60)).accept(to, ConnectionParameters.defaults());
            connected.join();
        }
    }
}
