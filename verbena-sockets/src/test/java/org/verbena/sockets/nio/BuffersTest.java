// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What an operation does with the buffers that it is given: it moves bytes of all that it needs, or of none, and keeps
 * them.
 */
@Tag("any-provider")
class BuffersTest {
    private static final int MUCH = 64 << 20;

    /** Operations of a channel, by a buffer that is to be from an arena. */
    enum Operation {
        READ {
            @Override
            long move(SocketChannel c, ByteBuffer buffer) throws IOException {
                return c.read(buffer);
            }
        },
        SCATTER {
            @Override
            long move(SocketChannel c, ByteBuffer buffer) throws IOException {
                return c.read(new ByteBuffer[] {ByteBuffer.allocate(100), buffer});
            }
        },
        WRITE {
            @Override
            long move(SocketChannel c, ByteBuffer buffer) throws IOException {
                return c.write(buffer);
            }
        },
        GATHER {
            @Override
            long move(SocketChannel c, ByteBuffer buffer) throws IOException {
                return c.write(new ByteBuffer[] {ByteBuffer.allocate(100), buffer});
            }
        };

        abstract long move(SocketChannel channel, ByteBuffer buffer) throws IOException;
    }

    static Stream<Arguments> waits() {
        return Stream.of(Carrier.values()).flatMap(c -> Stream.of(Threads.values())
                // the JDK's holds nothing while a virtual one parks
                .filter(t -> c != Carrier.JDK || t == Threads.PLATFORM)
                .flatMap(t -> Stream.of(Operation.values()).map(o -> Arguments.of(c, t, o))));
    }

    @ParameterizedTest
    @MethodSource("waits")
    void arenaIsNotClosedWhileAnOperationWaits(Carrier carrier, Threads threads, Operation operation)
            throws Exception {
        Arena arena = Arena.ofShared();
        try (Carrier.Pair pair = carrier.connected()) {
            ByteBuffer much = arena.allocate(MUCH).asByteBuffer();
            SocketChannel c = pair.tested();
            Threads.Started waiting = threads.start(() -> operation.move(c, much));
            waiting.awaitBlocked();
            assertThat(waiting.result()).isNotDone();
            assertThatThrownBy(arena::close).isInstanceOf(IllegalStateException.class).hasMessageContaining("acquired");
            c.close();
            // the JDK's may return what it has written
            waiting.result().handle((n, failure) -> true).get(60, TimeUnit.SECONDS);
        }
        arena.close();
        assertThat(arena.scope().isAlive()).isFalse();
    }

    /** Neither after an operation that moved nothing, nor after one that moved all. */
    @ParameterizedTest
    @EnumSource
    void arenaIsClosedAfterTheOperation(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            SocketChannel c = pair.tested();
            c.configureBlocking(false);
            for (Operation operation : Operation.values()) {
                try (Arena arena = Arena.ofShared()) {
                    ByteBuffer some = arena.allocate(1000).asByteBuffer();
                    if (operation == Operation.READ || operation == Operation.SCATTER) {
                        assertThat(operation.move(c, some)).isZero();
                    } else {
                        assertThat(operation.move(c, some)).isPositive();
                    }
                }
            }
        }
    }

    /** A buffer that an operation refuses, and how. */
    private record Bad(@Nullable ByteBuffer buffer, Class<? extends Exception> exception) {}

    private static List<Bad> bad(Arena foreign) {
        Arena gone = Arena.ofShared();
        ByteBuffer dead = gone.allocate(10).asByteBuffer();
        gone.close();
        ByteBuffer others = foreign.allocate(10).asByteBuffer();
        return List.of(new Bad(null, NullPointerException.class), new Bad(dead, IllegalStateException.class),
                new Bad(dead.duplicate().limit(0), IllegalStateException.class),
                new Bad(others, WrongThreadException.class), new Bad(others.slice(0, 0), WrongThreadException.class));
    }

    static Stream<Arguments> carriersAndModes() {
        return Stream.of(Carrier.values()).flatMap(c -> Stream.of(true, false).map(b -> Arguments.of(c, b)));
    }

    @ParameterizedTest
    @MethodSource("carriersAndModes")
    @SuppressWarnings("NullAway") // that is what is refused
    void invalidBufferInAGatherSendsNothing(Carrier carrier, boolean blocks) throws Exception {
        try (Carrier.Pair pair = carrier.connected(); Arena foreign = Arena.ofConfined()) {
            SocketChannel c = pair.tested();
            c.configureBlocking(blocks);
            byte mark = 1;
            for (Bad bad : bad(foreign)) {
                for (int at = 0; at < 3; at++) {
                    ByteBuffer[] all = {ByteBuffer.allocate(5), ByteBuffer.allocateDirect(6), ByteBuffer.allocate(7)};
                    all[at] = bad.buffer;
                    Throwable refused = Threads.PLATFORM.start(() -> c.write(all)).failure();
                    assertThat(refused).isInstanceOf(bad.exception);
                    assertThat(Stream.of(all).filter(b -> b != null && b != bad.buffer)).allMatch(b -> b
                            .position() == 0);
                    assertThat(c.write(ByteBuffer.wrap(new byte[] {mark}))).isOne();
                    ByteBuffer got = ByteBuffer.allocate(100);
                    assertThat(TransferTest.read(pair.peer(), 1)).containsExactly(mark);
                    pair.peer().configureBlocking(false);
                    assertThat(pair.peer().read(got)).isZero();
                    pair.peer().configureBlocking(true);
                    mark++;
                }
            }
            ByteBuffer[] good = {ByteBuffer.allocate(5), ByteBuffer.allocate(6)};
            for (int[] range : new int[][] {{-1, 1}, {0, -1}, {1, 2}, {3, 0}, {1, Integer.MAX_VALUE}}) {
                assertThatThrownBy(() -> c.write(good, range[0], range[1])).isInstanceOf(
                        IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> c.read(good, range[0], range[1])).isInstanceOf(
                        IndexOutOfBoundsException.class);
            }
            assertThat(c.write(new ByteBuffer[] {null, ByteBuffer.wrap(new byte[] {mark}), null}, 1, 1)).isOne();
            assertThat(TransferTest.read(pair.peer(), 1)).containsExactly(mark);
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndModes")
    @SuppressWarnings("NullAway") // that is what is refused
    void invalidBufferInAScatterReadsNothing(Carrier carrier, boolean blocks) throws Exception {
        try (Carrier.Pair pair = carrier.connected(); Arena foreign = Arena.ofConfined()) {
            SocketChannel c = pair.tested();
            byte[] sent = {1, 2, 3, 4, 5, 6, 7, 8};
            assertThat(pair.peer().write(ByteBuffer.wrap(sent))).isEqualTo(sent.length);
            assertThat(TransferTest.read(c, 1)).containsExactly(1); // all are there
            c.configureBlocking(blocks);
            Bad readOnly = new Bad(ByteBuffer.allocate(3).asReadOnlyBuffer(), IllegalArgumentException.class);
            for (Bad bad : Stream.concat(bad(foreign).stream(), Stream.of(readOnly)).toList()) {
                for (int at = 0; at < 3; at++) {
                    ByteBuffer[] all = {ByteBuffer.allocate(1), ByteBuffer.allocateDirect(2), ByteBuffer.allocate(7)};
                    all[at] = bad.buffer;
                    Throwable refused = Threads.PLATFORM.start(() -> c.read(all)).failure();
                    assertThat(refused).isInstanceOf(bad.exception);
                    assertThat(Stream.of(all).filter(b -> b != null && b != bad.buffer)).allMatch(b -> b
                            .position() == 0);
                }
            }
            assertThat(TransferTest.read(c, 7)).containsExactly(2, 3, 4, 5, 6, 7, 8);
        }
    }

    @ParameterizedTest
    @MethodSource("carriersAndModes")
    @SuppressWarnings("NullAway") // what is not in the range is not checked
    void duplicateBufferIsSentTwice(Carrier carrier, boolean blocks) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            SocketChannel c = pair.tested();
            c.configureBlocking(blocks);
            ByteBuffer head = ByteBuffer.wrap(new byte[] {1, 2});
            ByteBuffer separator = ByteBuffer.allocateDirect(3).put(new byte[] {0, 9, 8}).flip().position(1);
            ByteBuffer body = ByteBuffer.wrap(new byte[] {3, 4, 5});
            assertThat(c.write(new ByteBuffer[] {null, head, separator, body, separator, null}, 1, 4)).isEqualTo(9);
            assertThat(TransferTest.read(pair.peer(), 9)).containsExactly(1, 2, 9, 8, 3, 4, 5, 9, 8);
            assertThat(Stream.of(head, separator, body)).noneMatch(ByteBuffer::hasRemaining);
        }
    }

    /** It goes on behind what fits at once. */
    @ParameterizedTest
    @EnumSource
    void duplicateBufferIsSentTwiceByABlockedWriter(Carrier carrier) throws Exception {
        try (Carrier.Pair pair = carrier.connected()) {
            SocketChannel c = pair.tested();
            ByteBuffer much = ByteBuffer.allocate(MUCH / 4);
            ByteBuffer mark = ByteBuffer.wrap(new byte[] {1, 2, 3});
            long all = 2L * much.capacity() + 3L * mark.capacity();
            Threads.Started writer = Threads.PLATFORM.start(() -> c.write(new ByteBuffer[] {mark, much, mark, much,
                mark}));
            ByteBuffer got = ByteBuffer.wrap(TransferTest.read(pair.peer(), (int) all));
            assertThat(writer.result().get(60, TimeUnit.SECONDS)).isEqualTo(all);
            for (int i = 0; i < 3; i++) {
                int at = i * (much.capacity() + mark.capacity());
                assertThat(got.slice(at, mark.capacity())).isEqualTo(ByteBuffer.wrap(new byte[] {1, 2, 3}));
            }
            assertThat(mark.hasRemaining()).isFalse();
            assertThat(much.hasRemaining()).isFalse();
        }
    }
}
