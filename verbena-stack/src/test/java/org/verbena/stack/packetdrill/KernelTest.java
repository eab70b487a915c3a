// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Capabilities;

/** Scripts of our own against the kernel's TCP, which proves the interpreter by another TCP. */
final class KernelTest {
    private static final int TRIES = 10;
    /** Half of what the scripts tolerate. */
    private static final long LATE = 40_000_000;

    @ParameterizedTest
    @MethodSource("org.verbena.stack.packetdrill.OwnScripts#all")
    void theKernelDoesAsTheScriptSays(String script, IpVersion version) throws Exception {
        Capabilities.require("a TUN interface in a network namespace", Capabilities.NET_ADMIN,
                Capabilities.SYS_ADMIN);
        assertThat(run(OwnScripts.read(script), version)).isEqualTo(new Outcome.Passed());
    }

    @ParameterizedTest
    @MethodSource("wrong")
    void aScriptThatIsWrongFails(String from, String to, String kind) throws Exception {
        Capabilities.require("a TUN interface in a network namespace", Capabilities.NET_ADMIN,
                Capabilities.SYS_ADMIN);
        String text = Files.readString(OwnScripts.path("active-open-data-close.pkt"));
        assertThat(text).contains(from);
        assertThat(run(ScriptParser.parse("wrong.pkt", text.replace(from, to), Set.of()), IpVersion.IPV4))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class, f -> assertThat(f.kind()).isEqualTo(kind));
    }

    /** Runs a script, again if this process has not run for so long that the script's times were not kept: the kernel does not wait for it. */
    private static Outcome run(Script script, IpVersion version) throws Exception {
        for (int i = 0; i < TRIES; i++) {
            AtomicReference<KernelTarget> target = new AtomicReference<>();
            Outcome outcome = NetworkNamespace.callInNew(() -> OwnScripts.run(script, Profile.strict().over(version), (
                    local, mtu) -> {
                KernelTarget t = KernelTarget.open(local, mtu);
                target.set(t);
                return t;
            }));
            if (outcome instanceof Outcome.Passed || target.get().longestPause() < LATE) {
                return outcome;
            }
        }
        throw new AssertionError("in each of " + TRIES + " runs this process has rested for more than " + LATE
                / 1_000_000 + " ms");
    }

    static List<Object[]> wrong() {
        return List.of(new Object[] {"S 0:0(0) <...>", "S 0:0(0) <mss 1>", "OPTIONS"}, new Object[] {"> F.", "> .",
            "FLAGS"},
                new Object[] {"recv(3, ..., 100, 0) = 10", "recv(3, ..., 100, 0) = 11", "RETURN"},
                new Object[] {"1:101(100) ack 1", "2:102(100) ack 1", "SEQUENCE"},
                new Object[] {"101(0) ack 11\n+0 recv", "101(0) ack 12\n+0 recv", "ACK"});
    }
}
