// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_ACCEPT;
import static java.nio.channels.SelectionKey.OP_READ;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.sockets.VerbenaSelectorProvider;
import org.verbena.testkit.KernelThread;
import org.verbena.testkit.Seeds;

/**
 * A selector with a listener beside its rings: while the kernel reports nothing but doorbells its thread comes to sleep at a futex, and
 * another thread watches the listener.
 */
@Timeout(120)
class WatchedSelectorTest {
    private static final Set<String> ASLEEP = Stream.concat(KernelThread.EPOLL_WAIT.stream(), Stream.of(
            KernelThread.FUTEX)).collect(Collectors.toUnmodifiableSet());
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final List<SocketChannel> accepted = new ArrayList<>();
    private Carrier.Pair pair;
    private ServerSocketChannel listener;
    private Selector selector;
    private SelectionKey key;

    @BeforeEach
    void open() throws Exception {
        SelectedRing ring = SelectedRing.open();
        pair = ring.pair();
        selector = ring.selector();
        key = ring.key();
        listener = VerbenaSelectorProvider.instance().openServerSocketChannel();
        listener.bind(Carrier.anyPort());
        listener.configureBlocking(false);
        listener.register(selector, OP_ACCEPT);
        selector.selectNow(); // which takes a doorbell of the beginning
    }

    @AfterEach
    void close() throws Exception {
        selector.close();
        listener.close();
        pair.close();
        for (SocketChannel c : accepted) {
            c.close();
        }
    }

    private interface Action {
        void run() throws Exception;
    }

    private interface ThreadAction {
        void run(Thread selecting) throws Exception;
    }

    /** Selects in another thread, and acts when that sleeps; returns whether it slept at the bell. */
    private boolean select(int expected, Action action) throws Exception {
        return select(expected, t -> action.run());
    }

    private boolean select(int expected, ThreadAction action) throws Exception {
        Threads.Started selecting = Threads.PLATFORM.start(selector::select);
        Path thread = selecting.folder().get();
        KernelThread.awaitAsleepIn(thread, ASLEEP, LIMIT);
        boolean atBell = KernelThread.systemCall(thread).equals(KernelThread.FUTEX);
        action.run(selecting.thread());
        assertThat(selecting.get()).isEqualTo(expected);
        return atBell;
    }

    private boolean ring() throws Exception {
        boolean atBell = select(1, () -> pair.peer().write(ByteBuffer.allocate(1)));
        assertThat(key.isReadable()).isTrue();
        assertThat(pair.tested().read(ByteBuffer.allocate(10))).isEqualTo(1);
        selector.selectedKeys().clear();
        return atBell;
    }

    private boolean connect() throws Exception {
        boolean atBell = select(1, () -> accepted.add(SocketChannel.open(listener.getLocalAddress())));
        selector.selectedKeys().clear();
        accepted.add(listener.accept());
        assertThat(listener.accept()).isNull();
        return atBell;
    }

    /** How many sleeps in the kernel ended by a doorbell come before the first at the bell, which is over. */
    private int ringsUntilAtBell() throws Exception {
        for (int i = 0;; i++) {
            assertThat(i).as("sleeps in the kernel").isLessThan(40);
            if (ring()) {
                return i;
            }
        }
    }

    @Test
    void afterSomeDoorbellsItSleepsAtTheBellAndAConnectionWakesIt() throws Exception {
        assertThat(ringsUntilAtBell()).isEqualTo(4);
        for (int i = 0; i < 5; i++) {
            assertThat(ring()).as("at the bell").isTrue();
        }
        assertThat(connect()).as("at the bell").isTrue();
        assertThat(ring()).as("at the bell").isFalse();
    }

    @Test
    void reportsOfTheKernelMakeTheNextTryLater() throws Exception {
        int before = 0;
        for (int expected : new int[] {4, 8, 16}) {
            assertThat(ringsUntilAtBell()).isEqualTo(expected).isGreaterThan(before);
            before = expected;
            assertThat(connect()).as("at the bell").isTrue();
        }
    }

    @Test
    void reportsOfTheKernelInBetweenKeepItThere() throws Exception {
        for (int i = 0; i < 4; i++) {
            for (int k = 0; k < 3; k++) {
                assertThat(ring()).as("at the bell").isFalse();
            }
            assertThat(connect()).as("at the bell").isFalse();
        }
    }

    /** What is ready and not taken is reported by each selection, as the JDK's selector does. */
    @Test
    void whatIsNotTakenIsFoundAgain() throws Exception {
        ringsUntilAtBell();
        try (SocketChannel client = SocketChannel.open(listener.getLocalAddress())) {
            for (int i = 0; i < 10; i++) {
                assertThat(selector.select()).isEqualTo(1);
                selector.selectedKeys().clear();
            }
            accepted.add(listener.accept());
        }
        assertThat(selector.selectNow()).isZero();
        assertThat(selector.select(1)).isZero();
    }

    /** The kernel learns of a new key before the thread sleeps at the bell again. */
    @Test
    void keyThatIsRegisteredMeanwhileIsWatched() throws Exception {
        ringsUntilAtBell();
        try (Carrier.Pair plain = Carrier.TCP.connected()) {
            plain.tested().configureBlocking(false);
            SelectionKey byTcp = plain.tested().register(selector, OP_READ);
            assertThat(select(1, () -> plain.peer().write(ByteBuffer.allocate(1)))).as("at the bell").isTrue();
            assertThat(byTcp.isReadable()).isTrue();
            byTcp.cancel();
        }
    }

    @Test
    void wakeupAndTimeEndIt() throws Exception {
        ringsUntilAtBell();
        assertThat(select(0, selector::wakeup)).as("at the bell").isTrue();
        long start = System.nanoTime();
        assertThat(selector.select(30)).isZero();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(30_000_000);
        assertThat(ring()).as("at the bell").isTrue();
    }

    @Test
    void interruptEndsItAndStays() throws Exception {
        ringsUntilAtBell();
        Threads.Started selecting = Threads.PLATFORM.start(() -> {
            int found = selector.select();
            assertThat(Thread.interrupted()).isTrue();
            return found;
        });
        Path thread = selecting.folder().get();
        KernelThread.awaitAsleepIn(thread, Set.of(KernelThread.FUTEX), LIMIT);
        selecting.thread().interrupt();
        assertThat(selecting.get()).isEqualTo(0);
        assertThat(ring()).as("at the bell").isTrue();
    }

    /** Whatever comes while the thread is on its way to sleep or awake is found. */
    @Test
    void connectionsAndBytesAtAnyMomentAreFound() throws Exception {
        int rounds = 400;
        Threads.Started serving = Threads.PLATFORM.start(() -> {
            int connections = 0;
            int bytes = 0;
            while (connections < rounds || bytes < 10 * rounds) {
                assertThat(selector.select(30_000)).as("%d connections, %d bytes", connections, bytes).isPositive();
                selector.selectedKeys().clear();
                for (SocketChannel c = listener.accept(); c != null; c = listener.accept()) {
                    c.close();
                    connections++;
                }
                bytes += pair.tested().read(ByteBuffer.allocate(100));
            }
            return bytes;
        });
        Threads.Started connecting = Threads.PLATFORM.start(() -> {
            Random random = new Random(Seeds.FIRST);
            for (int i = 0; i < rounds; i++) {
                SocketChannel.open(listener.getLocalAddress()).close();
                LockSupport.parkNanos(random.nextInt(1_000_000));
            }
            return null;
        });
        Random random = new Random(Seeds.FIRST + 1);
        for (int i = 0; i < 10 * rounds; i++) {
            pair.peer().write(ByteBuffer.allocate(1));
            LockSupport.parkNanos(random.nextInt(100_000));
        }
        connecting.get();
        assertThat(serving.get()).isEqualTo(10 * rounds);
    }

    @Test
    void endOfThePeerEndsIt() throws Exception {
        ringsUntilAtBell();
        assertThat(select(1, pair.peer()::close)).as("at the bell").isTrue();
        assertThat(pair.tested().read(ByteBuffer.allocate(10))).isEqualTo(-1);
    }

    @Test
    void closeOfTheSelectorEndsItAndLeavesOthersWatched() throws Exception {
        ringsUntilAtBell();
        try (Selector other = VerbenaSelectorProvider.instance().openSelector()) {
            assertThat(select(0, selector::close)).as("at the bell").isTrue();
            assertThatThrownBy(selector::select).isInstanceOf(ClosedSelectorException.class);

            selector = other; // with the descriptor of the first, most likely
            key = pair.tested().register(selector, OP_READ);
            listener.register(selector, OP_ACCEPT);
            assertThat(ringsUntilAtBell()).isEqualTo(4);
            assertThat(connect()).as("at the bell").isTrue();
        }
    }

    /** A program that wakes its selector before each selection finds what is ready at the kernel all the same, as by the JDK's. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void selectionAfterWakeupFindsWhatIsReadyAtTheKernel(boolean interrupted) throws Exception {
        ringsUntilAtBell();
        try (SocketChannel client = SocketChannel.open(listener.getLocalAddress())) {
            assertThat(selector.select()).isEqualTo(1); // it has arrived
            selector.selectedKeys().clear();
            if (interrupted) {
                Thread.currentThread().interrupt();
            } else {
                selector.wakeup();
            }
            try {
                assertThat(selector.select()).isEqualTo(1);
            } finally {
                Thread.interrupted();
            }
            accepted.add(listener.accept());
        }
    }
}
