// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Seeds;

class ExtentsTest {
    private static final long START = 8192;
    private static final int PAGES = 64;
    private static final long END = START + PAGES * 4096L;

    @Test
    void sizesAreRoundedUpToPages() {
        assertThat(Extents.pages(1)).isEqualTo(4096);
        assertThat(Extents.pages(4096)).isEqualTo(4096);
        assertThat(Extents.pages(4097)).isEqualTo(8192);
    }

    @Test
    void requestThatDoesNotFitIsRefusedWithoutLoss() {
        Extents e = new Extents(START, END);
        assertThat(e.take(PAGES * 4096L + 1)).isEqualTo(-1);
        assertThat(e.take(PAGES * 4096L)).isEqualTo(START);
        assertThat(e.take(1)).isEqualTo(-1);
        e.give(START, PAGES * 4096L);
        assertThat(e.take(PAGES * 4096L)).isEqualTo(START);
    }

    @Test
    void extentsNeverOverlapAndMergeWhenFreed() {
        Seeds.each(100, random -> {
            Extents extents = new Extents(START, END);
            BitSet used = new BitSet();
            List<long[]> taken = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                if (random.nextInt(3) < 2) {
                    long bytes = 1L + random.nextInt(6 * 4096);
                    long at = extents.take(bytes);
                    int pages = (int) (Extents.pages(bytes) / 4096);
                    if (at < 0) {
                        assertThat(longestRun(used)).isLessThan(pages);
                        continue;
                    }
                    int first = (int) ((at - START) / 4096);
                    assertThat(at).isBetween(START, END - pages * 4096L);
                    assertThat(used.nextSetBit(first)).matches(n -> n < 0 || n >= first + pages);
                    used.set(first, first + pages);
                    taken.add(new long[] {at, bytes});
                } else if (!taken.isEmpty()) {
                    give(extents, used, taken.remove(random.nextInt(taken.size())));
                }
            }
            for (long[] t : taken) {
                give(extents, used, t);
            }
            assertThat(extents.take(END - START)).isEqualTo(START);
        });
    }

    private static void give(Extents extents, BitSet used, long[] extent) {
        extents.give(extent[0], extent[1]);
        int first = (int) ((extent[0] - START) / 4096);
        used.clear(first, first + (int) (Extents.pages(extent[1]) / 4096));
    }

    private static int longestRun(BitSet used) {
        int longest = 0;
        for (int from = used.nextClearBit(0); from < PAGES; from = used.nextClearBit(from)) {
            int to = used.nextSetBit(from);
            int end = to < 0 ? PAGES : to;
            longest = Math.max(longest, end - from);
            from = end;
        }
        return longest;
    }
}
