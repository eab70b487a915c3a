// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The records of a program about its connections before and after each call, in a file that outlives it: for each
 * direction the bytes of completed calls, and those of calls that may have completed.
 */
final class MomentNotes {
    static final int READ = 0;
    static final int READ_AT_MOST = 1;
    static final int WRITTEN = 2;
    static final int WRITTEN_AT_MOST = 3;
    private static final int WORDS = 4;
    private static final int MOST = 64;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment words;

    MomentNotes(Path file) throws java.io.IOException {
        try (FileChannel f = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE,
                StandardOpenOption.CREATE)) {
            words = f.map(FileChannel.MapMode.READ_WRITE, 0, (long) MOST * WORDS * Long.BYTES, Arena.ofAuto());
        }
    }

    private static long at(int connection, int word) {
        return ((long) connection * WORDS + word) * Long.BYTES;
    }

    void put(int connection, int word, long value) {
        LONG.setRelease(words, at(connection, word), value);
    }

    long get(int connection, int word) {
        return (long) LONG.getAcquire(words, at(connection, word));
    }

    void clear() {
        words.fill((byte) 0);
    }
}
