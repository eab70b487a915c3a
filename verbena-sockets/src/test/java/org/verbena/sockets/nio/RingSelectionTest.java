// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.sockets.VerbenaSelectorProvider;
import org.verbena.sockets.stream.ScriptedStream;
import org.verbena.testkit.Await;
import org.verbena.testkit.KernelThread;

/** The selector with streams whose rings a script makes ready: armed, signalled, by doorbell. */
@Tag("any-provider")
class RingSelectionTest {
    private static final int BOTH = OP_READ | OP_WRITE;

    private final VerbenaSelectorProvider provider = new VerbenaSelectorProvider();
    private final List<AutoCloseable> open = new ArrayList<>();
    private VerbenaSelector selector;
    private Pipe tcp;
    private ScriptedStream stream;
    private SelectionKey key;

    @BeforeEach
    void open() throws IOException {
        selector = new VerbenaSelector(provider);
        tcp = Pipe.open();
        stream = new ScriptedStream(tcp.source(), BOTH);
        key = channel(tcp, stream).register(selector, OP_READ);
    }

    @AfterEach
    void close() throws Exception {
        selector.close();
        for (AutoCloseable c : open) {
            c.close();
        }
    }

    private ScriptedChannel channel(Pipe doorbell, ScriptedStream s) throws IOException {
        ScriptedChannel c = new ScriptedChannel(provider, doorbell.source(), s);
        open.add(c);
        open.add(doorbell.sink());
        return c;
    }

    private void ringDoorbell() throws IOException {
        tcp.sink().write(ByteBuffer.wrap(new byte[1]));
    }

    /** Runs when the selection that this thread is about to begin waits. */
    private Thread later(Action action) throws IOException {
        Path selecting = KernelThread.self();
        return Thread.ofPlatform().start(() -> {
            try {
                KernelThread.awaitAsleep(selecting);
                action.run();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
    }

    private interface Action {
        void run() throws Exception;
    }

    /**
     * Runs when the selection that this thread is about to begin has polled some times. One that has to poll is not seen asleep on
     * a busy machine: it wakes each millisecond, and then waits for a processor.
     */
    private Thread whilePolling(Action action) {
        int before = stream.polls.get();
        return Thread.ofPlatform().start(() -> {
            try {
                Await.until("polls", () -> stream.polls.get() > before + 2);
                action.run();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
    }

    @Test
    void readyRingIsSelectedRepeatedly() throws IOException {
        stream.ready(BOTH);

        for (int i = 0; i < 3; i++) {
            assertThat(selector.select()).isEqualTo(1);
            assertThat(selector.selectedKeys()).containsExactly(key);
            assertThat(key.readyOps()).isEqualTo(OP_READ);
            selector.selectedKeys().clear();
        }
        assertThat(stream.arms).hasValue(0);
    }

    @Test
    void keysLeftInTheSelectedSetAreNotCounted() throws IOException {
        stream.ready(BOTH);

        assertThat(selector.select()).isEqualTo(1);
        assertThat(selector.select()).isZero();
        key.interestOps(BOTH);
        assertThat(selector.select()).isEqualTo(1);
        assertThat(key.readyOps()).isEqualTo(BOTH);
    }

    @Test
    void doorbellWakesASleepingSelector() throws Exception {
        Thread peer = later(() -> {
            stream.ready(OP_READ);
            ringDoorbell();
        });

        assertThat(selector.select()).isEqualTo(1);
        assertThat(key.isReadable()).isTrue();
        assertThat(stream.arms).hasValue(1);
        peer.join();
    }

    @Test
    void readyQueueEntryWakesASleepingSelector() throws Exception {
        Thread peer = later(() -> {
            stream.ready(OP_READ);
            stream.signal();
        });

        assertThat(selector.select()).isEqualTo(1);
        peer.join();
    }

    @Test
    void readinessDuringArmingIsNotMissed() throws IOException {
        stream.readyWhileArming = OP_READ;

        assertThat(selector.select()).isEqualTo(1);
    }

    @Test
    void sleepingSelectorArmsOnce() throws IOException {
        assertThat(selector.select(100)).isZero();
        long polls = selector.polls();
        int arms = stream.arms.get();

        assertThat(selector.select(100)).isZero();

        assertThat(arms).isEqualTo(1);
        assertThat(stream.arms).hasValue(1);
        assertThat(selector.polls()).isEqualTo(polls);
    }

    @Test
    void streamSwitchingToRingsDuringASelectIsArmed() throws Exception {
        stream.carry(0);
        CountDownLatch changed = new CountDownLatch(1);
        Thread peer = later(() -> {
            stream.carry(BOTH);
            changed.countDown();
            for (int i = 0; i < 30_000 && stream.armed() == 0; i++) {
                Thread.sleep(1);
            }
            assertThat(stream.armed()).isEqualTo(OP_READ);
            stream.ready(OP_READ);
            ringDoorbell();
        });

        assertThat(selector.select(60_000)).isEqualTo(1);
        assertThat(changed.getCount()).isZero();
        peer.join();
    }

    @Test
    void unsignaledRoomIsFoundByPolling() throws Exception {
        stream.carry(OP_WRITE);
        key.interestOps(OP_WRITE);
        Thread peer = whilePolling(() -> stream.ready(OP_WRITE));

        assertThat(selector.select(60_000)).isEqualTo(1);
        peer.join();
    }

    @Test
    void twoSelectorsSelectOneChannel() throws Exception {
        try (VerbenaSelector other = new VerbenaSelector(provider)) {
            selector.selectNow();
            SelectionKey second = key.channel().register(other, OP_READ);
            assertThat(other.selectNow()).isZero();
            Thread peer = whilePolling(() -> {
                stream.ready(OP_READ);
                stream.signal();
            });

            assertThat(other.select(60_000)).isEqualTo(1);
            assertThat(second.isReadable()).isTrue();
            assertThat(selector.select()).isEqualTo(1);
            peer.join();
        }
    }

    /** Register at the second, then leave the first: so programs rebuild a selector, or hand a channel over. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void channelMovedToAnotherSelectorIsSelectedThere(boolean closed) throws Exception {
        try (VerbenaSelector second = new VerbenaSelector(provider)) {
            selector.selectNow();
            SelectionKey moved = key.channel().register(second, OP_READ);
            assertThat(second.selectNow()).isZero();
            assertThat(stream.listener()).isSameAs(key);
            leave(closed);

            assertThat(second.select(50)).isZero(); // arms it

            assertThat(stream.listener()).isSameAs(moved);
            long polls = second.polls();
            assertThat(second.select(50)).isZero();
            assertThat(second.polls()).isEqualTo(polls);
            Thread peer = later(() -> {
                stream.ready(OP_READ);
                ringDoorbell();
            });
            assertThat(second.select()).isEqualTo(1);
            assertThat(moved.isReadable()).isTrue();
            peer.join();
        }
    }

    @Test
    void sleepingSelectorIsWokenWhenTheOtherDeregisters() throws Exception {
        try (VerbenaSelector second = new VerbenaSelector(provider)) {
            selector.selectNow();
            stream.carry(0);
            stream.fallbackReason = "by a script";
            key.channel().register(second, OP_READ);
            Thread other = later(() -> {
                leave(false);
                for (int i = 0; i < 30_000 && stream.listener() == null; i++) {
                    Thread.sleep(1);
                }
                second.wakeup();
            });

            assertThat(second.select(60_000)).isZero();

            other.join();
            assertThat(stream.listener()).isSameAs(key.channel().keyFor(second));
        }
    }

    @Test
    void tcpConnectionIsNotPolledByASecondSelector() throws Exception {
        try (VerbenaSelector second = new VerbenaSelector(provider)) {
            stream.carry(0);
            stream.fallbackReason = "by a script";
            selector.selectNow();
            SelectionKey other = key.channel().register(second, OP_READ);
            assertThat(second.select(50)).isZero();
            long polls = second.polls();
            assertThat(second.select(50)).isZero();
            assertThat(second.polls()).isEqualTo(polls);

            ringDoorbell(); // a byte of TCP's

            assertThat(second.select()).isEqualTo(1);
            assertThat(other.isReadable()).isTrue();
        }
    }

    private void leave(boolean closed) throws IOException {
        if (closed) {
            selector.close();
        } else {
            key.cancel();
            selector.selectNow();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void failedCloseOfOneChannelDoesNotPreventOthers(boolean closed) throws IOException {
        List<ScriptedChannel> channels = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            ScriptedChannel c = channel(Pipe.open(), new ScriptedStream(null, BOTH));
            c.register(selector, OP_READ);
            c.failure = new IOException("by a script");
            channels.add(c);
        }
        selector.selectNow();
        for (ScriptedChannel c : channels) {
            c.close();
        }

        assertThatThrownBy(closed ? selector::close : selector::selectNow).hasMessage("by a script");

        assertThat(channels).allMatch(c -> !c.isRegistered() && c.kills == 1 && c.stream().listener() == null);
        assertThat(key.isValid()).isEqualTo(!closed);
        if (!closed) {
            assertThat(selector.keys()).containsExactly(key);
            assertThat(selector.selectNow()).isZero();
        }
    }

    @Test
    void spuriousReadyQueueEntriesDoNotEndASelection() throws Exception {
        AtomicBoolean enough = new AtomicBoolean();
        Thread peer = Thread.ofPlatform().start(() -> {
            while (!enough.get()) {
                stream.signal();
                Thread.yield();
            }
        });
        try {
            for (int i = 0; i < 10; i++) {
                long start = System.nanoTime();
                assertThat(selector.select(20)).isZero();
                assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(20));
            }
        } finally {
            enough.set(true);
            peer.join();
        }
    }

    @Test
    void wakeupEndsExactlyOneSelection() throws Exception {
        selector.wakeup();
        selector.wakeup();
        assertThat(selector.select()).isZero();

        long start = System.nanoTime();
        assertThat(selector.select(30)).isZero();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(30));

        Thread other = later(() -> selector.wakeup());
        assertThat(selector.select()).isZero();
        other.join();
    }

    @Test
    void interruptEndsASelectionAndStaysSet() throws Exception {
        Thread selecting = Thread.currentThread();
        Thread other = later(selecting::interrupt);

        assertThat(selector.select()).isZero();

        assertThat(Thread.interrupted()).isTrue(); // and the thread can wait again
        other.join();
    }

    @Test
    void virtualThreadsSleepInSelect() throws Exception {
        List<Integer> counts = new ArrayList<>();
        Thread selecting = Thread.ofVirtual().start(() -> {
            try {
                counts.add(selector.select());
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        Await.untilLasting("it waits", () -> Threads.isParked(selecting));
        stream.ready(OP_READ);
        ringDoorbell();
        selecting.join();

        assertThat(counts).containsExactly(1);
    }

    @Test
    void closedSelectorReleasesItsStreams() throws Exception {
        selector.selectNow();
        assertThat(stream.listener()).isSameAs(key);
        Thread other = later(() -> selector.close());

        assertThat(selector.select()).isZero();

        other.join();
        assertThat(stream.listener()).isNull();
        assertThat(key.isValid()).isFalse();
        assertThat(key.channel().isRegistered()).isFalse();
        assertThatThrownBy(selector::select).isInstanceOf(ClosedSelectorException.class);
    }

    @Test
    void cancelledKeyIsDroppedByTheNextSelection() throws IOException {
        stream.ready(OP_READ);
        selector.selectNow();
        key.cancel();
        assertThat(selector.keys()).contains(key);

        assertThat(selector.selectNow()).isZero();

        assertThat(selector.keys()).isEmpty();
        assertThat(selector.selectedKeys()).isEmpty();
        assertThat(key.channel().isRegistered()).isFalse();
        assertThat(stream.listener()).isNull();
        SelectionKey again = key.channel().register(selector, OP_READ);
        assertThat(selector.selectNow()).isEqualTo(1);
        assertThat(again.isReadable()).isTrue();
    }

    @Test
    void kernelChannelsAreSelectedBesideAnAlwaysReadyRing() throws IOException {
        stream.ready(OP_READ);
        Pipe pipe = provider.openPipe();
        open.add(pipe.source());
        open.add(pipe.sink());
        pipe.source().configureBlocking(false);
        SelectionKey other = pipe.source().register(selector, OP_READ);
        pipe.sink().write(ByteBuffer.wrap(new byte[1]));
        boolean selected = false;

        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!selected && System.nanoTime() < end) {
            selector.select();
            selected = selector.selectedKeys().contains(other);
            selector.selectedKeys().clear();
        }

        assertThat(selected).isTrue();
    }

    @Test
    void selectionDoesNotPollIdleKeys() throws IOException {
        key.cancel();
        int idle = 10_000;
        List<ScriptedStream> streams = new ArrayList<>();
        try {
            for (int i = 0; i < idle; i++) {
                DatagramChannel descriptor = DatagramChannel.open();
                ScriptedStream s = new ScriptedStream(null, BOTH);
                ScriptedChannel c = new ScriptedChannel(provider, descriptor, s);
                open.add(c);
                c.register(selector, OP_READ);
                streams.add(s);
            }
        } catch (IOException tooManyDescriptors) {
            idle = streams.size();
            System.out.println("only " + idle + " idle connections: " + tooManyDescriptors.getMessage());
        }
        assertThat(idle).isGreaterThan(100);
        assertThat(selector.select(10)).isZero(); // arms them all
        ScriptedStream busy = streams.get(idle / 2);
        long before = selector.polls();

        int rounds = 1000;
        for (int i = 0; i < rounds; i++) {
            busy.ready(OP_READ);
            busy.signal();
            assertThat(selector.select()).isEqualTo(1);
            selector.selectedKeys().clear();
            busy.ready(0);
        }

        // one key is ready each time, and polled once or twice
        assertThat(selector.polls() - before).isLessThanOrEqualTo(3L * rounds);
        for (ScriptedStream s : streams) {
            assertThat(s.arms.get()).isLessThanOrEqualTo(s == busy ? rounds : 1);
        }
    }
}
