// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A page that a truncated file does not have any more throws at the access, in interpreted and in compiled code. */
class RawMemoryFaultTest {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final int SIZE = 1 << 20;
    private static final long GONE = 65536;
    private static final int WARM = 20_000;
    private static final int ROUNDS = 50;

    enum Access {
        WORD_OUT, OUT, IN, PAGE_IN, ADD
    }

    @ParameterizedTest
    @EnumSource
    void faultIsThrownAtItsAccess(Access what) throws Exception {
        Path file = Files.createTempFile("cut", ".bin");
        try (FileChannel c = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE,
                StandardOpenOption.DELETE_ON_CLOSE); Arena arena = Arena.ofShared()) {
            c.write(ByteBuffer.allocate(SIZE));
            MemorySegment map = c.map(FileChannel.MapMode.READ_WRITE, 0, SIZE, arena);
            long own = arena.allocate(SIZE, 8).address();
            for (int i = 0; i < WARM; i++) {
                assertThat(faults(what, map, own)).isZero();
            }
            c.truncate(4096);
            for (int i = 0; i < ROUNDS; i++) {
                assertThat(faults(what, map, own)).isEqualTo(ROUNDS);
            }
        }
    }

    /** How many of {@value #ROUNDS} accesses have failed; an exception that is thrown here is too late. */
    private static int faults(Access what, MemorySegment map, long own) {
        int n = 0;
        for (int i = 0; i < ROUNDS; i++) {
            if (!access(what, map, own)) {
                n++;
            }
        }
        return n;
    }

    private static boolean access(Access what, MemorySegment map, long own) {
        try {
            switch (what) {
                case WORD_OUT -> RawMemory.copyOut(map, GONE, own, Long.BYTES);
                case OUT -> RawMemory.copyOut(map, GONE, own, 100);
                case IN -> RawMemory.copyIn(own, map, GONE, 100);
                case PAGE_IN -> RawMemory.copyIn(own, map, GONE, 4096);
                case ADD -> {
                    LONG.getAndAdd(map, GONE, 1L);
                    RawMemory.throwFault();
                }
            }
            return true;
        } catch (InternalError e) {
            return false;
        }
    }
}
