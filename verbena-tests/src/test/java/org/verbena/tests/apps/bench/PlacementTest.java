// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;

import org.junit.jupiter.api.Test;

import org.verbena.tests.apps.bench.Placement.Processors;

class PlacementTest {
    private static final Path TASKSET = Path.of("/usr/bin/taskset");
    /** Processors that no machine has: they have no siblings. */
    private static final BitSet TWO = Placement.numbers("100000,100003");

    private static Placement of(Processors processors, BitSet allowed) {
        return Placement.of(processors, allowed, Optional.of(TASKSET));
    }

    @Test
    void oneIsForEachSide() {
        assertThat(of(Processors.ONE, TWO)).isEqualTo(new Placement(List.of("/usr/bin/taskset", "-c", "100000"), List
                .of("/usr/bin/taskset", "-c", "100003")));
    }

    @Test
    void twoAreForBothSides() {
        List<String> both = List.of("/usr/bin/taskset", "-c", "100000,100003");
        assertThat(of(Processors.TWO, TWO)).isEqualTo(new Placement(both, both));
    }

    @Test
    void allNeedNothing() {
        assertThat(Placement.of(Processors.ALL, Placement.numbers("0"), Optional.empty())).isEqualTo(new Placement(List
                .of(), List.of()));
    }

    @Test
    void whatIsMissingIsNamed() {
        assertThatIllegalArgumentException().isThrownBy(() -> Placement.of(Processors.ONE, TWO, Optional.empty()))
                .withMessage("--processors=one needs taskset (Debian: util-linux)");
        assertThatIllegalArgumentException().isThrownBy(() -> of(Processors.TWO, Placement.numbers("7"))).withMessage(
                "--processors=two needs two processors, but may use {7} only");
    }

    @Test
    void secondSharesNoCoreIfPossible() {
        assertThat(Placement.second(Placement.numbers("0-3"), 0, Placement.numbers("0-1"))).isEqualTo(2);
        assertThat(Placement.second(Placement.numbers("0-1"), 0, Placement.numbers("0-1"))).isEqualTo(1);
        assertThat(Placement.second(Placement.numbers("4,6"), 4, new BitSet())).isEqualTo(6);
    }
}
