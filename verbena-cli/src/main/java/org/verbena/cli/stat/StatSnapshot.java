// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * A snapshot of processes. Immutable.
 *
 * @param time when
 * @param processes by number
 * @param problems one sentence for each process that could not be read
 * @param missed those of them that are there, by number
 */
public record StatSnapshot(Instant time, List<StatProcess> processes, List<String> problems, Set<Long> missed) {
    /** One that misses nobody. */
    StatSnapshot(Instant time, List<StatProcess> processes, List<String> problems) {
        this(time, processes, problems, Set.of());
    }

    /**
     * With the processes that it misses as they were in an earlier sample: they are silent.
     *
     * @param earlier the base of this sample
     */
    StatSnapshot withMissed(@Nullable StatSnapshot earlier) {
        if (missed.isEmpty() || earlier == null) {
            return this;
        }
        Stream<StatProcess> silent = earlier.processes.stream().filter(p -> missed.contains(p.pid())).map(
                StatProcess::asSilent);
        return new StatSnapshot(time, Stream.concat(processes.stream(), silent).sorted(Comparator.comparingLong(
                StatProcess::pid)).toList(), problems);
    }

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
