// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.Random;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.GarbageNumbers;
import org.verbena.testkit.Seeds;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.Slots;

/** The words that two ends publish to each other, and the allocation of numbers. */
class WordsTest {
    @Test
    void postedWordCarriesCountAndShortest() {
        Seeds.each(1000, random -> {
            long count = random.nextLong() >>> 8;
            long shortest = random.nextLong() >>> 1 >>> random.nextInt(63);
            long word = Posted.of(count, shortest);
            assertThat(Posted.count(word)).isEqualTo(count);
            assertThat(Posted.shortest(word)).isEqualTo((int) Math.min(255, shortest));
        });
    }

    @Test
    void linkCarriesConnectionAndAccessAndIsOdd() {
        Seeds.each(1000, random -> {
            long connection = random.nextLong(1L << 48);
            int access = random.nextInt(32);
            int flush = random.nextInt() & (AccessFlags.FLUSH_GLOBAL | AccessFlags.FLUSH_PERSISTENT);
            long link = Link.of(connection, access | flush);
            assertThat(Link.access(link)).isEqualTo(access);
            assertThat(Link.flushAccess(link)).isEqualTo(flush);
            assertThat(link & 1).isEqualTo(1);
            assertThat(link & Link.IDENTITY).isEqualTo(Link.of(connection, ~access) & Link.IDENTITY);
            for (int bit = 0; bit < 48; bit++) {
                assertThat(link & Link.IDENTITY).isNotEqualTo(Link.of(connection ^ 1L << bit, access)
                        & Link.IDENTITY);
            }
        });
    }

    @Test
    void hazardNamesItsRegionAndIsNeverZeroInside() {
        MemorySegment word = Arena.ofAuto().allocate(8, 8);
        long address = RawMemory.addressOf(word);
        Seeds.each(1000, random -> {
            int key = (int) GarbageNumbers.next(random);
            int what = random.nextBoolean() ? Hazard.RECEIVES : Hazard.region(key);
            Hazard.enter(address, random.nextInt(), what);
            assertThat(RawMemory.getLong(address)).isNotZero();
            assertThat(Hazard.what(RawMemory.getLong(address))).isEqualTo(what).isNotZero();
            assertThat(Hazard.region(key)).isEqualTo(Hazard.region(key ^ random.nextInt(256)));
            Hazard.leave(address);
            assertThat(RawMemory.getLong(address)).isZero();
        });
    }

    @Test
    void hazardsOfOneRegionDifferEachTime() {
        MemorySegment word = Arena.ofAuto().allocate(8, 8);
        long address = RawMemory.addressOf(word);
        Hazard.enter(address, -1, Hazard.RECEIVES);
        long before = RawMemory.getLong(address);
        Hazard.enter(address, 0, Hazard.RECEIVES);
        assertThat(RawMemory.getLong(address)).isNotEqualTo(before);
    }

    @Test
    void commitCarriesItsFields() {
        Seeds.each(1000, random -> {
            long index = random.nextLong() >>> 8;
            int opcode = random.nextInt(256);
            int status = random.nextInt(256);
            int flags = random.nextInt(LaneLayout.KNOWN_FLAGS + 1);
            long c = LaneLayout.commit(index, opcode, status, flags);
            assertThat((int) c).isEqualTo((int) (index + 1));
            assertThat(LaneLayout.opcode(c)).isEqualTo(opcode);
            assertThat(LaneLayout.status(c)).isEqualTo(status);
            assertThat(LaneLayout.flags(c)).isEqualTo(flags);
        });
    }

    @Test
    void eachSlotHasOneOwnerAndAllAreUsed() {
        Seeds.each(50, WordsTest::takeAndGive);
    }

    private static void takeAndGive(Random random) throws VerbsException {
        int count = 1 + random.nextInt(70);
        Slots slots = new Slots(count);
        BitSet taken = new BitSet();
        for (int i = 0; i < 1000; i++) {
            if (taken.cardinality() == count) {
                assertThatThrownBy(() -> slots.take("test", "things")).isInstanceOfSatisfying(VerbsException.class,
                        e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM)).hasMessageContaining(count + " things");
            } else if (random.nextInt(3) > 0) {
                int n = slots.take("test", "things");
                assertThat(n).isBetween(0, count - 1);
                assertThat(taken.get(n)).isFalse();
                taken.set(n);
            }
            if (!taken.isEmpty() && random.nextInt(3) == 0) {
                int n = taken.stream().skip(random.nextInt(taken.cardinality())).findFirst().orElseThrow();
                taken.clear(n);
                slots.give(n);
            }
        }
    }

    @Test
    void everyKeyAndQueuePairNumberLiesInItsTable() {
        Seeds.each(1000, random -> {
            int n = (int) GarbageNumbers.next(random);
            assertThat(AdapterLayout.keyEntry(n)).isBetween(AdapterLayout.KEYS, AdapterLayout.HEAP - 64);
            assertThat(AdapterLayout.qpEntry(n)).isBetween(AdapterLayout.QP_DIRECTORY, AdapterLayout.ARM_WORDS - 256);
        });
    }
}
