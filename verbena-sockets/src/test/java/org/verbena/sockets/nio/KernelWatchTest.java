// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.verbena.sockets.VerbenaSelectorProvider;

@Timeout(120)
class KernelWatchTest {
    private final Semaphore fired = new Semaphore(0);
    private Selector inner;
    private Pipe pipe;
    private KernelWatch watch;

    @BeforeEach
    void open() throws Exception {
        inner = Selector.open();
        pipe = Pipe.open();
        pipe.source().configureBlocking(false);
        pipe.source().register(inner, SelectionKey.OP_READ);
        inner.selectNow();
        watch = new KernelWatch(inner, fired::release);
    }

    @AfterEach
    void close() throws Exception {
        inner.close();
        watch.close();
        pipe.source().close();
        pipe.sink().close();
    }

    private void write() throws Exception {
        pipe.sink().write(ByteBuffer.allocate(1));
    }

    private void awaitFired() throws Exception {
        assertThat(fired.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
        assertThat(watch.isQuiet()).isFalse();
    }

    private static int sleepsUntilWorthwhile(KernelWatch watch) {
        int n = 0;
        for (; !watch.isWorthwhile(); n++) {
            watch.sleptInKernel(true);
        }
        return n;
    }

    @Test
    void whatBecomesReadyFiresOnce() throws Exception {
        assertThat(watch.arm()).isTrue();
        assertThat(watch.isQuiet()).isTrue();
        write();
        awaitFired();
        write();
        assertThat(fired.tryAcquire(50, TimeUnit.MILLISECONDS)).isFalse();
    }

    @Test
    void whatIsReadyAlreadyFiresAtOnce() throws Exception {
        write();
        for (int i = 0; i < 3; i++) {
            assertThat(watch.arm()).isTrue();
            awaitFired();
        }
        pipe.source().read(ByteBuffer.allocate(10));
        assertThat(watch.arm()).isTrue();
        assertThat(fired.tryAcquire(50, TimeUnit.MILLISECONDS)).isFalse();
        write();
        awaitFired();
    }

    @Test
    void selectorWithoutAKnownDescriptorIsNotWatched() throws Exception {
        try (Selector other = VerbenaSelectorProvider.instance().openSelector()) {
            KernelWatch none = new KernelWatch(other, fired::release);
            sleepsUntilWorthwhile(none);
            assertThat(none.arm()).isFalse();
            assertThat(none.isQuiet()).isFalse();
            for (int i = 0; i < 5000; i++) {
                none.sleptInKernel(true);
            }
            assertThat(none.isWorthwhile()).isFalse();
        }
    }

    @Test
    void closedSelectorIsNotWatched() throws Exception {
        assertThat(watch.arm()).isTrue();
        write();
        awaitFired();
        inner.close();
        assertThat(watch.arm()).isFalse();
        assertThat(watch.isQuiet()).isFalse();
    }

    /** More than the first table has, each with the descriptor and the place of one that was closed. */
    @Test
    void eachOfManyIsFired() throws Exception {
        for (int round = 0; round < 3; round++) {
            List<Selector> selectors = new ArrayList<>();
            List<KernelWatch> watches = new ArrayList<>();
            try {
                for (int i = 0; i < 40; i++) {
                    Selector one = Selector.open();
                    selectors.add(one);
                    watches.add(new KernelWatch(one, fired::release));
                    assertThat(watches.getLast().arm()).isTrue();
                }
                for (int i = 0; i < 40; i++) {
                    selectors.get(i).wakeup();
                    assertThat(fired.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
                    assertThat(watches.get(i).isQuiet()).isFalse();
                    assertThat(watches.subList(i + 1, 40)).allMatch(KernelWatch::isQuiet);
                }
            } finally {
                for (Selector s : selectors) {
                    s.close();
                }
                watches.forEach(KernelWatch::close);
            }
        }
    }

    @Test
    void triesBecomeRareWhenDisturbedAndFrequentWhenNot() {
        assertThat(sleepsUntilWorthwhile(watch)).isEqualTo(4);
        int expected = 4;
        for (int i = 0; i < 12; i++) {
            watch.disturbed();
            expected = Math.min(2 * expected, 1024);
            assertThat(sleepsUntilWorthwhile(watch)).isEqualTo(expected);
        }
        assertThat(watch.arm()).isTrue();
        for (int i = 0; i < 64; i++) {
            watch.waited();
        }
        watch.sleptInKernel(false);
        assertThat(sleepsUntilWorthwhile(watch)).isEqualTo(512);
    }

    @Test
    void otherReportsBeginTheCountAnew() {
        for (int i = 0; i < 10; i++) {
            for (int k = 0; k < 3; k++) {
                watch.sleptInKernel(true);
                assertThat(watch.isWorthwhile()).isFalse();
            }
            watch.sleptInKernel(false);
        }
    }
}
