// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Capabilities;

/** Scripts of our own against the kernel's TCP, which proves the interpreter by another TCP. */
final class KernelTest {
    private static final Path OWN = Path.of("src/test/packetdrill/own");

    static Stream<String> scripts() throws Exception {
        return Suite.scripts(OWN).stream().map(s -> OWN.relativize(s).toString());
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void theKernelDoesAsTheScriptSays(String script) throws Exception {
        Capabilities.require("a TUN interface in a network namespace", Capabilities.NET_ADMIN,
                Capabilities.SYS_ADMIN);
        Profile profile = Profile.strict();
        Outcome outcome = NetworkNamespace.callInNew(() -> {
            NetworkNamespace.disableIpv6();
            return Runner.run(ScriptParser.read(OWN.resolve(script), profile.defined()), profile, KernelTarget::open);
        });
        assertThat(outcome).isEqualTo(new Outcome.Passed());
    }

    @ParameterizedTest
    @MethodSource("wrong")
    void aScriptThatIsWrongFails(String from, String to, String kind) throws Exception {
        Capabilities.require("a TUN interface in a network namespace", Capabilities.NET_ADMIN,
                Capabilities.SYS_ADMIN);
        String text = Files.readString(OWN.resolve("active-open-data-close.pkt"));
        assertThat(text).contains(from);
        Outcome outcome = NetworkNamespace.callInNew(() -> Runner.run(ScriptParser.parse("wrong.pkt", text.replace(
                from, to), Set.of()), Profile.strict(), KernelTarget::open));
        assertThat(outcome).isInstanceOfSatisfying(Outcome.Failed.class, f -> assertThat(f.kind()).isEqualTo(kind));
    }

    static List<Object[]> wrong() {
        return List.of(new Object[] {"S 0:0(0) <...>", "S 0:0(0) <mss 1>", "OPTIONS"}, new Object[] {"> F.", "> .",
            "FLAGS"},
                new Object[] {"recv(3, ..., 100, 0) = 10", "recv(3, ..., 100, 0) = 11", "RETURN"},
                new Object[] {"1:101(100) ack 1", "2:102(100) ack 1", "SEQUENCE"},
                new Object[] {"101(0) ack 11\n+0 recv", "101(0) ack 12\n+0 recv", "ACK"});
    }
}
