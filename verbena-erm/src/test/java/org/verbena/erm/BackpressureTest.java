// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.WcStatus;

/** Nothing is lost when the other end's program polls no events, and nothing but copies with events waits for it. */
class BackpressureTest {
    private static final int WRITE = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;

    private static int wait(RemoteMemory memory, int error) {
        while (memory.copies().poll()) {
            assertThat(memory.copies().status()).isEqualTo(WcStatus.SUCCESS);
        }
        return error;
    }

    @Test
    void unpolledEventsBlockOnlyCopiesWithEvents() throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            RemoteMemory b = ends.memoryB();
            LocalRegion source = a.allocate(64, WRITE, 0);
            LocalRegion target = b.allocate(64, WRITE, 0);
            Ends.event(b, EventType.REGION_ADDED);
            int sent = 0;
            int error = 0;
            while (error == 0 || error == Errno.EAGAIN) {
                error = wait(a, a.copies().copy(source.id(), 0, target.id(), 0, 8, CopyFlags.REMOTE_COMPLETION, 0,
                        sent));
                sent += error == 0 ? 1 : 0;
            }
            assertThat(error).isEqualTo(Errno.ENOBUFS);
            assertThat(sent).isEqualTo(CreditLimit.DEFAULT.completions());
            assertThat(a.statistics().stalls()).isPositive();
            for (int i = 0; i < 1000; i++) {
                assertThat(wait(a, a.copies().copy(source.id(), 0, target.id(), 0, 8, 0, 0))).isZero();
            }
            try (LocalRegion other = a.allocate(64, WRITE, 0)) { // regions are added and removed meanwhile
                assertThat(other.id()).isPositive();
            }
            a.arm(RemoteMemory.COMPLETIONS);
            for (int i = 0; i < sent; i++) {
                assertThat(copied(b)).isEqualTo(i);
            }
            assertThat(a.await(RemoteMemory.COMPLETIONS, Ends.LONG)).as("woken when credits arrive").isTrue();
            for (int i = 0; i < 10_000; i++) { // one way, so that credits arrive in control messages
                long data = i;
                while ((error = wait(a, a.copies().copy(source.id(), 0, target.id(), 0, 8,
                        CopyFlags.REMOTE_COMPLETION, 0, data))) == Errno.ENOBUFS || error == Errno.EAGAIN) {
                    Thread.onSpinWait();
                }
                assertThat(error).isZero();
                assertThat(copied(b)).isEqualTo(i);
            }
        }
    }

    /**
     * The other end also returns credits in its own remote completions; but an end that does not consume those must
     * receive the credits by control.
     */
    @Test
    void creditArrivesWithoutPollingEvents() throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            RemoteMemory b = ends.memoryB();
            LocalRegion source = a.allocate(64, WRITE, 0);
            LocalRegion target = b.allocate(64, WRITE, 0);
            Ends.event(b, EventType.REGION_ADDED);
            for (int i = 0; i < 20 * CreditLimit.DEFAULT.completions(); i++) {
                long end = System.nanoTime() + Ends.LONG.toNanos();
                int error;
                while ((error = wait(a, a.copies().copy(source.id(), 0, target.id(), 0, 8,
                        CopyFlags.REMOTE_COMPLETION, 0, i))) == Errno.ENOBUFS && System.nanoTime() - end < 0) {
                    Thread.onSpinWait();
                }
                assertThat(error).as("copy %d", i).isZero();
                assertThat(copied(b)).isEqualTo(i);
                if (i % 50 == 0) {
                    assertThat(wait(b, b.copies().copy(target.id(), 0, source.id(), 0, 8, CopyFlags.REMOTE_COMPLETION,
                            0))).isZero();
                }
            }
        }
    }

    /** The user data of the next remote completion. */
    private static long copied(RemoteMemory memory) throws InterruptedException {
        do {
            while (!memory.events().poll()) {
                memory.await(RemoteMemory.EVENTS, Duration.ofMillis(100));
            }
        } while (memory.events().type() != EventType.COPIED);
        return memory.events().userData();
    }

    @Test
    void eventsArriveInOrder() throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            RemoteMemory b = ends.memoryB();
            LocalRegion source = a.allocate(64, WRITE, 0);
            LocalRegion target = b.allocate(8, WRITE, 0);
            Ends.event(b, EventType.REGION_ADDED);
            int count = 100_000;
            CompletableFuture<Long> taken = new CompletableFuture<>();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    for (long i = 0; i < count; i++) {
                        Ends.event(b, EventType.COPIED);
                        if (b.events().userData() != i || target.segment().get(ValueLayout.JAVA_LONG, 0) < i) {
                            throw new AssertionError("event " + b.events().userData() + " instead of " + i);
                        }
                    }
                    taken.complete((long) count);
                } catch (Throwable t) {
                    taken.completeExceptionally(t);
                }
            });
            for (long i = 0; i < count;) {
                source.segment().set(ValueLayout.JAVA_LONG, 0, i);
                int error = wait(a, a.copies().copy(source.id(), 0, target.id(), 0, 8, CopyFlags.REMOTE_COMPLETION, i,
                        i));
                if (error == 0) {
                    i++;
                } else {
                    assertThat(error).isIn(Errno.ENOBUFS, Errno.EAGAIN);
                    a.await(RemoteMemory.COMPLETIONS, Duration.ofMillis(100));
                    while (a.copies().poll()) {
                        assertThat(a.copies().status()).isZero();
                    }
                }
                while (a.copies().outstanding() > 0) { // before the source is overwritten
                    Ends.completion(a);
                }
            }
            assertThat(taken.get(60, TimeUnit.SECONDS)).isEqualTo(count);
        }
    }

    @Test
    @Tag("any-provider")
    void asyncCopiesWaitForCredit() throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            RemoteMemory b = ends.memoryB();
            LocalRegion source = a.allocate(64, WRITE, 0);
            LocalRegion target = b.allocate(64, WRITE, 0);
            Ends.event(b, EventType.REGION_ADDED);
            List<CompletableFuture<Void>> all = new ArrayList<>();
            int count = 3 * CreditLimit.DEFAULT.asyncCompletions();
            for (int i = 0; i < count; i++) {
                all.add(a.copyAsync(source.id(), 0, target.id(), 0, 64, CopyFlags.REMOTE_COMPLETION, i));
            }
            all.get(CreditLimit.DEFAULT.asyncCompletions() - 1).get(30, TimeUnit.SECONDS);
            assertThat(all.get(CreditLimit.DEFAULT.asyncCompletions())).isNotDone();
            for (int i = 0; i < count; i++) {
                Ends.event(b, EventType.COPIED);
                assertThat(b.events().userData()).isEqualTo(i);
            }
            CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void unsignaledCopiesYieldNoCompletion() throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            LocalRegion source = a.allocate(64, WRITE, 0);
            LocalRegion target = ends.memoryB().allocate(64, WRITE, 0);
            for (int i = 0; i < 10_000; i++) {
                int error;
                while ((error = a.copies().copy(source.id(), 0, target.id(), 0, 8, CopyFlags.UNSIGNALED,
                        i)) == Errno.EAGAIN) {
                    assertThat(a.copies().poll()).isFalse();
                }
                assertThat(error).isZero();
            }
            int error;
            while ((error = a.copies().copy(source.id(), 0, target.id(), 0, 8, 0, 77)) == Errno.EAGAIN) {
                assertThat(a.copies().poll()).isFalse();
            }
            assertThat(error).isZero();
            assertThat(Ends.completion(a)).isEqualTo(WcStatus.SUCCESS);
            assertThat(a.copies().context()).isEqualTo(77);
            assertThat(a.copies().outstanding()).isZero();
        }
    }

    /** Deregistration waits for them, too. */
    @Test
    @Tag("any-provider")
    void deregistrationAwaitsUnsignaledCopies() throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            LocalRegion source = a.allocate(64, WRITE, 0);
            LocalRegion target = ends.memoryB().allocate(64, WRITE, 0);
            assertThat(a.copies().copy(source.id(), 0, target.id(), 0, 8, CopyFlags.UNSIGNALED, 1)).isZero();
            target.close();
            source.close();
            assertThat(ends.memoryB().endReason()).isEmpty();
            assertThat(a.endReason()).isEmpty();
        }
    }

    /** Events that arrived before the program deregistered the memory, and had not been polled. */
    @Test
    @Tag("any-provider")
    void eventsOfRevokedRegionAreDropped() throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            RemoteMemory b = ends.memoryB();
            LocalRegion source = a.allocate(64, WRITE, 0);
            LocalRegion target = b.allocate(64, WRITE, 0);
            Ends.event(b, EventType.REGION_ADDED);
            a.copyAsync(source.id(), 0, target.id(), 0, 8, CopyFlags.REMOTE_COMPLETION, 1).get(30, TimeUnit.SECONDS);
            assertThat(b.await(RemoteMemory.EVENTS, Ends.LONG)).isTrue();
            assertThat(a.copies().copy(source.id(), 0, target.id(), 0, 8, CopyFlags.REMOTE_COMPLETION, 0)).isZero();
            assertThat(Ends.completion(a)).isEqualTo(WcStatus.SUCCESS);
            b.arm(RemoteMemory.EVENTS); // it holds one now
            target.close();
            assertThat(b.events().poll()).isFalse();
            assertThat(b.statistics().lateEvents()).isEqualTo(2);
        }
    }

    @Test
    void fullQueueReturnsEagain() throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            LocalRegion source = a.allocate(64, WRITE, 0);
            LocalRegion target = ends.memoryB().allocate(64, WRITE, 0);
            for (int i = 0; i < a.copies().depth(); i++) {
                assertThat(a.copies().copy(source.id(), 0, target.id(), 0, 8, 0, i)).isZero();
            }
            assertThat(a.copies().copy(source.id(), 0, target.id(), 0, 8, 0, 0)).isEqualTo(Errno.EAGAIN);
            for (int i = 0; i < a.copies().depth(); i++) {
                assertThat(Ends.completion(a)).isEqualTo(WcStatus.SUCCESS);
                assertThat(a.copies().context()).isEqualTo(i);
            }
            assertThat(a.copies().copy(source.id(), 0, target.id(), 0, 8, 0, 0)).isZero();
        }
    }
}
