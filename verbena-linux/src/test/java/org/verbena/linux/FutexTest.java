// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.KernelThread;

class FutexTest {
    @Test
    void wakesAcrossTwoMappingsOfOneFile() throws Exception {
        try (Fd fd = Memfd.create("futex", 4096)) {
            MemorySegment waiting = Mapping.map(fd, 0, 4096, false).segment();
            MemorySegment waking = Mapping.map(fd, 0, 4096, true).segment();
            CompletableFuture<Integer> result = new CompletableFuture<>();
            Thread.ofPlatform().start(() -> result.complete(Futex.await(waiting, 64, 0, -1)));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            int woken = 0;
            while (woken == 0 && System.nanoTime() < deadline) {
                woken = Futex.wake(waking, 64, 1);
                Thread.sleep(1);
            }
            assertThat(woken).isEqualTo(1);
            assertThat(result.get(30, TimeUnit.SECONDS)).isZero();
        }
    }

    @Test
    void otherValueOrTimeoutEndsWait() throws Exception {
        MemorySegment word = Mapping.anonymous(4096).segment();
        word.set(ValueLayout.JAVA_INT, 0, 5);
        assertThat(Futex.await(word, 0, 4, -1)).isEqualTo(Errno.EAGAIN);
        assertThat(Futex.await(word, 0, 5, 0)).isEqualTo(Errno.ETIMEDOUT);
        long start = System.nanoTime();
        assertThat(Futex.await(word, 0, 5, 30_000_000)).isEqualTo(Errno.ETIMEDOUT);
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(30_000_000);
        assertThat(Futex.await(word, 0, 4, Long.MAX_VALUE)).isEqualTo(Errno.EAGAIN);
        assertThat(Futex.await(word, 0, 4, Long.MIN_VALUE)).isEqualTo(Errno.EAGAIN);
        assertThat(Futex.awaitWoken(word, 0, 4, -1)).isFalse();
        assertThat(Futex.awaitWoken(word, 0, 5, 1_000_000)).isFalse();
        assertThat(Futex.wake(word, 0, Integer.MAX_VALUE)).isZero();
        assertThat(Futex.wake(word, 0, 0)).isZero();
    }

    @Test
    void sleepWithoutAnErrnoIsWoken() throws Exception {
        MemorySegment word = Mapping.anonymous(4096).segment();
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> result.complete(Futex.awaitWoken(word, 8, 0, -1)));
        while (Futex.wake(word, 8, 1) == 0) {
            Thread.sleep(1);
        }
        assertThat(result.get(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void refusesWrongArguments() throws Exception {
        MemorySegment word = Mapping.anonymous(64).segment();
        for (long offset : new long[] {-1, -4, 61, 64, Long.MAX_VALUE, Long.MIN_VALUE}) {
            assertThatThrownBy(() -> Futex.await(word, offset, 0, 0)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> Futex.awaitWoken(word, offset, 0, 0)).isInstanceOf(
                    IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> Futex.canSleep(word, offset)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> Futex.wake(word, offset, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        }
        assertThatThrownBy(() -> Futex.await(word, 2, 0, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Futex.canSleep(word, 2)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Futex.wake(word, 0, -1)).isInstanceOf(IllegalArgumentException.class);
        MemorySegment heap = MemorySegment.ofArray(new int[4]);
        assertThatThrownBy(() -> Futex.await(heap, 0, 0, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("heap memory");
        MemorySegment closed;
        try (Arena arena = Arena.ofConfined()) {
            closed = arena.allocate(8);
        }
        assertThatThrownBy(() -> Futex.wake(closed, 0, 1)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void arenaOfSleepingThreadCannotClose() throws Exception {
        Arena arena = Arena.ofShared();
        MemorySegment word = arena.allocate(8);
        CompletableFuture<Path> folder = new CompletableFuture<>();
        Thread sleeper = Thread.ofPlatform().start(() -> {
            folder.complete(KernelThread.self());
            Futex.await(word, 0, 0, -1);
        });
        KernelThread.awaitAsleep(folder.get(60, TimeUnit.SECONDS));
        assertThatThrownBy(arena::close).isInstanceOf(IllegalStateException.class);
        Futex.wake(word, 0, 1);
        sleeper.join();
        arena.close();
    }

    @Test
    void threadsCanSleepAtAnyWordThatCanBeShared() throws Exception {
        MemorySegment word = Mapping.anonymous(4096).segment();
        assertThat(Futex.canSleep(word, 0)).isTrue();
        for (int value : new int[] {1, -1, Integer.MIN_VALUE}) {
            word.set(ValueLayout.JAVA_INT, 4, value);
            assertThat(Futex.canSleep(word, 4)).isTrue();
        }
        assertThat(Futex.canSleep(MemorySegment.ofAddress(4096).reinterpret(4), 0)).isFalse();
    }

    @Test
    void unmappedMemoryIsAnErrno() {
        assertThat(Futex.await(MemorySegment.ofAddress(4096).reinterpret(4), 0, 0, 0)).isEqualTo(Errno.EFAULT);
        assertThat(Futex.wake(MemorySegment.ofAddress(4096).reinterpret(4), 0, 1)).isEqualTo(-Errno.EFAULT);
    }
}
