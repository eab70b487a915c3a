// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.CommonsLayout;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.pool.OwnPool;
import org.verbena.shm.pool.PoolUser;
import org.verbena.shm.pool.ReceivePool;
import org.verbena.shm.pool.StoppedPoolUser;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SharedReceiveQueueAttributes;

/** Recovery of receives, with peers that are stopped meanwhile. */
class PoolRecoveryTest {
    private static final int RECEIVES = PoolEnds.RECEIVES;

    /** A peer that is stopped inside a receive writes into it when it resumes, whatever became of its queue pair. */
    @Test
    void receiveIsNotRepostedWhileAStoppedPeerOfAClosedQueuePairIsInside() throws Exception {
        try (PoolEnds e = new PoolEnds()) {
            OwnPool own = e.srq.pool();
            ReceivePool pool = own.receives();
            e.post(RECEIVES);
            long claim = e.claims().claim();
            long word = e.peer.adapter().base() + AdapterLayout.qpEntry(e.sender.number()) + AdapterLayout.QP_HAZARD;
            RawMemory.putLongRelease(word, 1L << 32 | Hazard.RECEIVES);
            try {
                CountingUser other = new CountingUser();
                own.add(other);
                own.recover();
                e.await(() -> other.reads.get() > 1); // the recovery has begun, and waits
                e.receiver.close();
                assertThat(own.users()).hasAtLeastOneElementOfType(StoppedPoolUser.class);
                other.hazard = 0;
                EngineRounds rounds = new EngineRounds();
                e.owner.engine().startPolling(rounds);
                e.await(() -> rounds.count.get() > 20);
                rounds.over = true;
                assertThat(pool.isOutstanding(claim)).isTrue();
                assertThat(pool.posted()).isEqualTo(RECEIVES);
            } finally {
                RawMemory.putLongRelease(word, 0);
            }
            e.await(() -> pool.available() == RECEIVES);
            assertThat(pool.isOutstanding(claim)).isFalse();
        }
    }

    /** The limit was crossed for a moment, while the engine was busy. */
    @Test
    void reachedLimitIsReportedThoughReceivesWerePostedSince() throws Exception {
        try (PoolEnds e = new PoolEnds()) {
            QueuePair datagrams = e.datagramReceiver();
            QueuePair sender = PoolEnds.ready(e.sender.protectionDomain().createQueuePair(QueuePairInitAttributes
                    .builder(e.sent, e.sent).type(QueuePairType.UD).maxSendWr(16).build()));
            AddressHandle way = sender.protectionDomain().createAddressHandle(AddressVector.to(e.owner.queryGid(1,
                    0)));
            e.post(RECEIVES);
            // one message each first, so that both lanes are attached
            assertThat(e.send()).isZero();
            assertThat(sender.sendQueue().start().send(1, 0).sge(e.from, 0, 8).datagram(way, datagrams.number(), 1)
                    .complete()).isZero();
            e.poll();
            e.poll();
            e.post(2);
            for (boolean ofTheLane : new boolean[] {true, false}) {
                EngineRounds rounds = new EngineRounds();
                e.srq.modify(SharedReceiveQueueAttributes.builder().limit(RECEIVES).build());
                e.owner.engine().startPolling(rounds);
                e.await(() -> rounds.count.get() > 2); // it has read the new limit
                try (PausedEngine _ = new PausedEngine(e.owner.engine())) {
                    if (ofTheLane) {
                        assertThat(e.send()).isZero();
                    } else {
                        assertThat(sender.sendQueue().start().send(1, 0).sge(e.from, 0, 8).datagram(way, datagrams
                                .number(), 1).complete()).isZero();
                    }
                    e.poll();
                    e.post(1);
                    assertThat(e.srq.pool().receives().available()).isEqualTo(RECEIVES);
                    rounds.over = true;
                }
                assertThat(e.events()).contains(AsyncEventType.SRQ_LIMIT_REACHED);
                assertThat(e.srq.query().limit()).isZero();
            }
        }
    }

    /** A value of an earlier limit does not reach the present one, nor does garbage. */
    @Test
    void limitThatIsNotReachedIsNotReported() throws Exception {
        try (PoolEnds e = new PoolEnds()) {
            e.post(RECEIVES);
            e.srq.modify(SharedReceiveQueueAttributes.builder().limit(1).build());
            for (long garbage : new long[] {0, 2, -1, 1L << 32, 1L << 32 | 1, Long.MIN_VALUE}) {
                RawMemory.putLong(e.line() + CommonsLayout.LIMIT, garbage);
                assertThat(e.srq.pool().takeLimitReached()).isFalse();
            }
            RawMemory.putLong(e.line() + CommonsLayout.LIMIT, 1);
            e.owner.engine().pollAgain();
            assertThat(e.events()).containsExactly(AsyncEventType.SRQ_LIMIT_REACHED);
            e.srq.modify(SharedReceiveQueueAttributes.builder().limit(1).build());
            assertThat(e.srq.pool().takeLimitReached()).isFalse();
        }
    }

    /** A user of the pool that counts reads of its hazard. */
    private static final class CountingUser implements PoolUser {
        final AtomicInteger reads = new AtomicInteger();
        volatile long hazard = 1;

        @Override
        public long hazard() {
            reads.incrementAndGet();
            return hazard;
        }

        @Override
        public long held() {
            return Claim.NONE;
        }

        @Override
        public boolean isStarving() {
            return false;
        }

        @Override
        public void wake() {}
    }
}
