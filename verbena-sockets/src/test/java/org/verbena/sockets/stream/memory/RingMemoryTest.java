// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

import org.verbena.linux.MemoryLimit;
import org.verbena.verbs.Context;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** How much memory rings take, and give back. */
@Isolated
class RingMemoryTest {
    private static final int SMALL = RingMemory.SMALL_RING;
    private static final int MIB = 1 << 20;
    private static final long SESSION = 1 << 30;

    private final AtomicLong limit = new AtomicLong(320L * MIB);
    private final AtomicLong available = new AtomicLong(300L * MIB);
    private final AtomicLong now = new AtomicLong(-1);
    private final AtomicInteger reads = new AtomicInteger();
    private final AtomicInteger idle = new AtomicInteger();
    private final RingMemory memory = new RingMemory(() -> {
        reads.incrementAndGet();
        return new MemoryLimit(limit.get(), "/a");
    }, available::get, now::get);
    private Context context;
    private ProtectionDomain pd;

    @BeforeEach
    void open() throws VerbsException {
        context = Verbs.open("shm0");
        pd = context.allocateProtectionDomain();
    }

    @AfterEach
    void close() throws VerbsException {
        context.close();
    }

    private void later() {
        now.addAndGet(1_000_000_000L);
    }

    @Test
    void ringsGetAShareOfTheLimitAndOfTheRemainder() {
        assertThat(memory.allows(4 * MIB, 16 * MIB)).isTrue();
        memory.add(30 * MIB);
        assertThat(memory.allows(4 * MIB, 10 * MIB)).isTrue();
        assertThat(memory.allows(4 * MIB, 11 * MIB)).as("more than an eighth of the limit").isFalse();
        assertThat(memory.allows(SMALL, 20 * MIB)).as("of a small ring").isTrue();
        memory.add(-25 * MIB);
        assertThat(memory.allows(4 * MIB, 11 * MIB)).isTrue();
        available.set(80L * MIB);
        assertThat(memory.allows(4 * MIB, 11 * MIB)).as("it was read just now").isTrue();
        later();
        assertThat(memory.allows(4 * MIB, 11 * MIB)).as("more than an eighth of what is left").isFalse();
        assertThat(memory.allows(4 * MIB, 10 * MIB)).isTrue();
        assertThat(memory.isShort()).isFalse();
        available.set(39L * MIB);
        later();
        assertThat(memory.isShort()).isTrue();
        assertThat(memory.allows(2 * SMALL, 2 * SMALL)).isFalse();
        assertThat(memory.allows(SMALL, SMALL)).isTrue();
        available.set(SMALL);
        later();
        assertThat(memory.allows(SMALL, SMALL)).isFalse();
        assertThat(memory.limit()).isEqualTo(new MemoryLimit(320L * MIB, "/a"));
        assertThat(memory.most()).isEqualTo(40L * MIB);
    }

    /** Of what was seen to be left, rings that were granted since have taken a part. */
    @Test
    void limitSampleIsSharedAndCountsAllocations() {
        limit.set(80L * MIB);
        available.set(20L * MIB);
        assertThat(memory.allows(MIB, 2 * MIB)).isTrue();
        memory.add(2 * MIB);
        assertThat(memory.allows(MIB, 2 * MIB)).isTrue();
        memory.add(5 * MIB);
        assertThat(memory.allows(MIB, 2 * MIB)).isFalse();
        assertThat(memory.allows(MIB, MIB)).isTrue();
        assertThat(reads).hasValue(1);
        later();
        memory.allows(MIB, MIB);
        assertThat(reads).hasValue(2);
    }

    @Test
    void lowMemoryLimitMakesSmallRegions() {
        assertThat(memory.largestRegion()).isEqualTo(2 * MIB);
        limit.set(MIB);
        later();
        assertThat(memory.largestRegion()).isEqualTo(64 << 10);
        limit.set(Long.MAX_VALUE);
        later();
        assertThat(memory.largestRegion()).isEqualTo(16 * MIB);
    }

    /** As with connections that come and go: no later checks pile up. */
    @Test
    void reusedMemorySchedulesOneIdleCheck() throws Exception {
        Arena arena = new Arena(pd, SESSION, memory, a -> idle.incrementAndGet());
        for (int i = 0; i < 100; i++) {
            arena.free(arena.allocate(MIB));
        }
        assertThat(idle).hasValue(1);
        assertThat(arena.closeIdle(System.nanoTime())).as("it was used just now").isBetween(1L, Arena.IDLE_NANOS);
        arena.free(arena.allocate(MIB));
        assertThat(idle).as("a check is due still").hasValue(1);
        assertThat(arena.closeIdle(System.nanoTime() + Arena.IDLE_NANOS)).isEqualTo(Long.MAX_VALUE);
        assertThat(arena.total()).isZero();
        arena.free(arena.allocate(MIB));
        assertThat(idle).hasValue(2);
        arena.close();
    }

    @Test
    void unusedMemoryIsReleasedAfterADelay() throws Exception {
        Arena arena = new Arena(pd, SESSION, memory, a -> idle.incrementAndGet());
        Memory header = arena.allocatePermanently(2048);
        Memory block = arena.allocate(256);
        Memory ring = arena.allocate(4096);
        long first = arena.total();
        assertThat(arena.hasAmple(MIB)).isTrue();
        Memory large = arena.allocate(MIB);
        Memory larger = arena.allocate(4 * MIB);
        long most = arena.total();
        assertThat(most).isGreaterThanOrEqualTo(5L * MIB);
        assertThat(memory.taken()).isEqualTo(most);
        assertThat(arena.closeIdle(Long.MAX_VALUE)).as("all is used").isEqualTo(Long.MAX_VALUE);
        arena.free(ring);
        assertThat(idle).hasValue(0);
        arena.free(larger);
        arena.free(large);
        assertThat(idle).hasPositiveValue();
        long freed = System.nanoTime();
        assertThat(arena.closeIdle(freed - Arena.IDLE_NANOS)).isBetween(1L, 3 * Arena.IDLE_NANOS);
        assertThat(arena.total()).as("used just now").isEqualTo(most);
        Memory again = arena.allocate(MIB);
        assertThat(again.address()).isEqualTo(large.address());
        arena.closeIdle(freed + Arena.IDLE_NANOS);
        assertThat(arena.total()).as("used again").isBetween(first + MIB, most);
        arena.free(again);
        assertThat(arena.closeIdle(System.nanoTime() + Arena.IDLE_NANOS)).isEqualTo(Long.MAX_VALUE);
        assertThat(arena.total()).isEqualTo(first);
        assertThat(memory.taken()).isEqualTo(first);

        Memory anew = arena.allocate(4 * MIB); // and all goes on
        anew.segment().fill((byte) 7);
        block.segment().fill((byte) 7);
        header.segment().fill((byte) 7);
        arena.free(anew);
        arena.free(block);
        arena.closeIdle(System.nanoTime() + Arena.IDLE_NANOS);
        assertThat(arena.total()).as("of what stays").isEqualTo(first);
        arena.close();
        assertThat(memory.taken()).isZero();
        arena.free(header); // too late, and nothing happens
        assertThat(arena.closeIdle(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    }

    /**
     * Whatever the order: no piece is handed out twice, none of a region that is gone, and at the end nothing is left.
     */
    @Test
    void piecesAndRegionsAreKeptApart() throws Exception {
        for (int seed = 0; seed < 20; seed++) {
            Random random = new Random(seed);
            Arena arena = new Arena(pd, SESSION, memory, a -> {});
            List<Memory> pieces = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                if (random.nextInt(3) == 0 && pieces.size() < 40) {
                    Memory piece = arena.allocate(128 << random.nextInt(14));
                    for (Memory other : pieces) {
                        assertThat(piece.address() + piece.size() <= other.address()
                                || other.address() + other.size() <= piece.address()).isTrue();
                    }
                    piece.segment().fill((byte) i);
                    pieces.add(piece);
                } else if (!pieces.isEmpty()) {
                    arena.free(pieces.remove(random.nextInt(pieces.size())));
                }
                if (random.nextInt(20) == 0) {
                    arena.closeIdle(System.nanoTime() + Arena.IDLE_NANOS);
                }
            }
            pieces.forEach(arena::free);
            arena.closeIdle(System.nanoTime() + Arena.IDLE_NANOS);
            assertThat(arena.total()).as("seed " + seed).isZero();
            arena.close();
            assertThat(memory.taken()).isZero();
        }
    }
}
