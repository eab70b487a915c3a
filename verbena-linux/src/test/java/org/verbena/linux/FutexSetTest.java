// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FutexSetTest {
    private final MemorySegment one = Mapping.anonymous(4096).segment();
    private final MemorySegment other = Mapping.anonymous(4096).segment();
    private final FutexSet set = new FutexSet();

    FutexSetTest() throws LinuxException {}

    @BeforeEach
    void needsLinux516() {
        if (!FutexSet.isSupported()) {
            System.out.println("SKIPPED: this kernel has no futex_waitv (Linux 5.16)");
            Assumptions.abort("no futex_waitv");
        }
    }

    @Test
    void eachWordWakes() throws Exception {
        for (MemorySegment woken : new MemorySegment[] {one, other}) {
            set.clear();
            set.add(one, 8, 0);
            set.add(other, 8, 0);
            CompletableFuture<Boolean> result = new CompletableFuture<>();
            Thread.ofPlatform().start(() -> result.complete(set.awaitWoken(-1)));
            while (Futex.wake(woken, 8, 1) == 0) {
                Thread.sleep(1);
            }
            assertThat(result.get(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** As of two processes. */
    @Test
    void wakesAcrossTwoMappingsOfOneFile() throws Exception {
        try (Fd file = Memfd.create("futex-set", 4096)) {
            MemorySegment sleeping = Mapping.map(file, 0, 4096, false).segment();
            MemorySegment waking = Mapping.map(file, 0, 4096, true).segment().asReadOnly();
            set.add(one, 0, 0);
            set.add(sleeping, 64, 0);
            CompletableFuture<Boolean> result = new CompletableFuture<>();
            Thread.ofPlatform().start(() -> result.complete(set.awaitWoken(-1)));
            while (Futex.wake(waking, 64, Integer.MAX_VALUE) == 0) {
                Thread.sleep(1);
            }
            assertThat(result.get(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void anotherValueOrTheTimeEndsTheSleep() throws Exception {
        other.set(ValueLayout.JAVA_INT, 0, -5);
        set.add(one, 0, 0);
        set.add(other, 0, -6);
        assertThat(set.awaitWoken(-1)).isFalse();
        set.clear();
        set.add(one, 0, 0);
        set.add(other, 0, -5);
        long start = System.nanoTime();
        assertThat(set.awaitWoken(30_000_000)).isFalse();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(30_000_000);
        one.set(ValueLayout.JAVA_INT, 0, 1);
        assertThat(set.awaitWoken(Long.MAX_VALUE)).isFalse();
    }

    @Test
    void changedWordIsFound() throws Exception {
        set.add(one, 8, 0);
        set.add(other, 16, 3);
        assertThat(set.isChanged()).isTrue();
        other.set(ValueLayout.JAVA_INT, 16, 3);
        assertThat(set.isChanged()).isFalse();
        one.set(ValueLayout.JAVA_INT, 8, -1);
        assertThat(set.isChanged()).isTrue();
    }

    @Test
    void sleepIsPossibleAtMemoryThatIsThere() throws Exception {
        set.add(one, 0, 0);
        set.add(other, 0, 1); // has another value
        assertThat(set.canSleep()).isTrue();
        set.clear();
        set.add(one, 0, 0);
        assertThat(set.canSleep()).isTrue();
        set.clear();
        set.add(MemorySegment.ofAddress(8).reinterpret(4), 0, 0); // nothing is mapped there
        assertThat(set.canSleep()).isFalse();
    }

    @Test
    void wrongArgumentsAreRefused() {
        assertThatThrownBy(() -> set.awaitWoken(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> set.add(one, 4096, 0)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> set.add(one, 2, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> set.add(MemorySegment.ofArray(new int[4]), 0, 0)).isInstanceOf(
                IllegalArgumentException.class);
        for (int i = 0; i < FutexSet.MAX; i++) {
            set.add(one, 4L * i, 0);
        }
        assertThatThrownBy(() -> set.add(one, 0, 0)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(set.awaitWoken(1_000_000)).isFalse();
    }
}
