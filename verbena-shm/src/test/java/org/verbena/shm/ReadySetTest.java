package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

/** Against a model: for each queue pair the number of things that wait, and whether the peer or we made them. */
class ReadySetTest {
    private static final int INDEXES = 300;
    private static final int PEERS = 3;
    private static final int STEPS = 200_000;

    private final MemorySegment memory = Arena.ofAuto().allocate(PEERS * 2L * AdapterLayout.MAX_QP, 64);
    private final ReadySet set = new ReadySet();
    private final int[] waiting = new int[AdapterLayout.MAX_QP];

    private ReadySet.Counts counts(int peer) {
        return new ReadySet.Counts(memory, memory.address() + peer * 2L * AdapterLayout.MAX_QP);
    }

    private List<ReadySet.Counts> peers(int n) {
        List<ReadySet.Counts> l = new ArrayList<>();
        for (int k = 0; k < n; k++) {
            l.add(counts(k));
        }
        return l;
    }

    private void arrive(int peer, int index) {
        waiting[index]++;
        ReadySet.raise(counts(peer).address() + 2L * index);
    }

    private void completeHere(int index) {
        waiting[index]++;
        set.mark(index);
    }

    /** Takes one thing as a completion queue does; answers whose it was, or -1. */
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
    void nothingIsOverlookedInAnyOrderOfEvents() {
        Random random = new Random(7);
        set.watch(peers(PEERS));
        for (int i = 0; i < INDEXES; i++) {
            set.add(i, null);
        }
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
    void aBusyQueuePairDoesNotHideTheOthers() {
        set.watch(peers(2));
        for (int i = 0; i < INDEXES; i++) {
            set.add(i, null);
            arrive(i % 2, i);
        }
        waiting[0] = Integer.MAX_VALUE; // never empty, in its own process and at a peer
        completeHere(5);
        waiting[5] = Integer.MAX_VALUE;
        boolean[] seen = new boolean[INDEXES];
        for (int n = 0; n < 6 * INDEXES; n++) {
            seen[take()] = true;
        }
        assertThat(seen).doesNotContain(false);
    }

    @Test
    void queuePairsOfOtherQueuesAreNotAnswered() {
        set.watch(peers(1));
        set.add(9, null);
        settle();
        arrive(0, 8);
        arrive(0, 10);
        assertThat(take()).isEqualTo(-1);
        arrive(0, 9);
        assertThat(take()).isEqualTo(9);
        set.remove(9);
        arrive(0, 9);
        assertThat(take()).isEqualTo(-1);
    }

    @Test
    void countsGoOnWherePeersCameAndWent() {
        set.watch(peers(2));
        set.add(1, null);
        arrive(1, 1);
        assertThat(take()).isEqualTo(1);
        settle();
        set.watch(peers(1));
        arrive(0, 1);
        assertThat(take()).isEqualTo(1);
        set.watch(peers(2));
        settle();
        arrive(1, 1);
        assertThat(take()).isEqualTo(1);
        assertThat(take()).isEqualTo(-1);
    }
}
