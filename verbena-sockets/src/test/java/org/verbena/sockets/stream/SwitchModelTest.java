// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.sockets.stream.SwitchModel.End;
import org.verbena.verbs.VerbsException;

/**
 * The change from TCP to rings under random schedules, by a seed: one thread plays both ends, TCP's delays, the
 * handshake's outcome, closing and death in any order. The messages of the handshake are for {@code Handshake}'s own
 * tests. Whatever the order, a reader gets the writer's bytes, in order, none twice; all of them before an orderly end;
 * and never sleeps while something waits for it. {@link SwitchEnumerationTest} does the same with short schedules, and
 * with all of them.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock("sessions of the model") // and so one test at a time
class SwitchModelTest {
    private static final int READ = SwitchModel.READ;
    private static final int WRITE = SwitchModel.WRITE;
    private static final int SEEDS = Integer.getInteger("verbena.test.seeds", 600);
    private static final int REUSES = 500;
    private static SessionPair sessions;

    @BeforeAll
    static void connect() throws VerbsException {
        sessions = SessionPair.ofOne();
    }

    @AfterAll
    static void disconnect() throws VerbsException {
        System.out.println("WRITEs that did not complete at once: " + sessions.busy);
        sessions.close();
    }

    /** What a schedule has come to. */
    private enum Reached {
        NO_RING, ONE_RING, TWO_RINGS, ONE_FELL_BACK, KILLED_ON_TCP, KILLED_ON_A_RING, CLOSED_ON_TCP, CLOSED_ON_A_RING,
        BYTES_BOTH_WAYS, A_LARGER_RING
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void everyByteArrivesOnceInOrder(int block) throws Exception {
        Map<Reached, Integer> reached = new EnumMap<>(Reached.class);
        for (int seed = block * SEEDS; seed < (block + 1) * SEEDS; seed++) {
            try {
                Schedule s = new Schedule(seed);
                s.run();
                s.reached.forEach(r -> reached.merge(r, 1, Integer::sum));
            } catch (AssertionError | Exception e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
        System.out.println("SwitchModelTest, of " + SEEDS + " schedules: " + reached);
        for (Reached r : Reached.values()) {
            assertThat(reached.getOrDefault(r, 0)).as(r.name()).isGreaterThan(SEEDS / 200);
        }
    }

    /** The most memory that both ends have after one of the schedules. */
    private static long mostMemory() throws Exception {
        long most = 0;
        for (int seed = 0; seed < REUSES; seed++) {
            new Schedule(seed).run();
            most = Math.max(most, sessions.a.arena().total() + sessions.b.arena().total());
        }
        return most;
    }

    /**
     * The engine gives back what was not used for a while. What is registered anew is cut into other pieces then, which can
     * double what is needed at a time; connections that keep theirs would need hundreds of times as much.
     */
    @Test
    void memoryOfEndedConnectionsIsReused() throws Exception {
        long first = mostMemory();
        assertThat(mostMemory()).isPositive().isLessThanOrEqualTo(2 * first);
        assertThat(first).isLessThan(REUSES * 4096L);
        assertThat(sessions.a.streams().all()).isEmpty();
        assertThat(sessions.b.streams().all()).isEmpty();
    }

    /** A run of one seed. */
    private static final class Schedule {
        final Random random;
        final SwitchModel model;
        final End a;
        final End b;
        final Set<Reached> reached = EnumSet.noneOf(Reached.class);

        Schedule(int seed) {
            random = new Random(seed);
            model = new SwitchModel(sessions, random.nextBoolean() ? 20_000 : 50);
            a = model.a;
            b = model.b;
        }

        void run() throws Exception {
            int steps = 20 + random.nextInt(120);
            boolean neverRefuses = random.nextInt(10) > 0;
            for (int i = 0; i < steps; i++) {
                step(random.nextBoolean() ? a : b, neverRefuses);
                model.wakeNotified();
                model.checkSleepers();
            }
            model.settle();
            takeStock();
            model.end();
        }

        private void step(End end, boolean neverRefuses) throws Exception {
            switch (random.nextInt(16)) {
                case 0, 1, 2 -> model.write(end, random.nextInt(4) == 0 ? 9000 : 1 + random.nextInt(60));
                case 3, 4, 5 -> model.read(end, random.nextInt(4) == 0 ? 9000 : 1 + random.nextInt(60));
                case 6, 7 -> end.tcp.arrive(random.nextInt(4) == 0 ? 100_000 : random.nextInt(30));
                case 8, 9 -> model.stepHandshake(end, !neverRefuses && random.nextInt(3) == 0);
                case 10 -> model.sleep(end, 1 + random.nextInt(3) == 1
                        ? READ
                        : random.nextBoolean() ? WRITE : READ | WRITE);
                case 11 -> model.wake(end);
                case 12 -> {
                    if (random.nextInt(6) == 0) {
                        model.endOutput(end);
                    }
                }
                case 13 -> {
                    if (random.nextInt(12) == 0) {
                        model.close(end, random.nextInt(3) == 0);
                    }
                }
                case 14 -> model.answerCalls(end);
                default -> {
                    if (random.nextInt(15) == 0) {
                        model.kill(end, random.nextBoolean());
                    }
                }
            }
        }

        private void takeStock() {
            int rings = (a.stream.isInputByRing() ? 1 : 0) + (b.stream.isInputByRing() ? 1 : 0);
            reached.add(rings == 0 ? Reached.NO_RING : rings == 1 ? Reached.ONE_RING : Reached.TWO_RINGS);
            if (a.fellBack != b.fellBack) {
                reached.add(Reached.ONE_FELL_BACK);
            }
            for (End end : new End[] {a, b}) {
                if (end.killed) {
                    reached.add(end.stream.isInputByRing() ? Reached.KILLED_ON_A_RING : Reached.KILLED_ON_TCP);
                } else if (end.closed) {
                    reached.add(end.stream.isInputByRing() ? Reached.CLOSED_ON_A_RING : Reached.CLOSED_ON_TCP);
                }
            }
            if (a.read > 0 && b.read > 0) {
                reached.add(Reached.BYTES_BOTH_WAYS);
            }
            if (a.stream.in().growths() + b.stream.in().growths() > 0) {
                reached.add(Reached.A_LARGER_RING);
            }
        }
    }

    /** TCP breaks off while the peer may change to the ring, and it is unknown whether it has. */
    @Test
    void resetYieldsAnErrorAndNoBytes() throws Exception {
        FakeTcp[] tcp = FakeTcp.pair(10);
        RingStream stream = new RingStream(tcp[0], Stream.Role.CLIENT, null, false);
        Link link = Link.create(sessions.a, stream);
        assertThat(stream.prepare(link)).isTrue();
        tcp[0].reset();
        assertThat(stream.kernelReady(READ, READ)).isEqualTo(READ);
        ByteBuffer into = ByteBuffer.allocate(100);
        assertThatThrownBy(() -> stream.read(into)).isInstanceOf(IOException.class).hasMessage("Connection reset");
        assertThat(into.position()).isZero();
        link.release();
    }

    @Test
    void readThrowsClosedChannelOnlyIfClosed() throws Exception {
        FakeTcp[] tcp = FakeTcp.pair(10);
        RingStream stream = new RingStream(tcp[0], Stream.Role.CLIENT, null, false);
        tcp[0].close();
        try {
            stream.read(ByteBuffer.allocate(1));
            fail("read a closed channel");
        } catch (ClosedChannelException expected) {
            assertThat(stream.isInputByRing()).isFalse();
        }
    }
}
