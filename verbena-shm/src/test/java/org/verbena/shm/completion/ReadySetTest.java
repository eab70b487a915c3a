// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.completion;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import org.verbena.shm.layout.AdapterLayout;

/** Against a model: for each queue pair the number of waiting completions, and whether the peer or we made them. */
class ReadySetTest {
    private static final int INDEXES = 300;
    private static final int PEERS = 3;
    private static final int STEPS = 200_000;

    private final MemorySegment memory = Arena.ofAuto().allocate(PEERS * 2L * AdapterLayout.MAX_QP, 64);
    private final ReadySet set = new ReadySet();
    private final int[] waiting = new int[AdapterLayout.MAX_QP];

    private long counts(int peer) {
        return memory.address() + peer * 2L * AdapterLayout.MAX_QP;
    }

    /** All queue pairs below {@code queuePairs} are connected to each of the first peers. */
    private List<ReadySet.Counts> peers(int n, int queuePairs) {
        List<Integer> all = IntStream.range(0, queuePairs).boxed().toList();
        return IntStream.range(0, n).mapToObj(k -> new ReadySet.Counts(memory, counts(k), all)).toList();
    }

    private void arrive(int peer, int index) {
        waiting[index]++;
        ReadySet.raise(counts(peer) + 2L * index);
    }

    private void completeHere(int index) {
        waiting[index]++;
        set.mark(index);
    }

    /** Takes one completion as a completion queue does; the index of its queue pair, or -1. */
    private int take() {
        while (true) {
            int i = set.next();
            if (i < 0) {
                return -1;
            }
            boolean something = waiting[i] > 0;
            set.found(i, something);
            if (something) {
                waiting[i]--;
                return i;
            }
        }
    }

    private void settle() {
        while (take() >= 0) {
            assertThat(waiting).doesNotContain(-1);
        }
    }

    @Test
    void noMarkIsMissedInAnyOrderOfEvents() {
        Random random = new Random(7);
        set.watch(peers(PEERS, INDEXES));
        addAll();
        long outstanding = 0;
        for (int step = 0; step < STEPS; step++) {
            int index = random.nextInt(INDEXES);
            switch (random.nextInt(5)) {
                case 0 -> {
                    arrive(random.nextInt(PEERS), index);
                    outstanding++;
                }
                case 1 -> {
                    completeHere(index);
                    outstanding++;
                }
                default -> {
                    int got = take();
                    assertThat(got >= 0).as("%d wait", outstanding).isEqualTo(outstanding > 0);
                    outstanding -= got >= 0 ? 1 : 0;
                }
            }
        }
    }

    @Test
    void busyQueuePairsOfTwoPeersDoNotStarveOthers() {
        set.watch(peers(2, INDEXES));
        addAll();
        waiting[0] = Integer.MAX_VALUE;
        waiting[30] = Integer.MAX_VALUE;
        ReadySet.raise(counts(0));
        ReadySet.raise(counts(1) + 2 * 30);
        arrive(0, 20);
        arrive(1, 7);
        assertThat(seenIn(6)).contains(0, 7, 20, 30);
    }

    @Test
    void busySendsAndReceivesDoNotStarveOthers() {
        set.watch(peers(1, INDEXES));
        addAll();
        waiting[0] = Integer.MAX_VALUE;
        ReadySet.raise(counts(0));
        waiting[30] = Integer.MAX_VALUE;
        set.mark(30);
        arrive(0, 20);
        completeHere(40);
        assertThat(seenIn(8)).contains(0, 20, 30, 40);
    }

    @Test
    void oneRoundFindsAllMarked() {
        set.watch(peers(2, INDEXES));
        addAll();
        for (int i = 0; i < INDEXES; i++) {
            arrive(i % 2, i);
        }
        assertThat(seenIn(INDEXES)).hasSize(INDEXES);
    }

    @Test
    void wrappedCountIsNotTakenForEmpty() {
        set.watch(peers(1, 8));
        set.mark(5);
        settle();
        int behind = 100;
        for (int n = 0; n < 1 << 16; n++) {
            arrive(0, 5);
            if (n >= behind) {
                assertThat(take()).isEqualTo(5);
            }
        }
        for (int n = 0; n < behind; n++) {
            assertThat(take()).isEqualTo(5);
        }
        assertThat(take()).isEqualTo(-1);
    }

    @Test
    void queuePairsOfOtherQueuesAreNotReturned() {
        set.watch(List.of(new ReadySet.Counts(memory, counts(0), List.of(9))));
        set.mark(9);
        settle();
        arrive(0, 8);
        arrive(0, 10);
        assertThat(take()).isEqualTo(-1);
        arrive(0, 9);
        assertThat(take()).isEqualTo(9);
        set.watch(List.of());
        arrive(0, 9);
        assertThat(take()).isEqualTo(-1);
    }

    @Test
    void countsSurviveAChangeOfPeers() {
        set.watch(peers(2, 8));
        set.mark(1);
        arrive(1, 1);
        assertThat(take()).isEqualTo(1);
        settle();
        set.watch(peers(1, 8));
        arrive(0, 1);
        assertThat(take()).isEqualTo(1);
        set.watch(peers(2, 8));
        settle();
        arrive(1, 1);
        assertThat(take()).isEqualTo(1);
        assertThat(take()).isEqualTo(-1);
    }

    @Test
    void garbageInTheCountsCostsOnlyPolls() {
        set.watch(peers(PEERS, INDEXES));
        addAll();
        Random random = new Random(8);
        for (int n = 0; n < STEPS; n++) {
            memory.setAtIndex(ValueLayout.JAVA_LONG, random.nextLong(memory.byteSize() / 8), random.nextLong());
            int i = set.next();
            assertThat(i).isBetween(-1, INDEXES - 1);
            if (i >= 0) {
                set.found(i, random.nextBoolean());
            }
        }
    }

    private void addAll() {
        for (int i = 0; i < INDEXES; i++) {
            set.mark(i);
        }
        settle();
    }

    private Set<Integer> seenIn(int takes) {
        Set<Integer> seen = new HashSet<>();
        for (int n = 0; n < takes; n++) {
            seen.add(take());
        }
        return seen;
    }
}
