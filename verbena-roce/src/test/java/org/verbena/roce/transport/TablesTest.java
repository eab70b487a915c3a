// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Seeds;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePairType;

/** Queue pairs by number, and by deadline. */
class TablesTest {
    private static final Gid GID = Gid.parse("::ffff:10.0.0.1");

    private final TestEnd owner = new TestEnd(new VirtualNetwork(new Random(1)), GID, 0x123456, QueuePairType.UD, 4096,
            false);

    private TransportQueuePair make(Transport transport, int number) {
        return transport.create(number, QueuePairType.UD, owner, new SendRing(1, 1, 0, 0));
    }

    @Test
    void queuePairsByNumberMatchAMap() {
        Seeds.each(200, random -> {
            Transport t = new Transport(owner.wire);
            Map<Integer, TransportQueuePair> model = new HashMap<>();
            int range = 1 << 1 + random.nextInt(20);
            for (int i = 0; i < 500; i++) {
                int n = random.nextInt(range);
                if (model.containsKey(n)) {
                    model.remove(n).close();
                } else {
                    model.put(n, make(t, n));
                }
                int any = random.nextInt(range);
                assertThat(t.find(any)).isSameAs(model.get(any));
            }
            model.forEach((n, q) -> assertThat(t.find(n)).isSameAs(q));
        });
    }

    @Test
    void duplicateNumberIsRejected() {
        Transport t = new Transport(owner.wire);
        make(t, 5);
        assertThatThrownBy(() -> make(t, 5)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("0x5");
        assertThatThrownBy(() -> make(t, 0xffffff)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> t.create(6, QueuePairType.RAW_PACKET, owner, new SendRing(1, 1, 0, 0)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("RAW_PACKET");
    }

    /** No queue pair expires later than its deadline; the order is that of the deadlines. */
    @Test
    void timersExpireInOrder() {
        Seeds.each(200, random -> {
            Transport t = new Transport(owner.wire);
            Timers timers = new Timers();
            List<TransportQueuePair> all = new ArrayList<>();
            Map<TransportQueuePair, Long> wanted = new HashMap<>();
            for (int i = 0; i < 50; i++) {
                all.add(make(t, i));
            }
            long now = 0;
            for (int i = 0; i < 500; i++) {
                TransportQueuePair q = all.get(random.nextInt(all.size()));
                switch (random.nextInt(4)) {
                    case 0 -> {
                        timers.remove(q);
                        wanted.remove(q);
                    }
                    case 1 -> {
                        now += random.nextInt(100);
                        for (TransportQueuePair due = timers.takeDue(now); due != null; due = timers.takeDue(now)) {
                            assertThat(wanted.remove(due)).isLessThanOrEqualTo(now);
                        }
                        assertThat(wanted.values()).allMatch(w -> w > 0);
                    }
                    default -> {
                        long when = now + 1 + random.nextInt(1000);
                        timers.set(q, when);
                        wanted.merge(q, when, Math::min); // a later time leaves the earlier one
                    }
                }
                long first = wanted.values().stream().min(Comparator.naturalOrder()).orElse(Timers.NEVER);
                assertThat(timers.first()).isEqualTo(first);
            }
        });
    }

    @Test
    void ringsOfAnyCapacityWrap() {
        for (int capacity : new int[] {1, 2, 3, 5, 64, 100}) {
            SendRing ring = new SendRing(capacity, 1, 4096, 16);
            assertThat(SendRing.slots(capacity)).isGreaterThanOrEqualTo(capacity).isLessThan(2 * capacity);
            for (int i = 0; i < 1000; i++) {
                assertThat(ring.room()).isEqualTo(capacity);
                SendWqe w = ring.free(capacity - 1);
                assertThat(w.inlineAddress).isBetween(4096L, 4096L + 16L * (SendRing.slots(capacity) - 1));
                ring.tail += capacity;
                assertThat(ring.room()).isZero();
                ring.head += capacity;
            }
        }
    }
}
