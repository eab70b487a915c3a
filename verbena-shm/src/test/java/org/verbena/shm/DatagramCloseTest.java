// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import org.verbena.shm.datagram.DatagramReceiver;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;

/** A queue pair of type UD is closed, or fails, while another thread is in the middle of a poll. */
class DatagramCloseTest {
    /** Long enough for a forbidden event to happen, as a rule. */
    private static final long MOMENT_MILLIS = 50;

    /** The poller still writes its position, and that word may be another ring's when the queue pair has closed. */
    @Test
    void closingWaitsForThePoller() throws Exception {
        try (PoolEnds e = new PoolEnds()) {
            QueuePair own = PoolEnds.ready(e.receiver.protectionDomain().createQueuePair(QueuePairInitAttributes
                    .builder(e.received, e.received).type(QueuePairType.UD).maxReceiveWr(4).build()));
            assertThat(own.receiveQueue().post(1, e.to, 0, 100)).isZero();
            DatagramReceiver d = send(e, own);
            AtomicInteger taken = new AtomicInteger();
            Thread closer = Thread.ofPlatform().unstarted(() -> {
                try {
                    own.close();
                } catch (VerbsException x) {
                    throw new AssertionError(x);
                }
            });
            e.await(() -> d.poll((data, length, i, f, t, limit, source) -> {
                closer.start();
                e.await(() -> d.sessions().isEmpty());
                join(closer);
                taken.addAndGet(closer.isAlive() ? 1 : 100);
                return true;
            }));
            assertThat(taken.get()).as("it waits").isOne();
            closer.join();
        }
    }

    /** No completion follows QP_LAST_WQE_REACHED. */
    @Test
    void lastWqeIsNotReportedWhileAPollerTakesAReceive() throws Exception {
        try (PoolEnds e = new PoolEnds()) {
            QueuePair own = e.datagramReceiver();
            e.post(1);
            DatagramReceiver d = send(e, own);
            AtomicBoolean over = new AtomicBoolean();
            e.await(() -> d.poll((data, length, i, f, t, limit, source) -> {
                error(own);
                over.set(!((ShmQueuePair) own).sendProgress().isRequested());
                sleep();
                over.compareAndSet(false, !((ShmQueuePair) own).sendProgress().isRequested());
                return true;
            }));
            assertThat(over).as("the engine waits").isFalse();
            AsyncEvent last = e.owner.awaitAsyncEvent(PoolEnds.LIMIT);
            assertThat(last).isNotNull();
            assertThat(last.type()).isEqualTo(AsyncEventType.QP_LAST_WQE_REACHED);
        }
    }

    private static void error(QueuePair q) {
        try {
            q.modify(QueuePairAttributes.to(QueuePairState.ERR).build());
        } catch (VerbsException x) {
            throw new AssertionError(x);
        }
    }

    private static void join(Thread t) {
        try {
            t.join(MOMENT_MILLIS);
        } catch (InterruptedException x) {
            throw new AssertionError(x);
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(MOMENT_MILLIS);
        } catch (InterruptedException x) {
            throw new AssertionError(x);
        }
    }

    private static DatagramReceiver send(PoolEnds e, QueuePair to) throws VerbsException {
        QueuePair sender = PoolEnds.ready(e.sender.protectionDomain().createQueuePair(QueuePairInitAttributes.builder(
                e.sent, e.sent).type(QueuePairType.UD).maxSendWr(16).build()));
        AddressHandle way = sender.protectionDomain().createAddressHandle(AddressVector.to(e.owner.queryGid(1, 0)));
        assertThat(sender.sendQueue().start().send(1, 0).sge(e.from, 0, 8).datagram(way, to.number(), 1).complete())
                .isZero();
        return Objects.requireNonNull(((ShmQueuePair) to).datagramReceiver());
    }
}
