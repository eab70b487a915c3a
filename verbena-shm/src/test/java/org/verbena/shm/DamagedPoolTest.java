// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.CommonsLayout;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.memory.Revocation;
import org.verbena.shm.pool.ClaimOwners;
import org.verbena.shm.pool.OwnPool;
import org.verbena.shm.pool.PoolClaims;
import org.verbena.shm.pool.PoolUser;
import org.verbena.shm.pool.ReceivePool;
import org.verbena.shm.pool.StoppedPoolUser;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.WcStatus;

/** A peer writes garbage into the commons, or into a lane, of a shared receive queue. */
class DamagedPoolTest {
    private static final int RECEIVES = PoolEnds.RECEIVES;
    /** After this time without work the engine sleeps. */
    private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, RECEIVES + 1, 0})
    void invalidPositionFailsTheQueueAndItsQueuePairs(long nonsense) throws Exception {
        try (PoolEnds e = new PoolEnds()) {
            e.post(RECEIVES);
            assertThat(e.send()).isZero();
            assertThat(e.srq.pool().receives().check()).isTrue();
            QueuePair datagrams = e.datagramReceiver();
            RawMemory.putLong(e.line() + CommonsLayout.NEXT, nonsense);
            e.owner.engine().pollAgain();
            assertThat(e.events(AsyncEventType.SRQ_ERR, AsyncEventType.QP_FATAL)).contains(AsyncEventType.SRQ_ERR,
                    AsyncEventType.QP_FATAL);
            e.awaitError(e.receiver, datagrams);
            datagrams.close();
            assertThat(e.srq.receiveQueue().post(1, e.to, 0, 8)).isEqualTo(Errno.EINVAL);
            assertThatThrownBy(() -> e.srq.modify(SharedReceiveQueueAttributes.builder().maxWr(9).build()))
                    .hasMessageContaining("failed");
            assertThatThrownBy(() -> e.srq.protectionDomain().createQueuePair(QueuePairInitAttributes.builder(
                    e.received,
                    e.received).sharedReceiveQueue(e.srq).build())).hasMessageContaining("failed");
            e.receiver.close();
            e.srq.close();
        }
    }

    /** A claim of nothing, of a receive that was not claimed, or of one that was completed: the violator's queue pair fails. */
    @Test
    void completionWithAnInvalidClaimFailsOnlyTheQueuePair() throws Exception {
        for (long claim : new long[] {0, -1, Long.MIN_VALUE, Claim.of(7, 64, 3), Claim.of(0, 64, 16000)}) {
            try (PoolEnds e = new PoolEnds()) {
                e.post(1);
                assertThat(e.send()).isZero();
                e.setClaim(e.sender, 0, claim);
                assertThat(e.received.startPoll()).isEqualTo(Errno.ENOENT);
                assertThat(e.receiver.state()).as("claim %x", claim).isEqualTo(QueuePairState.ERR);
                assertThat(e.events()).contains(AsyncEventType.QP_FATAL).doesNotContain(AsyncEventType.SRQ_ERR);
            }
        }
    }

    /** An initiator that repeats its own completion is the violator. */
    @Test
    void repeatedCompletionFailsOnlyTheQueuePair() throws Exception {
        for (int posts : new int[] {2, RECEIVES}) {
            try (PoolEnds e = new PoolEnds()) {
                PoolEnds.Pair other = e.pair();
                e.post(posts);
                long first = e.srq.pool().receives().at(0);
                assertThat(e.send()).isZero();
                assertThat(e.send()).isZero();
                e.setClaim(e.sender, 1, first);
                e.poll();
                assertThat(e.received.startPoll()).isEqualTo(Errno.ENOENT);
                assertThat(e.receiver.state()).isEqualTo(QueuePairState.ERR);
                assertThat(e.events()).contains(AsyncEventType.QP_FATAL).doesNotContain(AsyncEventType.SRQ_ERR);
                assertThat(other.receiver().state()).isEqualTo(QueuePairState.RTS);
            }
        }
    }

    /** One initiator completes a receive that another has claimed: the violator is unknown, and the queue fails. */
    @Test
    void aStolenClaimFailsTheQueue() throws Exception {
        for (boolean postedAgain : new boolean[] {false, true}) {
            try (PoolEnds e = new PoolEnds()) {
                PoolEnds.Pair thief = e.pair();
                e.post(2);
                long stolen = e.srq.pool().receives().at(0);
                assertThat(e.send()).isZero();
                assertThat(e.send(thief.sender())).isZero();
                e.setClaim(thief.sender(), 0, stolen);
                // the one that is polled first
                e.poll();
                if (postedAgain) {
                    e.post(1);
                }
                assertThat(e.received.startPoll()).isEqualTo(Errno.ENOENT);
                assertThat(e.events(AsyncEventType.SRQ_ERR, AsyncEventType.QP_FATAL)).contains(AsyncEventType.SRQ_ERR,
                        AsyncEventType.QP_FATAL);
                e.awaitError(e.receiver, thief.receiver());
                assertThat(e.srq.receiveQueue().post(1, e.to, 0, 8)).isEqualTo(Errno.EINVAL);
            }
        }
    }

    /** A receive that is posted and not claimed would be claimed by another initiator next. */
    @Test
    void completionOfAnUnclaimedReceiveFailsTheQueue() throws Exception {
        try (PoolEnds e = new PoolEnds()) {
            e.post(3);
            assertThat(e.send()).isZero();
            e.setClaim(e.sender, 0, e.srq.pool().receives().at(1));
            assertThat(e.received.startPoll()).isEqualTo(Errno.ENOENT);
            assertThat(e.events(AsyncEventType.SRQ_ERR)).contains(AsyncEventType.SRQ_ERR);
            e.awaitError(e.receiver);
        }
    }

    /** The ring entry of a claim was overwritten: the owner is notified, and posts the receive again. */
    @Test
    void lostClaimReturnsToThePool() throws Exception {
        try (PoolEnds e = new PoolEnds()) {
            e.post(2);
            ReceivePool pool = e.srq.pool().receives();
            long ring = e.owner.adapter().base() + RawMemory.getLong(e.entry() + AdapterLayout.POOL_RING);
            RawMemory.putLong(ring, Claim.of(64, 64, 0));
            LockSupport.parkNanos(IDLE_NANOS); // the engine does not poll by itself
            assertThat(e.send()).isZero();
            e.poll();
            e.await(() -> pool.available() == 1);
            assertThat(pool.outstanding()).hasSize(1);
            assertThat(e.send()).isZero();
            assertThat(e.poll()).isZero();
            assertThat(e.receiver.state()).isEqualTo(QueuePairState.RTS);
        }
    }

    /** Each initiator is read once, however many receives are in flight. */
    @Test
    void recoveryReadsEachInitiatorOnce() throws Exception {
        try (PoolEnds e = new PoolEnds()) {
            OwnPool own = e.srq.pool();
            ReceivePool pool = own.receives();
            e.post(RECEIVES);
            List<Long> owned = new ArrayList<>();
            PoolClaims claims = e.claims();
            for (int i = 0; i < 6; i++) {
                long c = claims.claim();
                if (i < 3) {
                    owned.add(c);
                }
            }
            List<Asked> users = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                Asked u = new Asked(i == 7 ? owned : List.of(), new AtomicInteger(), new AtomicInteger());
                users.add(u);
                own.add(u);
            }
            own.recover();
            e.await(() -> pool.available() == RECEIVES - 3);
            for (Asked u : users) {
                assertThat(u.asked.get()).isEqualTo(1);
                assertThat(u.read.get()).isEqualTo(1);
            }
            for (long c : owned) {
                assertThat(pool.isOutstanding(c)).isTrue();
            }
        }
    }

    private record Asked(List<Long> committed, AtomicInteger asked, AtomicInteger read) implements PoolUser {
        @Override
        public long hazard() {
            return 0;
        }

        @Override
        public long held() {
            asked.incrementAndGet();
            return Claim.NONE;
        }

        @Override
        public void noteCommitted(ClaimOwners owners) {
            read.incrementAndGet();
            committed.forEach(owners::note);
        }

        @Override
        public boolean isStarving() {
            return false;
        }

        @Override
        public void wake() {}
    }

    /** After the first invalid claim in a lane its other claims are ignored. */
    @Test
    void laneWithInvalidClaimsOwnsNothing() throws Exception {
        try (PoolEnds e = new PoolEnds()) {
            PoolEnds.Pair liar = e.pair();
            ReceivePool pool = e.srq.pool().receives();
            e.post(RECEIVES);
            PoolClaims lostClaims = e.claims();
            for (int i = 0; i < 3; i++) {
                assertThat(e.send(liar.sender())).isZero();
            }
            long nobodys = lostClaims.claim();
            e.setClaim(liar.sender(), 1, Claim.of(1L << 40, 1, 2));
            e.setClaim(liar.sender(), 2, nobodys);
            assertThat(lostClaims.claim()).isNotEqualTo(Claim.NONE);
            e.srq.pool().recover();
            e.await(() -> pool.available() == RECEIVES - 1);
            assertThat(pool.outstanding()).hasSize(RECEIVES);
        }
    }

    /** One that was stopped and is not inside any more is forgotten. */
    @Test
    void userThatHasLeftIsForgotten() throws Exception {
        try (PoolEnds e = new PoolEnds()) {
            Session s = e.owner.control().session("test", e.peer.instance());
            long word = s.mapping().base() + AdapterLayout.qpEntry(e.sender.number()) + AdapterLayout.QP_HAZARD;
            long theirs = e.peer.adapter().base() + (word - s.mapping().base());
            RawMemory.putLongRelease(theirs, 1L << 32 | Hazard.RECEIVES);
            OwnPool own = e.srq.pool();
            StoppedPoolUser stopped = new StoppedPoolUser(Revocation.Inside.peerOf(e.receiver, s.peer()));
            own.add(stopped);
            own.recover();
            assertThat(own.users()).contains(stopped);
            RawMemory.putLongRelease(theirs, 0);
            e.await(() -> {
                own.recover();
                return !own.users().contains(stopped);
            });
        }
    }

    /** Garbage in the words for starving, signals and lost claims only costs a check. */
    @Test
    void garbageInOtherWordsOfTheCommonsIsHarmless() throws Exception {
        try (PoolEnds e = new PoolEnds()) {
            for (int i = 0; i < 300; i++) {
                e.post(1);
                RawMemory.putLong(e.line() + CommonsLayout.STARVING, i * 0x5555_5555_5555L);
                RawMemory.putLong(e.line() + CommonsLayout.LOST, i * 0x1111_1111_1111L);
                RawMemory.putLong(e.line() + CommonsLayout.NOTIFIED, i);
                assertThat(e.send()).isZero();
                while (e.received.startPoll() != 0) {
                    Thread.onSpinWait();
                }
                assertThat(e.received.status()).isEqualTo(WcStatus.SUCCESS);
                e.received.endPoll();
                while (e.sent.startPoll() != 0) {
                    Thread.onSpinWait();
                }
                e.sent.endPoll();
            }
            assertThat(e.receiver.state()).isEqualTo(QueuePairState.RTS);
        }
    }
}
