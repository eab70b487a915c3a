// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** FreeBSD's suite against the stack: each script holds, or is listed with the reason why it does not. */
final class FreebsdSuiteTest {
    private static final Path SUITE = Path.of("src/test/packetdrill/freebsd");
    private static final Path EXPECTED = SUITE.resolve("expected-failures.txt");

    @Test
    void scriptsHoldOrAreListed() throws Exception {
        List<Suite.Result> results = Suite.run(SUITE, Profile.freebsd(), StackTarget::open);
        System.out.print(new SuiteReport(results));
        assertThat(new Expectations(Files.readAllLines(EXPECTED)).surprises(results)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("org.verbena.stack.packetdrill.OwnScripts#all")
    void ourOwnScriptsHold(String script, IpVersion version) throws Exception {
        assertThat(OwnScripts.run(OwnScripts.read(script), Profile.freebsd().over(version), StackTarget::open))
                .isEqualTo(new Outcome.Passed());
    }
}
