// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.UnknownHostException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.cli.Main;

class HostPortTest {
    @ParameterizedTest
    @ValueSource(strings = {"localhost:1", ":18516", "127.0.0.1:65535", "[::1]:5", "[0:0:0:0:0:0:0:1]:018516"})
    void addressesAreParsed(String text) throws Exception {
        assertThat(HostPort.resembles(text)).isTrue();
        HostPort a = HostPort.parse(text);
        assertThat(a.port()).isEqualTo(Integer.parseInt(text.substring(text.lastIndexOf(':') + 1)));
        assertThat(a.resolve().getAddress().isLoopbackAddress()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "dir/x:1", "./x:1", "/a:b"})
    void fileNamesAreNoAddresses(String text) {
        assertThat(HostPort.resembles(text)).isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
        "nix:99999              | the port is \"99999\", it must be a number from 1 to 65535",
        "nix:65536              | the port is \"65536\"",
        "nix:0                  | the port is \"0\"",
        "nix:-5                 | the port is \"-5\"",
        "nix:+5                 | the port is \"+5\"",
        "nix:99999999999999     | the port is \"99999999999999\"",
        "nix:http               | the port is \"http\"",
        "nix:1x                 | the port is \"1x\"",
        "nix:                   | the port is missing",
        ":                      | the port is missing",
        "::1:5                  | an IPv6 address stands in brackets",
        "[::1]                  | it has no port",
        "[::1]:                 | the port is missing",
        "[::1]:99999            | the port is \"99999\"",
        "[::zz]:5               | [::zz] is no IPv6 address",
        "[]:5                   | [] is no IPv6 address",
        "[127.0.0.1]:5          | [127.0.0.1] is no IPv6 address",
        "a[b:5                  | \"a[b\" is no host",
    })
    void malformedAddressesAreRefused(String text, String why) {
        assertThat(HostPort.resembles(text)).isTrue();
        assertThatIllegalArgumentException().isThrownBy(() -> HostPort.parse(text)).withMessageContaining(why);
        StringWriter err = new StringWriter();
        StringWriter out = new StringWriter();
        int code = Main.commandLine().setErr(new PrintWriter(err)).setOut(new PrintWriter(out))
                .execute("copy", "--json", "pom.xml", text);
        assertThat(code).as(err.toString()).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("verbena: " + text + " is neither a file here nor an address HOST:PORT")
                .contains(why).contains("Try 'verbena copy --help'");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void addressWithPortExcludesPortOption() {
        StringWriter err = new StringWriter();
        assertThat(Main.commandLine().setErr(new PrintWriter(err)).execute("copy", "--port=5", "pom.xml", "nix:5"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("exclude each other");
    }

    @Test
    void unknownHostIsNamed() {
        assertThatExceptionOfType(UnknownHostException.class).isThrownBy(HostPort.parse("nowhere.invalid:5")::resolve);
        StringWriter err = new StringWriter();
        assertThat(Main.commandLine().setErr(new PrintWriter(err)).execute("copy", "pom.xml", "nowhere.invalid:5"))
                .isEqualTo(3);
        assertThat(err.toString()).contains("unknown host \"nowhere.invalid\"");
    }

    @Test
    void textFormIsParseable() throws Exception {
        assertThat(HostPort.text(HostPort.parse("[::1]:5").resolve())).isEqualTo("[0:0:0:0:0:0:0:1]:5");
        assertThat(HostPort.text(HostPort.loopback(5))).isEqualTo("127.0.0.1:5");
    }
}
