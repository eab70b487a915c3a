// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

import org.verbena.cli.Main;

class OwnAddressesTest {
    @Test
    void roceLoHasNoEndAtAddressesOfTheHost() {
        assertThat(OwnAddresses.isUnassigned("roce_lo", new InetSocketAddress("127.0.0.1", 1))).isTrue();
        assertThat(OwnAddresses.isUnassigned("roce_lo", new InetSocketAddress("::1", 1))).isTrue();
        assertThat(OwnAddresses.isUnassigned("roce_lo", new InetSocketAddress("127.0.0.2", 1))).isFalse();
        assertThat(OwnAddresses.isUnassigned("shm0", new InetSocketAddress("127.0.0.1", 1))).isFalse();
        assertThat(OwnAddresses.isUnassigned("roce_eth0", new InetSocketAddress("127.0.0.1", 1))).isFalse();
    }

    /** Without waiting for the timeout of a minute for a silent peer. */
    @ParameterizedTest
    @ValueSource(strings = {"udaddy -s localhost", "ucmatose -s 127.0.0.1", "rstream -s localhost",
        "rping -c -a 127.0.0.1"})
    void clientToAnAddressWithoutAnEndFailsAtOnce(String line) {
        String[] words = (line + " --device roce_lo").split(" ");
        CommandLine command = Main.commandLine(words);
        StringWriter err = new StringWriter();
        command.setErr(new PrintWriter(err, true));
        assertThat(command.execute(words)).isEqualTo(1);
        assertThat(err.toString()).startsWith("verbena: no program is at 127.0.0.1:").contains("'listening on'");
    }
}
