// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.async;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.nio.channels.InterruptedByTimeoutException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.verbena.sockets.async.Ends.Handled;

/** What asynchronous operations do with the buffers that they are given, first the JDK's. */
@Tag("any-provider")
@Timeout(180)
class AsynchronousBuffersTest {
    private static final int SOME = 1000;

    /** Operations of a channel; {@code some} is from an arena. */
    enum Operation {
        READ {
            @Override
            void begin(AsynchronousSocketChannel c, ByteBuffer some, long millis, Handled<Long> handled) {
                c.read(some, millis, TimeUnit.MILLISECONDS, "", asLong(handled));
            }
        },
        SCATTER {
            @Override
            void begin(AsynchronousSocketChannel c, ByteBuffer some, long millis, Handled<Long> handled) {
                c.read(new ByteBuffer[] {ByteBuffer.allocate(1), some}, 0, 2, millis, TimeUnit.MILLISECONDS, "",
                        handled);
            }
        },
        WRITE {
            @Override
            void begin(AsynchronousSocketChannel c, ByteBuffer some, long millis, Handled<Long> handled) {
                c.write(some, millis, TimeUnit.MILLISECONDS, "", asLong(handled));
            }
        },
        GATHER {
            @Override
            void begin(AsynchronousSocketChannel c, ByteBuffer some, long millis, Handled<Long> handled) {
                c.write(new ByteBuffer[] {ByteBuffer.allocate(1), some}, 0, 2, millis, TimeUnit.MILLISECONDS, "",
                        handled);
            }
        };

        abstract void begin(AsynchronousSocketChannel c, ByteBuffer some, long millis, Handled<Long> handled);

        boolean writes() {
            return this == WRITE || this == GATHER;
        }

        private static CompletionHandler<Integer, Object> asLong(Handled<Long> handled) {
            return new CompletionHandler<>() {
                @Override
                public void completed(Integer n, Object given) {
                    handled.completed((long) n, given);
                }

                @Override
                public void failed(Throwable failure, Object given) {
                    handled.failed(failure, given);
                }
            };
        }
    }

    static Stream<Arguments> endsAndOperations() {
        return Stream.of(Ends.values()).flatMap(e -> Stream.of(Operation.values()).map(o -> Arguments.of(e, o)));
    }

    @ParameterizedTest
    @MethodSource("endsAndOperations")
    void arenaIsNotClosedWhileAnOperationIsPending(Ends ends, Operation operation) throws Exception {
        try (Ends.Pair p = ends.connected()) {
            Arena arena;
            Handled<Long> handled;
            while (true) {
                arena = Arena.ofShared();
                handled = new Handled<>();
                operation.begin(p.tested(), arena.allocate(1 << 20).asByteBuffer(), 0, handled);
                if (!isClosed(arena)) {
                    break;
                }
                assertThat(operation.writes()).isTrue();
                assertThat(handled.result.get(60, TimeUnit.SECONDS)).isPositive(); // there was room
            }
            p.tested().close();
            handled.result.handle((n, failure) -> true).get(60, TimeUnit.SECONDS);
            if (ends != Ends.JDK) { // which forgets it
                assertThat(isClosed(arena)).isTrue();
            }
        }
    }

    private static boolean isClosed(Arena arena) {
        try {
            arena.close();
        } catch (IllegalStateException e) {
            assertThat(e).hasMessageContaining("acquired");
        }
        return !arena.scope().isAlive();
    }

    private static Throwable failure(CompletableFuture<?> result) throws Exception {
        try {
            throw new AssertionError("no failure, but " + result.get(60, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            return e.getCause();
        }
    }

    /** However it ends: done at once, done later, its time over, the channel closed. The JDK's forgets some of them. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "JDK")
    void arenaIsClosedAfterTheOperation(Ends ends) throws Exception {
        try (Ends.Pair p = ends.connected()) {
            try (Arena arena = Arena.ofShared()) {
                Handled<Long> handled = new Handled<>();
                Operation.GATHER.begin(p.tested(), arena.allocate(SOME).asByteBuffer(), 0, handled);
                handled.result.get(60, TimeUnit.SECONDS);
            }
            try (Arena arena = Arena.ofShared()) {
                Handled<Long> handled = new Handled<>();
                Operation.SCATTER.begin(p.tested(), arena.allocate(SOME).asByteBuffer(), 0, handled);
                Ends.get(p.peer().write(ByteBuffer.allocate(1)));
                handled.result.get(60, TimeUnit.SECONDS);
            }
            Arena arena = Arena.ofShared();
            Handled<Long> handled = new Handled<>();
            Operation.READ.begin(p.tested(), arena.allocate(SOME).asByteBuffer(), 1, handled);
            assertThat(failure(handled.result)).isInstanceOf(InterruptedByTimeoutException.class);
            arena.close();
        }
        Arena arena = Arena.ofShared();
        Handled<Long> handled = new Handled<>();
        try (Ends.Pair p = ends.connected()) {
            Operation.SCATTER.begin(p.tested(), arena.allocate(SOME).asByteBuffer(), 0, handled);
        }
        assertThat(failure(handled.result)).isInstanceOf(AsynchronousCloseException.class);
        arena.close();
    }

    /** Threads of the group use it. */
    @ParameterizedTest
    @MethodSource("endsAndOperations")
    void memoryOfAConfinedArenaIsRefused(Ends ends, Operation operation) throws Exception {
        try (Ends.Pair p = ends.connected(); Arena arena = Arena.ofConfined()) {
            Handled<Long> handled = new Handled<>();
            operation.begin(p.tested(), arena.allocate(SOME).asByteBuffer(), 0, handled);
            assertThat(failure(handled.result)).isExactlyInstanceOf(IllegalStateException.class);
            ByteBuffer own = arena.allocate(SOME).asByteBuffer();
            assertThat(Ends.failure(operation.writes() ? p.tested().write(own) : p.tested().read(own)))
                    .isExactlyInstanceOf(IOException.class).hasCauseInstanceOf(IllegalStateException.class);
            Ends.pass(p.tested(), p.peer(), new byte[] {7}); // nothing before it
            Ends.pass(p.peer(), p.tested(), new byte[] {8});
        }
    }
}
