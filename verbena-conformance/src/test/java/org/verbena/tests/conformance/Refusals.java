// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.VerbsException;

/** The errnos by any of which a verb may be refused; none if it has to succeed. */
final class Refusals {
    private final Set<Integer> errnos = new TreeSet<>();
    private final boolean driverLacks;

    /** A verb that makes something. */
    @FunctionalInterface
    interface Verb<T> {
        T call() throws VerbsException;
    }

    Refusals(ConformanceFixture fixture) {
        driverLacks = fixture.driverLacks();
    }

    void add(int errno, boolean condition) {
        if (condition) {
            errnos.add(errno);
        }
    }

    /** Answers what was made; null if it was refused, as it had to be. */
    <T> @Nullable T expect(Verb<T> verb, Object what) {
        try {
            T made = verb.call();
            assertThat(errnos).as("%s is not refused", what).isEmpty();
            return made;
        } catch (VerbsException e) {
            if (driverLacks && e.errno() == Errno.EOPNOTSUPP) {
                return null;
            }
            assertThat(errnos.stream().map(Errno::name)).as("%s: %s", what, e.getMessage())
                    .contains(Errno.name(e.errno()));
            return null;
        }
    }
}
