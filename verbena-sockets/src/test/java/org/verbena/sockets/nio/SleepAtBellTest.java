// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.verbena.sockets.VerbenaSelectorProvider;
import org.verbena.testkit.Await;
import org.verbena.testkit.KernelThread;

/** A platform thread that waits for rings sleeps at a futex, and all that is to end its wait ends it. */
@Timeout(120)
class SleepAtBellTest {
    /** System calls of a thread that sleeps at a bell. */
    private static final Set<String> AT_BELL = Set.of(KernelThread.FUTEX, KernelThread.FUTEX_WAITV);
    /** Of one that sleeps in the kernel's selector. */
    private static final Set<String> IN_KERNEL = KernelThread.EPOLL_WAIT;
    /** Before the test's own limit, which would not say why. */
    private static final Duration LIMIT = Duration.ofSeconds(50);

    private Carrier.Pair pair;
    private Selector selector;
    private SelectionKey key;

    @BeforeEach
    void open() throws Exception {
        SelectedRing ring = SelectedRing.open();
        pair = ring.pair();
        selector = ring.selector();
        key = ring.key();
    }

    @AfterEach
    void close() throws Exception {
        selector.close();
        pair.close();
    }

    private interface Action {
        void run() throws Exception;
    }

    /** Selects, and has another thread act as soon as this one sleeps, at the bell or in the kernel's selector. */
    private static int select(Selector selector, Set<String> sleep, Action action) throws Exception {
        Path self = KernelThread.self();
        Threads.Started acting = Threads.PLATFORM.start(() -> {
            try {
                KernelThread.awaitAsleepIn(self, sleep, LIMIT);
                action.run();
            } catch (Throwable t) {
                selector.wakeup(); // else the test hangs
                throw t;
            }
            return null;
        });
        int selected = selector.select();
        boolean interrupted = Thread.interrupted();
        acting.get();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return selected;
    }

    private static void write(SocketChannel to) throws Exception {
        to.write(ByteBuffer.allocate(1));
    }

    @Test
    void bytesEndIt() throws Exception {
        for (int i = 0; i < 3; i++) {
            assertThat(select(selector, AT_BELL, () -> write(pair.peer()))).isEqualTo(1);
            assertThat(key.isReadable()).isTrue();
            assertThat(pair.tested().read(ByteBuffer.allocate(10))).isEqualTo(1);
            selector.selectedKeys().clear();
        }
    }

    @Test
    void timeEndsIt() throws Exception {
        long start = System.nanoTime();
        assertThat(selector.select(30)).isZero();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(30_000_000);
    }

    @Test
    void wakeupEndsOne() throws Exception {
        assertThat(select(selector, AT_BELL, selector::wakeup)).isZero();
        assertThat(selector.select(20)).isZero();
    }

    @Test
    void interruptEndsItAndStays() throws Exception {
        Thread self = Thread.currentThread();
        assertThat(select(selector, AT_BELL, self::interrupt)).isZero();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(selector.select(20)).isZero();
    }

    @Test
    void closeOfTheSelectorEndsIt() throws Exception {
        assertThat(select(selector, AT_BELL, selector::close)).isZero();
        assertThatThrownBy(selector::select).isInstanceOf(ClosedSelectorException.class);
    }

    @Test
    void endOfThePeerEndsIt() throws Exception {
        assertThat(select(selector, AT_BELL, pair.peer()::close)).isEqualTo(1);
        assertThat(pair.tested().read(ByteBuffer.allocate(10))).isEqualTo(-1);
    }

    /** The inner selector keeps a list of what was asked of it, until it selects. */
    @Test
    void interestThatChangesManyTimesIsTakenByTheKernelsSelector() throws Exception {
        KernelKeys kernel = ((VerbenaSelector) selector).kernelKeys();
        for (int i = 0; i < 5000; i++) {
            key.interestOps(i % 2 == 0 ? 0 : OP_READ);
            selector.selectNow();
            assertThat(kernel.behind()).isLessThan(1100);
        }
    }

    /** The 64th selector of a process and those after it have no queue: their doorbells come by TCP alone. */
    @Test
    void selectorsWithoutAQueueAreServedByTheKernel() throws Exception {
        List<Selector> others = new ArrayList<>();
        try {
            for (int i = 0; i < 64; i++) {
                others.add(VerbenaSelectorProvider.instance().openSelector());
            }
            try (Carrier.Pair late = Carrier.RING.connected()) {
                Selector last = others.getLast();
                late.tested().configureBlocking(false);
                SelectionKey lateKey = late.tested().register(last, OP_READ);
                assertThat(select(last, IN_KERNEL, () -> write(late.peer()))).isEqualTo(1);
                assertThat(late.tested().read(ByteBuffer.allocate(10))).isEqualTo(1);
                last.selectedKeys().clear();
                assertThat(last.select(1)).isZero(); // it is armed, and polled no more
                write(late.peer());
                Await.until("found without a wait", () -> last.selectNow() == 1);
                assertThat(lateKey.isReadable()).isTrue();
            }
        } finally {
            for (Selector s : others) {
                s.close();
            }
        }
    }

    /** The kernel has channels of it then, too. */
    @Test
    void besideAChannelOfTheKernelItSleepsInTheKernelsSelector() throws Exception {
        try (Carrier.Pair plain = Carrier.TCP.connected()) {
            plain.tested().configureBlocking(false);
            SelectionKey byTcp = plain.tested().register(selector, OP_READ);
            assertThat(select(selector, IN_KERNEL, () -> write(pair.peer()))).isEqualTo(1);
            assertThat(key.isReadable()).isTrue();
            assertThat(pair.tested().read(ByteBuffer.allocate(10))).isEqualTo(1);
            selector.selectedKeys().clear();
            assertThat(select(selector, IN_KERNEL, () -> write(plain.peer()))).isEqualTo(1);
            assertThat(byTcp.isReadable()).isTrue();

            byTcp.cancel();
            selector.selectNow();
            assertThat(select(selector, AT_BELL, () -> write(pair.peer()))).isEqualTo(1);
        }
    }

    /** The bell was rung for the writer before the reader, which has come first, was about to sleep there. */
    @Test
    void ringBeforeTheLeaderPreparedWakesTheFollower() throws Exception {
        try (Carrier.Pair both = Carrier.RING.connected()) {
            StreamSocketChannel channel = (StreamSocketChannel) both.tested();
            var stream = Objects.requireNonNull(channel.streamOrNull());
            Waiting waiting = channel.waiting();
            SelectedRing.awaitBell(channel);
            int before;
            do {
                WaitingTest.fill(stream);
                before = waiting.prepare(stream, OP_WRITE);
            } while (waiting.arm(stream, OP_WRITE) != 0);
            WaitingTest.takeAll(both);

            CompletableFuture<Path> self = new CompletableFuture<>();
            Threads.Started reader = Threads.PLATFORM.start(() -> {
                int prepared = waiting.prepare(stream, OP_READ);
                assertThat(waiting.arm(stream, OP_READ)).isZero();
                self.complete(KernelThread.self());
                return waiting.await(channel.input().lock(), stream, OP_READ, prepared, 0);
            });
            KernelThread.awaitAsleep(self.get());
            WaitingTest.fill(stream); // what was signalled is not there any more

            waiting.await(channel.output().lock(), stream, OP_WRITE, before, 0);

            both.peer().write(ByteBuffer.allocate(1));
            reader.get();
        }
    }
}
