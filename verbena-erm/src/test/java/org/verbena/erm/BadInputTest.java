// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** Invalid calls are rejected with their errno and have no effect; the connection stays intact. */
class BadInputTest {
    private static final int LOCAL = AccessFlags.LOCAL_WRITE;
    private static final int WRITE = LOCAL | AccessFlags.REMOTE_WRITE;
    private static final int READ = AccessFlags.REMOTE_READ;

    private static Ends ends;
    private static RemoteMemory a;
    private static RemoteMemory b;
    private static LocalRegion source;
    private static LocalRegion writable;
    private static LocalRegion readable;

    @BeforeAll
    static void prepare() throws Exception {
        ends = Ends.open();
        a = ends.memoryA();
        b = ends.memoryB();
        source = a.allocate(4096, LOCAL, 0);
        writable = b.allocate(1000, WRITE, 0);
        readable = b.allocate(1000, READ, 0);
        Ends.event(a, EventType.REGION_ADDED);
        Ends.event(a, EventType.REGION_ADDED);
    }

    @AfterAll
    static void end() throws IOException {
        ends.close();
    }

    /** After each test the connection works as before. */
    @AfterEach
    void connectionIsIntact() throws Exception {
        assertThat(copy(source.id(), 0, writable.id(), 0, 1000, 0)).isZero();
        assertThat(a.copies().poll()).isFalse();
        assertThat(a.isOpen()).isTrue();
        assertThat(b.isOpen()).isTrue();
    }

    private static int copy(int from, long fromOffset, int to, long toOffset, long length, int flags) {
        int error = a.copies().copy(from, fromOffset, to, toOffset, length, flags, 1);
        int asBatch = a.copies().start().add(from, fromOffset, to, toOffset, length, flags, 1, 0).commit();
        assertThat(asBatch).as("as a batch").isEqualTo(error);
        if (error == 0) {
            try {
                assertThat(Ends.completion(a)).isEqualTo(WcStatus.SUCCESS);
                assertThat(Ends.completion(a)).isEqualTo(WcStatus.SUCCESS);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        } else {
            assertThatThrownBy(() -> a.copyAsync(from, fromOffset, to, toOffset, length, flags, 0).get()).isInstanceOf(
                    ExecutionException.class).cause().isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e
                            .errno()).as(e.getMessage()).isEqualTo(error));
        }
        return error;
    }

    private static void expectRefusal(int errno, String words,
            org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.errno()).as(e
                .getMessage()).isEqualTo(errno)).hasMessageContaining(words);
    }

    @Test
    void rejectsHeapMemory() {
        expectRefusal(Errno.EINVAL, "heap memory", () -> a.register(MemorySegment.ofArray(new byte[16]), LOCAL));
    }

    @Test
    void rejectsEmptyMemory() {
        expectRefusal(Errno.EINVAL, "size", () -> a.register(Arena.ofAuto().allocate(0), LOCAL));
        expectRefusal(Errno.EINVAL, "size", () -> a.allocate(0, LOCAL, 0));
        expectRefusal(Errno.EINVAL, "size", () -> a.allocate(-1, LOCAL, 0));
    }

    @Test
    void readOnlyMemoryAllowsReadOnly() throws Exception {
        MemorySegment memory = Arena.ofAuto().allocate(64).asReadOnly();
        expectRefusal(Errno.EINVAL, "read-only", () -> a.register(memory, LOCAL));
        expectRefusal(Errno.EINVAL, "", () -> a.register(memory, AccessFlags.REMOTE_WRITE));
        try (LocalRegion region = a.register(memory, READ)) {
            assertThat(copy(region.id(), 0, writable.id(), 0, 64, 0)).isZero();
        }
    }

    @Test
    void rejectsConfinedAndClosedArenas() {
        try (Arena confined = Arena.ofConfined()) {
            expectRefusal(Errno.EINVAL, "confined", () -> a.register(confined.allocate(64), LOCAL));
        }
        Arena closed = Arena.ofShared();
        MemorySegment gone = closed.allocate(64);
        closed.close();
        expectRefusal(Errno.EINVAL, "closed", () -> a.register(gone, LOCAL));
    }

    @Test
    void arenaCloseFailsWhileRegistered() throws Exception {
        for (int access : new int[] {0, LOCAL, WRITE | READ}) {
            Arena arena = Arena.ofShared();
            LocalRegion one = a.register(arena.allocate(64), access);
            LocalRegion other = a.register(arena.allocate(64), access);
            assertThatThrownBy(arena::close).isInstanceOf(IllegalStateException.class).hasMessageContaining("acquired");
            one.close();
            assertThatThrownBy(arena::close).isInstanceOf(IllegalStateException.class).hasMessageContaining("acquired");
            other.close();
            other.close();
            arena.close();
        }
        try (Arena arena = Arena.ofShared()) { // rejected registrations hold no memory
            expectRefusal(Errno.EINVAL, "read-only", () -> a.register(arena.allocate(64).asReadOnly(), LOCAL));
        }
    }

    @Test
    void rejectsUnknownAndContradictoryRights() {
        expectRefusal(Errno.EINVAL, "LOCAL_WRITE", () -> a.allocate(64, AccessFlags.REMOTE_WRITE, 0));
        expectRefusal(Errno.EINVAL, "REMOTE_ATOMIC", () -> a.allocate(64, LOCAL | AccessFlags.REMOTE_ATOMIC, 0));
        expectRefusal(Errno.EINVAL, "access", () -> a.allocate(64, 1 << 30, 0));
    }

    @Test
    void rejectsCopyOutOfBounds() {
        long[][] wrong = {{-1, 0, 1}, {0, -1, 1}, {0, 0, -1}, {0, 0, 1001}, {0, 1000, 1}, {4096, 0, 1}, {0, 1, 1000},
            {3097, 0, 1000}, {Long.MAX_VALUE, 0, 1}, {0, Long.MAX_VALUE, 1}, {0, 0, Long.MAX_VALUE}, {1, 0,
                Long.MAX_VALUE}, {Long.MIN_VALUE, 0, 1}, {0, 0, Long.MIN_VALUE}, {Long.MAX_VALUE, Long.MAX_VALUE,
                    Long.MAX_VALUE}};
        for (long[] w : wrong) {
            assertThat(copy(source.id(), w[0], writable.id(), w[1], w[2], 0)).as(w[0] + " " + w[1] + " " + w[2])
                    .isEqualTo(Errno.ERANGE);
            assertThat(copy(readable.id(), w[1], source.id(), w[0], w[2], 0)).as(w[0] + " " + w[1] + " " + w[2])
                    .isEqualTo(Errno.ERANGE);
        }
    }

    @Test
    void copyReachesLastByte() {
        assertThat(copy(source.id(), 4095, writable.id(), 999, 1, 0)).isZero();
        assertThat(copy(source.id(), 4096, writable.id(), 1000, 0, 0)).isZero();
    }

    @Test
    void rejectsCopyWithoutRight() throws Exception {
        assertThat(copy(source.id(), 0, readable.id(), 0, 1, 0)).isEqualTo(Errno.EACCES);
        assertThat(copy(writable.id(), 0, source.id(), 0, 1, 0)).isEqualTo(Errno.EACCES);
        try (LocalRegion fixed = a.allocate(64, 0, 0)) {
            assertThat(copy(readable.id(), 0, fixed.id(), 0, 1, 0)).isEqualTo(Errno.EACCES);
            assertThat(copy(fixed.id(), 0, writable.id(), 0, 1, 0)).isZero();
        }
    }

    @Test
    void rejectsWrongIds() throws Exception {
        int[] wrong = {0, -1, 1, 2, Integer.MAX_VALUE, Integer.MIN_VALUE, source.id() + (1 << 13), writable.id()
                + (1 << 13), readable.id() + 2, source.id() | 1 << 31};
        for (int id : wrong) {
            assertThat(copy(id, 0, writable.id(), 0, 1, 0)).as("from " + id).isEqualTo(Errno.ENOENT);
            assertThat(copy(source.id(), 0, id, 0, 1, 0)).as("to " + id).isEqualTo(Errno.ENOENT);
        }
        assertThat(copy(source.id(), 0, source.id(), 0, 1, 0)).isEqualTo(Errno.ENOENT);
        assertThat(copy(writable.id(), 0, readable.id(), 0, 1, 0)).isEqualTo(Errno.ENOENT);
    }

    /** Though a region has the same slot here: generations start at random. */
    @Test
    void rejectsIdsOfOtherConnection() throws Exception {
        try (Ends other = Ends.open();
                LocalRegion own = other.memoryA().allocate(64, WRITE, 0);
                LocalRegion theirs = other.memoryB().allocate(64, WRITE, 0)) {
            assertThat(RegionId.index(theirs.id())).isEqualTo(RegionId.index(writable.id()));
            assertThat(copy(source.id(), 0, theirs.id(), 0, 1, 0)).isEqualTo(Errno.ENOENT);
            assertThat(copy(own.id(), 0, writable.id(), 0, 1, 0)).isEqualTo(Errno.ENOENT);
            assertThat(copy(readable.id(), 0, own.id(), 0, 1, 0)).isEqualTo(Errno.ENOENT);
            expectRefusal(Errno.ENOENT, "no such region", () -> b.update(theirs.id(), WRITE, 0));
            assertThat(a.remoteRegion(theirs.id())).isNull();
        }
    }

    @Test
    void rejectsRegionsBeyondLimit() throws Exception {
        MemorySegment memory = Arena.ofAuto().allocate(64);
        List<LocalRegion> all = new ArrayList<>();
        try (Ends fresh = Ends.open()) {
            RemoteMemory full = fresh.memoryB();
            for (int i = 0; i < Limits.REGIONS; i++) {
                all.add(full.register(memory, i % 64 == 0 ? WRITE : LOCAL));
            }
            expectRefusal(Errno.ENOSPC, Limits.REGIONS + " regions, and that is the limit", () -> full.register(memory,
                    LOCAL));
            expectRefusal(Errno.ENOSPC, "verbena.erm.regions", () -> full.allocate(64, WRITE, 0));
            assertThat(full.statistics().localRegions()).isEqualTo(Limits.REGIONS);
            all.get(1).close();
            try (LocalRegion another = full.register(memory, WRITE)) {
                assertThat(another.id()).isNotEqualTo(all.get(1).id());
                assertThat(fresh.memoryA().remoteRegion(another.id())).isNotNull();
            }
            assertThat(fresh.memoryA().isOpen()).isTrue();
        }
    }

    @Test
    void rejectsBytesBeyondLimit() throws Exception {
        long before = a.statistics().localBytes();
        for (long bytes : new long[] {Limits.BYTES - before + 1, Limits.BYTES, Long.MAX_VALUE}) {
            expectRefusal(Errno.ENOSPC, "beyond the " + before + " that are registered", () -> a.allocate(bytes, LOCAL,
                    0));
        }
        assertThat(a.statistics().localBytes()).isEqualTo(before);
        assertThat(a.statistics().localRegions()).isEqualTo(a.localRegions().size());
    }

    @RepeatedTest(30)
    void closedChannelRefusesAll() throws Exception {
        try (Ends gone = Ends.open()) {
            LocalRegion from = gone.memoryA().allocate(64, WRITE, 0);
            LocalRegion to = gone.memoryB().allocate(64, WRITE, 0);
            gone.a().close();
            for (RemoteMemory end : new RemoteMemory[] {gone.memoryA(), gone.memoryB()}) {
                while (end.isOpen()) {
                    end.await(RemoteMemory.EVENTS, Duration.ofMillis(10));
                    end.events().poll();
                }
                LocalRegion mine = end == gone.memoryA() ? from : to;
                LocalRegion theirs = end == gone.memoryA() ? to : from;
                assertThat(end.endReason()).isNotEmpty();
                int error = end.copies().copy(mine.id(), 0, theirs.id(), 0, 8, 0, 0);
                while (error == 0 || error == Errno.EAGAIN) { // it is ending: requests posted then are flushed
                    error = end.copies().copy(mine.id(), 0, theirs.id(), 0, 8, 0, 0);
                }
                assertThat(error).isIn(Errno.ENOTCONN, Errno.ENOENT);
                assertThat(end.copies().start().add(mine.id(), 0, theirs.id(), 0, 8, 0, 0, 0).commit()).isIn(
                        Errno.ENOTCONN, Errno.ENOENT);
                assertThatThrownBy(() -> end.copyAsync(mine.id(), 0, theirs.id(), 0, 8, 0, 0).get()).cause()
                        .isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.errno()).isIn(Errno.ENOTCONN,
                                Errno.ENOENT));
                expectRefusal(Errno.ENOTCONN, "", () -> end.allocate(64, WRITE, 0));
                expectRefusal(Errno.ENOTCONN, "", () -> end.register(Arena.ofAuto().allocate(64), WRITE));
                assertThatThrownBy(() -> mine.update(WRITE, 1)).isInstanceOfSatisfying(VerbsException.class,
                        e -> assertThat(e.errno()).isIn(Errno.ENOTCONN, Errno.ENOENT));
                mine.close();
            }
            assertThat(RemoteMemory.of(gone.a())).isEmpty();
            assertThat(RemoteMemory.whyNot(gone.a())).isEqualTo("the channel is closed");
        }
    }

    @Test
    void unboundedTimeoutIsAccepted() throws Exception {
        Duration ever = java.time.temporal.ChronoUnit.FOREVER.getDuration();
        assertThat(RemoteMemory.of(a.channel(), ever)).contains(a);
        CopyQueue copies = a.copies();
        assertThat(copies.copy(source.id(), 0, writable.id(), 0, 1, 0, 0)).isZero();
        assertThat(a.await(RemoteMemory.COMPLETIONS, ever)).isTrue();
        assertThat(copies.poll()).isTrue();
        assertThat(a.await(RemoteMemory.COMPLETIONS, Duration.ofSeconds(Long.MIN_VALUE))).isFalse();
    }

    @Test
    void revokedIdsAreNotReused() throws Exception {
        List<Integer> ids = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            LocalRegion region = b.allocate(64, WRITE, 0);
            assertThat(ids).doesNotContain(region.id());
            ids.add(region.id());
            region.close();
            region.close();
            assertThat(region.isRevoked()).isTrue();
        }
        try (LocalRegion last = b.allocate(64, WRITE, 0)) {
            for (int id : ids) {
                assertThat(copy(source.id(), 0, id, 0, 1, 0)).isEqualTo(Errno.ENOENT);
                assertThat(a.remoteRegion(id)).isNull();
                assertThat(b.localRegion(id)).isNull();
            }
            assertThat(copy(source.id(), 0, last.id(), 0, 1, 0)).isZero();
        }
        while (a.events().poll()) {
            assertThat(a.events().type()).isIn(EventType.REGION_ADDED, EventType.REGION_REMOVED);
        }
    }

    @Test
    void rejectsInvalidUpdates() throws Exception {
        expectRefusal(Errno.EINVAL, "access", () -> writable.update(1 << 30, 0));
        expectRefusal(Errno.EINVAL, "REMOTE_ATOMIC", () -> writable.update(WRITE | AccessFlags.REMOTE_ATOMIC, 0));
        expectRefusal(Errno.EINVAL, "close it instead", () -> writable.update(0, 0));
        expectRefusal(Errno.EINVAL, "close it instead", () -> writable.update(LOCAL, 0));
        expectRefusal(Errno.EINVAL, "LOCAL_WRITE", () -> writable.update(AccessFlags.REMOTE_WRITE, 0));
        expectRefusal(Errno.EACCES, "REMOTE_READ", () -> writable.update(WRITE | READ, 0));
        expectRefusal(Errno.EACCES, "REMOTE_WRITE", () -> readable.update(WRITE, 0));
        expectRefusal(Errno.EACCES, "REMOTE_READ", () -> source.update(LOCAL | READ, 0));
        expectRefusal(Errno.ENOENT, "other end's", () -> a.update(writable.id(), WRITE, 0));
        expectRefusal(Errno.ENOENT, "no such region", () -> b.update(writable.id() + (1 << 13), WRITE, 0));
        expectRefusal(Errno.ENOENT, "no such region", () -> b.update(0, WRITE, 0));
        expectRefusal(Errno.EOPNOTSUPP, "older", () -> RegionUpdate.validate("update", writable, WRITE, false));
        assertThat(writable.access()).isEqualTo(WRITE);
        assertThat(a.events().poll()).isFalse();
    }

    @Test
    void failedUpdateLeavesRegionUnchanged() throws Exception {
        int id;
        try (LocalRegion region = b.allocate(64, WRITE | READ, 4)) {
            id = region.id();
            Ends.event(a, EventType.REGION_ADDED);
            region.memory().close(); // without its knowledge
            expectRefusal(Errno.EINVAL, "closed", () -> region.update(READ | LOCAL, 5));
            assertThat(region.access()).isEqualTo(WRITE | READ);
            assertThat(region.tag()).isEqualTo(4);
            assertThat(region.isHeld()).isFalse();
            assertThat(a.remoteRegion(id).isHeld()).as("goes on").isFalse();
            assertThat(a.remoteRegion(id).tag()).isEqualTo(4);
            assertThat(a.events().poll()).as("nothing has changed").isFalse();
        }
        Ends.event(a, EventType.REGION_REMOVED);
    }

    @Test
    void rejectsUnknownFlags() {
        assertThat(copy(source.id(), 0, writable.id(), 0, 1, 8)).isEqualTo(Errno.EINVAL);
        assertThat(copy(source.id(), 0, writable.id(), 0, 1, -1)).isEqualTo(Errno.EINVAL);
    }

    @Test
    void batchIsAtomic() throws Exception {
        writable.segment().fill((byte) 0);
        source.segment().fill((byte) 1);
        assertThat(a.copies().start().add(source.id(), 0, writable.id(), 0, 1, 0, 1, 0).add(source.id(), 0, writable
                .id(), 1000, 1, 0, 2, 0).commit()).isEqualTo(Errno.ERANGE);
        assertThat(a.copies().poll()).isFalse();
        assertThat(writable.segment().get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0)).isZero();
        CopyQueue copies = a.copies().start();
        for (int i = 0; i < 33; i++) {
            copies.add(source.id(), 0, writable.id(), 0, 1, 0, i, 0);
        }
        assertThat(copies.commit()).isEqualTo(Errno.E2BIG);
        assertThat(copies.commit()).as("an empty batch").isZero();
    }

    @Test
    void overlappingRegionsAreAccepted() throws Exception {
        MemorySegment memory = Arena.ofAuto().allocate(128);
        try (LocalRegion one = b.register(memory, WRITE); LocalRegion two = b.register(memory.asSlice(64), WRITE)) {
            source.segment().fill((byte) 5);
            assertThat(copy(source.id(), 0, one.id(), 0, 128, 0)).isZero();
            source.segment().fill((byte) 6);
            assertThat(copy(source.id(), 0, two.id(), 0, 64, 0)).isZero();
            assertThat(memory.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 63)).isEqualTo((byte) 5);
            assertThat(memory.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 64)).isEqualTo((byte) 6);
        }
    }
}
