// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.GarbageNumbers;
import org.verbena.shm.layout.Adapter;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.testkit.Seeds;
import org.verbena.verbs.AccessFlags;

class KeyTableTest {
    private static final int PD = 7;

    private final MemorySegment memory = Arena.ofAuto().allocate(1 << 16, 64);
    private Adapter adapter;
    private KeyTable keys;

    @BeforeEach
    void open() throws Exception {
        adapter = new Adapter(1);
        keys = new KeyTable(adapter);
    }

    @AfterEach
    void close() {
        adapter.close();
    }

    private long word(Region r) {
        return RawMemory.getLong(adapter.base() + AdapterLayout.keyEntry(r.key) + AdapterLayout.KEY_WORD);
    }

    private Region find(int key, int pd, long at, long bytes, int access) {
        return keys.find(key, pd, at, bytes, access);
    }

    @Test
    void regionIsFoundOnlyByItsKeyDomainBoundsAndRights() throws Exception {
        Region r = keys.add(PD, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ, memory, null);
        Seeds.each(2000, random -> {
            int key = random.nextInt(4) == 0 ? (int) GarbageNumbers.next(random) : r.key;
            int pd = random.nextInt(4) == 0 ? random.nextInt(70000) : PD;
            long at = r.address + (random.nextBoolean() ? random.nextInt(1 << 17) : GarbageNumbers.next(random));
            long bytes = random.nextBoolean() ? random.nextInt(1 << 17) : GarbageNumbers.next(random);
            int access = random.nextInt(16);
            boolean inside = bytes >= 0 && at >= r.address && at - r.address <= r.length
                    && bytes <= r.length - (at - r.address);
            boolean allowed = key == r.key && pd == PD && inside && (access & ~r.access) == 0;
            assertThat(find(key, pd, at, bytes, access)).isSameAs(allowed ? r : null);
        });
    }

    @Test
    void keysAreNeverZeroAndNotReusedSoon() throws Exception {
        Set<Integer> seen = new HashSet<>();
        for (int i = 0; i < 5000; i++) {
            Region r = keys.add(PD, AccessFlags.ALL, memory, null);
            assertThat(r.key).isNotZero();
            assertThat(seen.add(r.key)).as("key %x the second time", r.key).isTrue();
            keys.invalidate(r);
            keys.remove(r);
        }
    }

    @Test
    void peersSeeARegionUntilItIsInvalidatedAndAfterItIsRestored() throws Exception {
        List<Region> regions = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            regions.add(keys.add(PD, i, memory.asSlice(i * 64L, 64), null));
        }
        Region r = regions.get(3);
        assertThat(KeyTable.isValid(word(r))).isTrue();
        assertThat(KeyTable.isShared(word(r))).isFalse();
        assertThat(KeyTable.fits(word(r), r.key)).isTrue();
        assertThat(KeyTable.access(word(r))).isEqualTo(3);
        assertThat(KeyTable.pd(word(r))).isEqualTo(PD);
        long before = word(r);
        keys.invalidate(r);
        assertThat(word(r)).isZero();
        assertThat(find(r.key, PD, r.address, 1, 0)).isNull();
        assertThat(find(regions.get(4).key, PD, regions.get(4).address, 1, 0)).isNotNull();
        keys.restore(r);
        assertThat(word(r)).isEqualTo(before);
        assertThat(find(r.key, PD, r.address, 1, 0)).isSameAs(r);
        keys.invalidate(r);
        keys.remove(r);
        Region next = keys.add(PD, AccessFlags.ALL, memory, null);
        assertThat(find(r.key, PD, r.address, 1, 0)).isNull();
        assertThat(keys.all()).contains(next).doesNotContain(r);
    }

    @Test
    void domainsWithSimilarNumbersAreDistinguished() throws Exception {
        Region r = keys.add(AdapterLayout.MAX_PD - 1, AccessFlags.ALL, memory, null);
        assertThat(KeyTable.pd(word(r))).isEqualTo(AdapterLayout.MAX_PD - 1);
    }
}
