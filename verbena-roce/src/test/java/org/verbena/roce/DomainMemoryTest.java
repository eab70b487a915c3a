// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;

import org.junit.jupiter.api.Test;

import org.verbena.roce.transport.Memory;
import org.verbena.verbs.AccessFlags;

/** Whatever range a peer names, an address that is returned lies in a region that allows it. */
class DomainMemoryTest {
    private static final int PD = 3;
    private static final int[] RIGHTS = {AccessFlags.REMOTE_WRITE, AccessFlags.REMOTE_READ, AccessFlags.REMOTE_ATOMIC};

    private final KeyTable keys = new KeyTable();
    private final DomainMemory memory = new DomainMemory(keys, PD);

    private Region region(Arena arena, int pd, int access, long iova) throws Exception {
        MemorySegment s = arena.allocate(4096);
        Region r = new Region(keys.allocateKey(), pd, access, s, iova, false, null);
        keys.put(r);
        return r;
    }

    @Test
    void addressIsReturnedOnlyForAllowedRange() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (Arena arena = Arena.ofShared()) {
            for (int round = 0; round < 2000; round++) {
                int access = random.nextInt(16);
                long iova = switch (random.nextInt(3)) {
                    case 0 -> 0;
                    case 1 -> Long.MAX_VALUE - 4096;
                    default -> random.nextLong() >>> 2;
                };
                Region r = region(arena, random.nextInt(4) == 0 ? PD + 1 : PD, access, iova);
                int key = random.nextInt(8) == 0 ? r.key + 1 : r.key;
                int wanted = RIGHTS[random.nextInt(RIGHTS.length)];
                long offset = random.nextInt(6000) - 1000L;
                long length = random.nextInt(10) == 0 ? Long.MAX_VALUE - random.nextInt(4) : 1 + random.nextInt(5000);
                boolean allowed = key == r.key && r.pd == PD && (access & wanted) != 0 && offset >= 0
                        && length <= 4096 - offset;
                long found = memory.remote(1, key, iova + offset, length, wanted);
                assertThat(found).as("seed %d", seed).isEqualTo(allowed ? r.address + offset : found);
                assertThat(found >= 0).as("seed %d, round %d", seed, round).isEqualTo(allowed);
                keys.remove(r);
                assertThat(memory.remote(1, r.key, iova, 1, wanted)).isEqualTo(Memory.BAD_KEY);
                keys.freeKey(r.key);
            }
        }
    }

    @Test
    void freedMemoryIsNotAccessed() throws Exception {
        Region r;
        try (Arena arena = Arena.ofShared()) {
            r = region(arena, PD, AccessFlags.ALL, 0);
            assertThat(memory.local(r.key, 0, 8, 0)).isEqualTo(r.address);
        }
        assertThat(memory.local(r.key, 0, 8, 0)).isEqualTo(Memory.BAD_KEY);
        assertThat(memory.remoteAgain(1, r.key, 0, 8, AccessFlags.REMOTE_READ)).isEqualTo(Memory.BAD_KEY);
    }

    @Test
    void freedKeyIsNotReusedAtOnce() throws Exception {
        int first = keys.allocateKey();
        keys.freeKey(first);
        int second = keys.allocateKey();
        assertThat(second).isNotEqualTo(first).isNotZero();
    }
}
