// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Where processes run: commands that start them, each of which may be empty.
 *
 * @param server starts those of the application
 * @param load starts those of its load
 */
record Placement(List<String> server, List<String> load) {
    /** Which processors they have. A JVM sees these only, as it does in a container. */
    enum Processors {
        /** One for the application, another one for the load. */
        ONE,
        /** The same two for both. */
        TWO,
        /** All that there are. */
        ALL
    }

    /** Wherever the kernel puts them. */
    static final Placement ANYWHERE = new Placement(List.of(), List.of());

    /**
     * Of the processors that may be used.
     *
     * @param taskset that program, of util-linux, if it is there
     * @throws IllegalArgumentException if that is not possible here; says why
     */
    static Placement of(Processors processors, BitSet allowed, Optional<Path> taskset) {
        if (processors == Processors.ALL) {
            return ANYWHERE;
        }
        String asked = "--processors=" + processors.name().toLowerCase(Locale.ROOT);
        Path program = taskset.orElseThrow(() -> new IllegalArgumentException(asked
                + " needs taskset (Debian: util-linux)"));
        if (allowed.cardinality() < 2) {
            throw new IllegalArgumentException(asked + " needs two processors, but may use " + allowed + " only");
        }
        int first = allowed.nextSetBit(0);
        int second = second(allowed, first, siblings(first));
        return processors == Processors.ONE
                ? new Placement(on(program, Integer.toString(first)), on(program, Integer.toString(second)))
                : new Placement(on(program, first + "," + second), on(program, first + "," + second));
    }

    private static List<String> on(Path taskset, String processors) {
        return List.of(taskset.toString(), "-c", processors);
    }

    /** One that shares no core with the first, if possible. */
    static int second(BitSet allowed, int first, BitSet siblings) {
        BitSet others = (BitSet) allowed.clone();
        others.andNot(siblings);
        others.clear(first);
        return others.isEmpty() ? allowed.nextSetBit(first + 1) : others.nextSetBit(0);
    }

    private static BitSet siblings(int processor) {
        Path list = Path.of("/sys/devices/system/cpu/cpu" + processor + "/topology/thread_siblings_list");
        try {
            return numbers(Files.readString(list));
        } catch (IOException e) {
            return new BitSet(); // unknown: none
        }
    }

    /** As the kernel lists processors: {@code 0-3,8}. */
    static BitSet numbers(String list) {
        BitSet set = new BitSet();
        for (String range : list.strip().split(",", -1)) {
            String[] ends = range.split("-", -1);
            set.set(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]) + 1);
        }
        return set;
    }
}
