// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * What was seen at one look. Immutable.
 *
 * @param time when
 * @param processes by number
 * @param problems what could not be seen, a sentence each
 */
record StatPicture(Instant time, List<StatProcess> processes, List<String> problems) {
    /**
     * What the rates of the next picture are taken against: of each process the last exact values, which are older ones
     * where it does not answer.
     *
     * @param earlier what those of this one were taken against
     */
    StatPicture base(@Nullable StatPicture earlier) {
        return processes.stream().noneMatch(StatProcess::silent)
                ? this
                : new StatPicture(time, processes.stream().flatMap(p -> p.silent() ? find(earlier, p) : Stream.of(p))
                        .toList(), problems);
    }

    private static Stream<StatProcess> find(@Nullable StatPicture picture, StatProcess same) {
        return picture == null
                ? Stream.of()
                : picture.processes().stream().filter(p -> p.key().equals(same.key()));
    }

    /** A process as it was in an earlier picture; empty if it was not in it. */
    static Optional<StatProcess> earlier(@Nullable StatPicture picture, StatProcess same) {
        return find(picture, same).findFirst();
    }
}
