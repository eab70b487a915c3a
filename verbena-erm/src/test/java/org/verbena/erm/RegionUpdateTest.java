// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/** A region gets other rights and another tag, and the other end obeys them from then on. */
@Tag("any-provider")
class RegionUpdateTest {
    private static final int LOCAL = AccessFlags.LOCAL_WRITE;
    private static final int READ = LOCAL | AccessFlags.REMOTE_READ;
    private static final int WRITE = LOCAL | AccessFlags.REMOTE_WRITE;
    private static final int ALL = READ | WRITE;
    private static final int SIZE = 1 << 16;

    private static LocalRegion region(RemoteMemory memory, boolean allocated, long tag) throws VerbsException {
        return allocated ? memory.allocate(SIZE, ALL, tag) : memory.register(Arena.ofAuto().allocate(SIZE), ALL, tag);
    }

    private static int copy(RemoteMemory memory, int from, int to) throws InterruptedException {
        int error = memory.copies().copy(from, 0, to, 0, SIZE, 0, 0);
        if (error == 0) {
            assertThat(Ends.completion(memory)).isEqualTo(WcStatus.SUCCESS);
        }
        return error;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void updateChangesRightsAndTag(boolean allocated) throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            RemoteMemory b = ends.memoryB();
            LocalRegion own = a.allocate(SIZE, LOCAL, 0);
            LocalRegion target = region(b, allocated, 1);
            Ends.event(a, EventType.REGION_ADDED);
            RemoteRegion remote = a.remoteRegion(target.id());
            assertThat(copy(a, own.id(), target.id())).isZero();

            target.update(READ, 2);
            assertThat(target.access()).isEqualTo(READ);
            assertThat(target.tag()).isEqualTo(2);
            assertThat(remote.access()).as("of the object that the program has").isEqualTo(AccessFlags.REMOTE_READ);
            assertThat(remote.tag()).isEqualTo(2);
            assertThat(a.remoteRegion(target.id()).access()).isEqualTo(AccessFlags.REMOTE_READ);
            Ends.event(a, EventType.REGION_UPDATED);
            assertThat(a.events().region()).isEqualTo(target.id());
            assertThat(a.events().length()).isEqualTo(SIZE);
            assertThat(a.events().userData()).isEqualTo(2);
            assertThat(copy(a, own.id(), target.id())).isEqualTo(Errno.EACCES);
            target.segment().fill((byte) 7);
            assertThat(copy(a, target.id(), own.id())).isZero();
            assertThat(own.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);

            target.update(ALL, 2);
            Ends.event(a, EventType.REGION_UPDATED);
            assertThat(remote.access()).isEqualTo(AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE);
            own.segment().fill((byte) 8);
            assertThat(copy(a, own.id(), target.id())).isZero();
            assertThat(target.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(8);

            target.update(AccessFlags.REMOTE_READ, 2);
            Ends.event(a, EventType.REGION_UPDATED);
            assertThat(b.copies().copy(target.id(), 0, target.id(), 0, 1, 0, 0)).isEqualTo(Errno.ENOENT);
            LocalRegion theirs = a.allocate(SIZE, ALL, 0);
            assertThat(b.copies().copy(theirs.id(), 0, target.id(), 0, 1, 0, 0)).as("without LOCAL_WRITE").isEqualTo(
                    Errno.EACCES);
            assertThat(copy(b, target.id(), theirs.id())).isZero();

            target.close();
            assertThat(remote.isRevoked()).isTrue();
            Ends.event(a, EventType.REGION_REMOVED);
            assertThat(target.segment().byteSize()).isEqualTo(SIZE);
            assertThat(a.isOpen()).isTrue();
        }
    }

    @Test
    void tagUpdateHoldsNoCopies() throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            LocalRegion target = region(ends.memoryB(), true, 1);
            int key = target.memory().rkey();
            target.update(ALL, 1); // nothing to send
            for (int tag = 2; tag < 100; tag++) {
                target.update(ALL, tag);
                assertThat(a.remoteRegion(target.id()).tag()).isEqualTo(tag);
            }
            assertThat(target.memory().rkey()).isEqualTo(key);
            Ends.event(a, EventType.REGION_ADDED);
            assertThat(a.events().userData()).as("one event for all that was before").isEqualTo(99);
            assertThat(a.events().poll()).isFalse();
            ends.memoryB().update(target.id(), ALL, 100);
            Ends.event(a, EventType.REGION_UPDATED);
            assertThat(a.events().userData()).isEqualTo(100);
        }
    }

    /** Bypasses the check of the other end's own library. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void providerEnforcesRevokedRight(boolean allocated) throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            LocalRegion own = a.allocate(64, LOCAL, 0);
            LocalRegion target = region(ends.memoryB(), allocated, 1);
            RemoteRegion before = a.remoteRegion(target.id());
            target.update(READ, 1);
            RemoteRegion now = a.remoteRegion(target.id());
            target.segment().fill((byte) 7);
            own.segment().fill((byte) 9);
            for (RemoteRegion r : new RemoteRegion[] {before, now}) {
                a.link().data().sendQueue().postWrite(1, SendFlags.SIGNALED, own.memory(), 0, 64, r.rkey(), r
                        .address());
            }
            assertThat(Ends.completion(a)).isEqualTo(WcStatus.REM_ACCESS_ERR);
            assertThat(a.isOpen()).isFalse();
            assertThat(a.endReason()).isEqualTo("a copy failed: REM_ACCESS_ERR");
            Ends.event(ends.memoryB(), EventType.CLOSED);
            assertThat(target.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
        }
    }

    @Test
    void updateDrainsCopiesAndRefusesLaterOnes() throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            LocalRegion own = a.allocate(SIZE, LOCAL, 0);
            LocalRegion target = region(ends.memoryB(), true, 0);
            LocalRegion other = region(ends.memoryB(), true, 0);
            AtomicBoolean over = new AtomicBoolean();
            CompletableFuture<Long> copier = new CompletableFuture<>();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    copier.complete(flood(a, own, target, other, over));
                } catch (Throwable t) {
                    copier.completeExceptionally(t);
                }
            });
            byte[] filled = new byte[SIZE];
            for (int i = 0; i < 40; i++) {
                target.update(i % 2 == 0 ? READ : WRITE, i);
                if (i % 2 == 0) {
                    java.util.Arrays.fill(filled, (byte) i);
                    target.segment().copyFrom(MemorySegment.ofArray(filled));
                    long end = System.nanoTime() + 2_000_000;
                    while (System.nanoTime() < end) {
                        assertThat(target.segment().mismatch(MemorySegment.ofArray(filled))).isEqualTo(-1);
                    }
                }
                assertThat(copier).isNotDone();
            }
            over.set(true);
            assertThat(copier.get(60, TimeUnit.SECONDS)).isPositive();
            assertThat(a.isOpen()).as(a.endReason()).isTrue();
            assertThat(ends.memoryB().isOpen()).isTrue();
        }
    }

    private static long flood(RemoteMemory a, LocalRegion own, LocalRegion target, LocalRegion other,
            AtomicBoolean over) {
        long done = 0;
        CompletableFuture<Void> async = CompletableFuture.completedFuture(null);
        while (!over.get() || a.copies().outstanding() > 0) {
            int error = over.get() ? 0 : a.copies().copy(own.id(), 0, target.id(), 0, SIZE, 0, 0);
            assertThat(error).isIn(0, Errno.EAGAIN, Errno.EACCES);
            error = over.get() ? 0 : a.copies().copy(own.id(), 0, other.id(), 0, 64, 0, 0);
            assertThat(error).as("a region that does not change").isIn(0, Errno.EAGAIN);
            while (a.copies().poll()) {
                assertThat(a.copies().status()).isEqualTo(WcStatus.SUCCESS);
                done++;
            }
            if (async.isDone()) {
                if (async.isCompletedExceptionally()) {
                    assertThatThrownBy(async::get).isInstanceOf(ExecutionException.class).hasMessageContaining(
                            "EACCES");
                }
                async = a.copyAsync(own.id(), 0, target.id(), 0, SIZE, 0, 0);
            }
        }
        return done;
    }

    @Test
    void eventsOfEarlierCopiesSurviveUpdate() throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            RemoteMemory b = ends.memoryB();
            LocalRegion own = a.allocate(SIZE, LOCAL, 0);
            LocalRegion target = region(b, true, 0);
            for (int i = 0; i < 20; i++) {
                assertThat(a.copies().copy(own.id(), 0, target.id(), 0, 64, CopyFlags.REMOTE_COMPLETION, 0, i))
                        .isZero();
                assertThat(Ends.completion(a)).isEqualTo(WcStatus.SUCCESS);
            }
            a.copyAsync(own.id(), 0, target.id(), 0, 64, CopyFlags.REMOTE_COMPLETION, 20).get(30, TimeUnit.SECONDS);
            target.update(READ, 0);
            boolean[] seen = new boolean[21];
            for (int i = 0; i <= 20; i++) {
                Ends.event(b, EventType.COPIED);
                seen[(int) b.events().userData()] = true;
            }
            assertThat(seen).containsOnly(true);
            assertThat(b.isOpen()).as(b.endReason()).isTrue();
        }
    }

    /** Asynchronous copies wait until the other end has sent the update; then the new rights apply. */
    @Test
    void asyncCopiesWaitForUpdate() throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            RemoteMemory b = ends.memoryB();
            LocalRegion own = a.allocate(SIZE, LOCAL, 0);
            LocalRegion target = region(b, true, 0);
            LocalRegion other = region(b, true, 0);
            assertThat(b.control().hold(target).get(30, TimeUnit.SECONDS)).isZero();
            CompletableFuture<Void> written = a.copyAsync(own.id(), 0, target.id(), 0, 64, 0, 0);
            CompletableFuture<Void> read = a.copyAsync(target.id(), 0, own.id(), 0, 64, 0, 0);
            assertThat(a.copies().copy(own.id(), 0, target.id(), 0, 64, 0, 0)).isEqualTo(Errno.EAGAIN);
            assertThat(a.remoteRegion(target.id()).access()).as("the last update").isEqualTo(ALL & ~LOCAL);
            assertThat(copy(a, own.id(), other.id())).as("another region is not held").isZero();
            assertThat(written).isNotDone();
            target.change(READ);
            assertThat(b.control().update(target).get(30, TimeUnit.SECONDS)).isZero();
            assertThatThrownBy(() -> written.get(30, TimeUnit.SECONDS)).hasMessageContaining("EACCES");
            read.get(30, TimeUnit.SECONDS);
            assertThat(a.copies().copy(own.id(), 0, target.id(), 0, 64, 0, 0)).isEqualTo(Errno.EACCES);
        }
    }

    @Test
    void concurrentUpdatesUnderLoadSucceed() throws Exception {
        try (Ends ends = Ends.open()) {
            LocalRegion ofA = region(ends.memoryA(), false, 0);
            LocalRegion ofB = region(ends.memoryB(), false, 0);
            CompletableFuture<?>[] all = {updates(ends.memoryA(), ofA, ofB), updates(ends.memoryB(), ofB, ofA)};
            CompletableFuture.allOf(all).get(60, TimeUnit.SECONDS);
            assertThat(ends.memoryA().isOpen()).as(ends.memoryA().endReason()).isTrue();
            assertThat(ends.memoryB().isOpen()).as(ends.memoryB().endReason()).isTrue();
        }
    }

    private static CompletableFuture<Void> updates(RemoteMemory memory, LocalRegion mine, LocalRegion theirs) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                for (int i = 0; i < 30; i++) {
                    int error = memory.copies().copy(mine.id(), 0, theirs.id(), 0, 64, 0, 0);
                    assertThat(error).isIn(0, Errno.EAGAIN, Errno.EACCES);
                    mine.update(i % 3 == 0 ? READ : i % 3 == 1 ? WRITE : ALL, i);
                    while (memory.copies().poll()) {
                        assertThat(memory.copies().status()).isEqualTo(WcStatus.SUCCESS);
                    }
                }
                done.complete(null);
            } catch (Throwable t) {
                done.completeExceptionally(t);
            }
        });
        return done;
    }

    @Test
    void rejectsUpdateOfRevokedRegion() throws Exception {
        try (Ends ends = Ends.open()) {
            LocalRegion closed = region(ends.memoryB(), true, 0);
            LocalRegion target = region(ends.memoryB(), true, 0);
            closed.close();
            assertThatThrownBy(() -> closed.update(READ, 0)).isInstanceOf(VerbsException.class).hasMessageContaining(
                    "ENOENT: it has been deregistered");
            ends.a().close();
            Ends.event(ends.memoryB(), EventType.CLOSED);
            assertThatThrownBy(() -> target.update(READ, 0)).isInstanceOf(VerbsException.class).hasMessageMatching(
                    ".*(ENOTCONN|ENOENT).*");
            target.close();
        }
    }
}
