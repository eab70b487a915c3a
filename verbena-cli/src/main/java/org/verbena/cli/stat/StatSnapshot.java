// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * A snapshot of processes. Immutable.
 *
 * @param time when
 * @param processes by number
 * @param problems one sentence for each process that could not be read
 */
public record StatSnapshot(Instant time, List<StatProcess> processes, List<String> problems) {
    /**
     * The base for the rates of the next sample: the last exact values of each process, which are older ones if it does
     * not answer.
     *
     * @param earlier the base of this sample
     */
    StatSnapshot base(@Nullable StatSnapshot earlier) {
        return processes.stream().noneMatch(StatProcess::silent)
                ? this
                : new StatSnapshot(time, processes.stream().flatMap(p -> p.silent() ? find(earlier, p) : Stream.of(p))
                        .toList(), problems);
    }

    private static Stream<StatProcess> find(@Nullable StatSnapshot snapshot, StatProcess same) {
        return snapshot == null
                ? Stream.of()
                : snapshot.processes().stream().filter(p -> p.key().equals(same.key()));
    }

    /** A process in an earlier sample; empty if it was not in it. */
    static Optional<StatProcess> earlier(@Nullable StatSnapshot snapshot, StatProcess same) {
        return find(snapshot, same).findFirst();
    }
}
