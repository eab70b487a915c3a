// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.CommonsLayout;
import org.verbena.shm.ring.Inbox;
import org.verbena.testkit.Seeds;
import org.verbena.verbs.WcOpcode;

/** {@link ReceivePool}, {@link PoolClaims} and {@link InboxReader} on plain memory. */
class ReceivePoolTest {
    private static final int ENTRIES = 8;
    private static final int LENGTH = 100;

    private final Arena keep = Arena.ofAuto();
    private final long all = keep.allocate(1 << 14, 128).address();
    private final ReceivePool pool = pool(all);
    private final InboxReader reader = new InboxReader(pool, all + 4096, ENTRIES);

    private static ReceivePool pool(long at) {
        return new ReceivePool(at, at + 128, at + 256, ENTRIES, at + 1024, 1);
    }

    private PoolClaims claims() {
        return new PoolClaims(all, all + 128, all + 256, ENTRIES);
    }

    private void post(int count) {
        for (int i = 0; i < count; i++) {
            int s = pool.take();
            assertThat(s).as("a free slot").isBetween(0, ENTRIES - 1);
            RawMemory.putInt(pool.wqe(s) + AdapterLayout.WQE_FITS, LENGTH + s);
            pool.post(s, 1);
        }
    }

    private void commit(long claim) {
        long e = reader.entry(claim);
        Inbox.address(e, claim, 7, 1, 2);
        Inbox.commit(e, claim, 0, 0, WcOpcode.RECV, 0, 0, false);
    }

    @Test
    void receivesAreClaimedInPostingOrder() {
        pool.setCapacity(5);
        post(5);
        assertThat(pool.take()).as("a sixth").isEqualTo(-1);
        PoolClaims one = claims();
        PoolClaims other = claims();
        for (int i = 0; i < 5; i++) {
            long c = (i % 2 == 0 ? one : other).claim();
            assertThat(Claim.position(c)).isEqualTo(i);
            assertThat(Claim.length(c)).isEqualTo(LENGTH + Claim.slot(c));
            assertThat(pool.available()).isEqualTo(4 - i);
            assertThat(pool.isOutstanding(c)).isTrue();
        }
        assertThat(one.claim()).isEqualTo(Claim.NONE);
        assertThat(other.isAvailable()).isFalse();
    }

    @Test
    void receiveIsFinishedOnceAndOnlyByItsClaim() {
        pool.setCapacity(1);
        post(1);
        long c = claims().claim();
        assertThat(pool.finish(Claim.NONE)).isFalse();
        assertThat(pool.finish(c + (1 << 22))).as("another position").isFalse();
        assertThat(pool.finish(Claim.of(0, LENGTH, 16383))).as("a slot that is not there").isFalse();
        assertThat(pool.finish(c)).isTrue();
        assertThat(pool.finish(c)).as("again").isFalse();
        pool.free(Claim.slot(c));
        post(1);
        assertThat(pool.finish(c)).as("when its slot is posted again").isFalse();
    }

    @Test
    void capacityGrowsAndShrinks() {
        pool.setCapacity(4);
        post(4);
        pool.setCapacity(8);
        post(4);
        assertThat(pool.take()).isEqualTo(-1);
        pool.setCapacity(2);
        PoolClaims claims = claims();
        for (int i = 0; i < 8; i++) {
            long c = claims.claim();
            assertThat(pool.finish(c)).isTrue();
            pool.free(Claim.slot(c));
        }
        post(2);
        assertThat(pool.take()).as("a third").isEqualTo(-1);
        pool.setCapacity(3);
        post(1);
        assertThat(pool.take()).as("a fourth").isEqualTo(-1);
    }

    @Test
    void returnedSlotIsReused() {
        pool.setCapacity(2);
        int a = pool.take();
        int b = pool.take();
        assertThat(pool.take()).isEqualTo(-1);
        pool.giveBack(a);
        pool.giveBack(b);
        post(2);
    }

    @Test
    void invalidPositionBreaksOnlyThePool() {
        for (long nonsense : new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE, 3}) {
            long at = Arena.global().allocate(4096, 128).address();
            ReceivePool p = pool(at);
            p.setCapacity(2);
            int s = p.take();
            p.post(s, 1);
            assertThat(p.check()).isTrue();
            RawMemory.putLong(at + 128 + CommonsLayout.NEXT, nonsense);
            assertThat(p.available()).isBetween(0L, 1L);
            assertThat(p.check()).as("next is %d", nonsense).isFalse();
            RawMemory.putLong(at + 128 + CommonsLayout.NEXT, 0);
            assertThat(p.check()).as("still broken").isFalse();
            assertThat(new PoolClaims(at, at + 128, at + 256, ENTRIES).claim()).isEqualTo(Claim.NONE);
        }
    }

    @Test
    void decreasingPositionBreaksThePool() {
        pool.setCapacity(4);
        post(4);
        claims().claim();
        claims().claim();
        assertThat(pool.check()).isTrue();
        RawMemory.putLong(all + 128 + CommonsLayout.NEXT, 1);
        assertThat(pool.check()).isFalse();
    }

    @Test
    void claimIsLostAfterARoundOfTheRing() {
        pool.setCapacity(2);
        post(2);
        // claimed by an initiator that has not read the ring yet
        RawMemory.putLong(all + 128 + CommonsLayout.NEXT, 1);
        PoolClaims others = claims();
        for (int i = 0; i < 2 * ENTRIES; i++) {
            long c = others.claim();
            pool.finish(c);
            pool.free(Claim.slot(c));
            post(1);
        }
        assertThat(Claim.isOf(pool.at(0), 0)).as("position 0 is in the ring still").isFalse();
    }

    @Test
    void ownerTakesOnlyReceivesLongEnoughAndPostedInTime() {
        pool.setCapacity(4);
        for (int i = 0; i < 4; i++) {
            int s = pool.take();
            RawMemory.putLong(pool.wqe(s) + AdapterLayout.WQE_LENGTH, i == 2 ? 10 : 100);
            pool.post(s, 1);
        }
        assertThat(pool.takeOldest(0, 50)).as("posted later").isEqualTo(Claim.NONE);
        long first = pool.takeOldest(4, 100);
        assertThat(Claim.position(first)).isZero();
        assertThat(pool.isOutstanding(first)).isFalse();
        assertThat(Claim.position(claims().claim())).isEqualTo(1);
        assertThat(pool.takeOldest(2, 5)).as("posted later").isEqualTo(Claim.NONE);
        assertThat(pool.takeOldest(4, 11)).as("too short").isEqualTo(Claim.NONE);
        assertThat(Claim.position(pool.takeOldest(4, 10))).isEqualTo(2);
        assertThat(Claim.position(pool.takeOldest(9, 100))).isEqualTo(3);
        assertThat(pool.takeOldest(9, 0)).isEqualTo(Claim.NONE);
        assertThat(pool.available()).isZero();
    }

    /** A receive that the engine recovers between the two steps of the owner's thread is skipped and comes later. */
    @Test
    void ownerDoesNotTakeFinishedReceives() {
        pool.setCapacity(2);
        post(2);
        long first = pool.at(0);
        assertThat(pool.finish(first)).isTrue();
        pool.repost(Claim.slot(first));
        assertThat(Claim.position(pool.takeOldest(9, 0))).isEqualTo(1);
        assertThat(Claim.position(pool.takeOldest(9, 0))).isEqualTo(2);
        assertThat(pool.outstanding()).isEmpty();
    }

    @Test
    void decreasingPositionGivesTheOwnerNoReceiveTwice() {
        pool.setCapacity(4);
        post(2);
        assertThat(pool.takeOldest(9, 0)).isNotEqualTo(Claim.NONE);
        RawMemory.putLong(all + 128 + CommonsLayout.NEXT, 0);
        assertThat(Claim.position(pool.takeOldest(9, 0))).isEqualTo(1);
        RawMemory.putLong(all + 128 + CommonsLayout.NEXT, -5);
        assertThat(pool.takeOldest(9, 0)).isEqualTo(Claim.NONE);
        assertThat(pool.check()).isFalse();
        post(1);
        RawMemory.putLong(all + 128 + CommonsLayout.NEXT, 2);
        assertThat(pool.takeOldest(9, 0)).as("of a broken pool").isEqualTo(Claim.NONE);
    }

    @Test
    void inboxIsReadInOrderAndPastUncommittedEntries() {
        pool.setCapacity(8);
        post(6);
        PoolClaims claims = claims();
        long[] c = new long[6];
        for (int i = 0; i < 5; i++) {
            c[i] = claims.claim();
        }
        assertThat(reader.next()).isEqualTo(Claim.NONE);
        commit(c[1]);
        commit(c[3]);
        assertThat(reader.next()).isEqualTo(c[1]);
        commit(c[2]);
        assertThat(reader.next()).as("the lowest one").isEqualTo(c[2]);
        assertThat(reader.next()).isEqualTo(c[3]);
        assertThat(reader.next()).isEqualTo(Claim.NONE);
        commit(c[0]);
        commit(c[4]);
        assertThat(reader.next()).isEqualTo(c[0]);
        assertThat(reader.next()).isEqualTo(c[4]);
        c[5] = claims.claim();
        assertThat(reader.next()).isEqualTo(Claim.NONE);
        commit(c[5]);
        assertThat(reader.next()).isEqualTo(c[5]);
    }

    /** For moderated events: a skipped entry counts as soon as it is committed. */
    @Test
    void skippedEntryIsCountedOnceCommitted() {
        pool.setCapacity(8);
        post(4);
        PoolClaims claims = claims();
        long first = claims.claim();
        long second = claims.claim();
        long third = claims.claim();
        commit(second);
        assertThat(reader.waiting()).isEqualTo(1);
        assertThat(reader.next()).isEqualTo(second);
        assertThat(reader.waiting()).isZero();
        commit(third);
        assertThat(reader.waiting()).isEqualTo(1);
        commit(first);
        assertThat(reader.waiting()).isEqualTo(2);
        assertThat(reader.next()).isEqualTo(first);
        assertThat(reader.next()).isEqualTo(third);
        assertThat(reader.waiting()).isZero();
    }

    /** A peer that completes an unclaimed receive could make two others write into one receive. */
    @Test
    void unclaimedReceiveIsNotCompleted() {
        pool.setCapacity(8);
        post(4);
        commit(pool.at(0));
        assertThat(reader.next()).isEqualTo(Claim.NONE);
        assertThat(pool.isBroken()).isTrue();
    }

    /** Some senders are slow, some die; receives are used once each, in the order of each sender, and none is lost. */
    @Test
    void noReceiveIsLostOrUsedTwice() {
        Seeds.each(200, random -> new ReceivePoolTest().play(random));
    }

    private void play(Random random) {
        pool.setCapacity(ENTRIES);
        PoolClaims claims = claims();
        List<ArrayDeque<Long>> senders = List.of(new ArrayDeque<>(), new ArrayDeque<>(), new ArrayDeque<>());
        List<ArrayDeque<Long>> committed = List.of(new ArrayDeque<>(), new ArrayDeque<>(), new ArrayDeque<>());
        int read = 0;
        for (int step = 0; step < 500; step++) {
            int who = random.nextInt(3);
            switch (random.nextInt(5)) {
                case 0 -> {
                    int s = pool.take();
                    if (s >= 0) {
                        pool.post(s, 1);
                    }
                }
                case 1 -> {
                    long c = claims.claim();
                    if (c != Claim.NONE) {
                        senders.get(who).add(c);
                    }
                }
                case 2 -> {
                    Long c = senders.get(who).poll();
                    if (c != null) {
                        commit(c);
                        committed.get(who).add(c);
                    }
                }
                case 3 -> {
                    Long dead = random.nextInt(4) == 0 ? senders.get(who).pollLast() : null;
                    if (dead != null && pool.mayRepost(reader.at())) {
                        assertThat(pool.finish(dead)).isTrue();
                        pool.repost(Claim.slot(dead));
                    } else if (dead != null) {
                        senders.get(who).addLast(dead);
                    }
                }
                default -> {
                    long c = reader.next();
                    if (c != Claim.NONE) {
                        read++;
                        assertThat(committed.stream().filter(q -> q.peek() != null && q.peek() == c).count())
                                .as("the oldest of one sender").isEqualTo(1);
                        committed.forEach(q -> q.removeFirstOccurrence(c));
                        pool.free(Claim.slot(c));
                    }
                }
            }
            assertThat(pool.check()).isTrue();
        }
        assertThat(read).isPositive();
        senders.forEach(q -> q.forEach(this::commit));
        List<Long> rest = new ArrayList<>();
        senders.forEach(rest::addAll);
        committed.forEach(rest::addAll);
        for (long c = reader.next(); c != Claim.NONE; c = reader.next()) {
            assertThat(rest.remove(c)).isTrue();
            pool.free(Claim.slot(c));
        }
        assertThat(rest).isEmpty();
        post(ENTRIES - (int) pool.available());
        assertThat(pool.take()).isEqualTo(-1);
    }
}
