// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the runner of suites says, of scripts against a stack that answers by a table. */
final class SuiteTest {
    private static final String CONNECT = """
            0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
            +0 connect(3, ..., ...) = 0
            +0 > S 0:0(0) win 1000 <mss 1460>
            """;

    @TempDir Path directory;

    private void script(String path, String text) throws IOException {
        Path file = directory.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private List<Suite.Result> run() throws IOException {
        script("a/passes.pkt", CONNECT);
        script("a/other-window.pkt", CONNECT.replace("1000", "999"));
        script("a/other-size.pkt", CONNECT.replace("1460", "1459"));
        script("a/b/other-size.pkt", CONNECT.replace("1460", "1458"));
        script("c/six.pkt", "--ip_version=ipv7\n0 close(3) = 0");
        script("c/needs.pkt", "0 `sysctl -w unknown=1`");
        script("c/no-script.pkt", "nothing");
        script("c/README.md", "not one either");
        return Suite.run(directory, Profile.strict(),
                (local, mtu) -> new FakeTarget().sends("connect", 0, "S 0:0(0) win 1000 <mss 1460>"));
    }

    @Test
    void eachScriptHasItsOutcome() throws IOException {
        List<Suite.Result> results = run();
        assertThat(results).extracting(Suite.Result::path).containsExactly("a/b/other-size.pkt", "a/other-size.pkt",
                "a/other-window.pkt", "a/passes.pkt", "c/needs.pkt", "c/no-script.pkt", "c/six.pkt");
        assertThat(results).extracting(Suite.Result::onlyWindows).containsExactly(false, false, true, false, false,
                false, false);
        assertThat(results.get(3).outcome()).isEqualTo(new Outcome.Passed());
        assertThat(results.get(5).outcome()).isEqualTo(new Outcome.Unsupported(
                "not to be read: no-script.pkt:1: expected the time of an event, found 'nothing'"));
    }

    @Test
    void theReportCountsAndGroups() throws IOException {
        assertThat(new SuiteReport(run()).toString().lines()).contains(
                "directory               passed   but windows  failed  unsupported",
                "a                            1             1       2            0",
                "c                            0             0       0            3",
                "    2 OPTIONS sent S; options: [mss N] expected, [mss N] sent",
                "      a/b/other-size.pkt other-size.pkt:3: expected > S 0:0(0) win 1000 <mss 1458>; "
                        + "sent > S 0:0(0) win 1000 <mss 1460>; options: [mss 1458] expected, [mss 1460] sent",
                "    1 UNSUPPORTED needs option unknown=1");
    }

    @Test
    void expectationsHaveToHold() throws IOException {
        Expectations e = new Expectations(List.of("# a comment", "", "a/passes.pkt\tRFC 1", "a/other-size.pkt\tRFC 2",
                "a/gone.pkt\tRFC 3", "c/needs.pkt\tRFC 4", "c/no-script.pkt\tRFC 5", "c/six.pkt\tRFC 6"));
        assertThat(e.surprises(run())).containsExactly(
                "a/b/other-size.pkt fails: other-size.pkt:3: expected > S 0:0(0) win 1000 <mss 1458>; "
                        + "sent > S 0:0(0) win 1000 <mss 1460>; options: [mss 1458] expected, [mss 1460] sent",
                "a/passes.pkt holds, and is listed as failing: RFC 1", "a/gone.pkt is listed, and not there");
        assertThatThrownBy(() -> new Expectations(List.of("a.pkt because"))).isInstanceOf(
                IllegalArgumentException.class).hasMessage("no tab and reason: a.pkt because");
    }

    @Test
    void aStackThatThrowsIsAFailure() throws IOException {
        script("a.pkt", CONNECT);
        assertThat(Suite.run(directory, Profile.strict(), (local, mtu) -> {
            throw new IllegalStateException("huh");
        })).singleElement().extracting(Suite.Result::outcome).isInstanceOfSatisfying(Outcome.Failed.class,
                f -> assertThat(f.message()).startsWith("a.pkt:1: the stack threw "
                        + "java.lang.IllegalStateException: huh at org.verbena"));
    }
}
