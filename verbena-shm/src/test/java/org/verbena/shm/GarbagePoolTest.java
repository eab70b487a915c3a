// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.CommonsLayout;
import org.verbena.shm.pool.ReceivePool;
import org.verbena.testkit.Seeds;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;

/**
 * Peers that send to a shared receive queue and write garbage to all writable words: each posted receive completes at most
 * once, or the queue reports its failure; and everything can be closed.
 */
class GarbagePoolTest {
    private static final int SEEDS = 30;
    private static final int STEPS = 400;

    private final boolean[] posted = new boolean[PoolEnds.RECEIVES];

    @Test
    void noReceiveCompletesTwice() {
        Seeds.each(SEEDS, random -> {
            try (PoolEnds e = new PoolEnds()) {
                PoolEnds.Pair other = e.pair();
                QueuePair datagrams = e.datagramReceiver();
                QueuePair sender = PoolEnds.ready(e.sender.protectionDomain().createQueuePair(QueuePairInitAttributes
                        .builder(e.sent, e.sent).type(QueuePairType.UD).maxSendWr(16).build()));
                AddressHandle way = sender.protectionDomain().createAddressHandle(AddressVector.to(e.owner.queryGid(1,
                        0)));
                java.util.Arrays.fill(posted, false);
                int refused = 0;
                for (int i = 0; i < STEPS; i++) {
                    switch (random.nextInt(8)) {
                        case 0 -> e.send();
                        case 1 -> e.send(other.sender());
                        case 2 -> sender.sendQueue().start().send(i, SendFlags.SIGNALED).sge(e.from, 0, 8).datagram(
                                way, datagrams.number(), 1).complete();
                        case 3 -> garbage(e, other, random);
                        case 4, 5 -> refused = post(e, random);
                        default -> poll(e);
                    }
                }
                poll(e);
                for (ShmQueuePair q : new ShmQueuePair[] {e.sender, other.sender()}) {
                    RawMemory.putLongRelease(entry(e, q) + AdapterLayout.QP_HAZARD, 0);
                }
                assertThat(refused).isIn(0, Errno.ENOMEM, Errno.EINVAL);
                if (e.srq.pool().receives().isBroken()) {
                    assertThat(failure(e)).as("reported").isTrue();
                }
            }
        });
    }

    private static boolean failure(PoolEnds e) throws VerbsException {
        e.owner.engine().pollAgain();
        for (AsyncEvent a = e.owner.awaitAsyncEvent(PoolEnds.LIMIT); a != null; a = e.owner.awaitAsyncEvent(
                PoolEnds.LIMIT)) {
            if (a.type() == AsyncEventType.SRQ_ERR) {
                return true;
            }
        }
        return false;
    }

    private int post(PoolEnds e, Random random) {
        int id = random.nextInt(PoolEnds.RECEIVES);
        if (posted[id]) {
            return 0;
        }
        int r = e.srq.receiveQueue().post(id, e.to, 64L * id, 64);
        posted[id] = r == 0;
        return r;
    }

    private void poll(PoolEnds e) {
        while (e.received.startPoll() == 0) {
            int id = (int) e.received.wrId();
            assertThat(posted[id]).as("receive %d is posted", id).isTrue();
            posted[id] = false;
            e.received.endPoll();
        }
        while (e.sent.startPoll() == 0) {
            e.sent.endPoll();
        }
    }

    private static long entry(PoolEnds e, ShmQueuePair q) {
        return e.peer.adapter().base() + AdapterLayout.qpEntry(q.number());
    }

    private static void garbage(PoolEnds e, PoolEnds.Pair other, Random random) throws VerbsException {
        long line = e.line();
        ShmQueuePair q = random.nextBoolean() ? e.sender : other.sender();
        ReceivePool pool = e.srq.pool().receives();
        long some = pool.at(random.nextInt(2 * PoolEnds.RECEIVES));
        switch (random.nextInt(8)) {
            case 0 -> RawMemory.putLongRelease(line + CommonsLayout.LOST, GarbageNumbers.next(random));
            case 1 -> RawMemory.putLongRelease(line + CommonsLayout.STARVING, GarbageNumbers.next(random));
            case 2 -> RawMemory.putLongRelease(line + CommonsLayout.NEXT, RawMemory.getLong(line + CommonsLayout.NEXT)
                    + random.nextInt(3) - 1);
            case 3 -> {
                if (random.nextInt(20) == 0) {
                    RawMemory.putLongRelease(line + CommonsLayout.NEXT, GarbageNumbers.next(random));
                }
            }
            case 4 -> RawMemory.putLongRelease(entry(e, q) + AdapterLayout.QP_HAZARD, random.nextInt(4)
                    * 0x1_0100_0000L);
            case 5 -> RawMemory.putLongRelease(entry(e, q) + AdapterLayout.QP_HELD, random.nextBoolean()
                    ? some
                    : GarbageNumbers.next(random));
            default -> {
                if (e.lane(q) != 0) {
                    e.setClaim(q, random.nextInt(PoolEnds.RECEIVES), random.nextBoolean()
                            ? some
                            : GarbageNumbers.next(random));
                }
            }
        }
    }
}
