// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.cli.support.CommandException;

/** The files that a client or server reads: connections, and what is sent when; and lists of processors. */
class FilesTest {
    @TempDir Path folder;

    private Path file(String... lines) throws IOException {
        return Files.write(folder.resolve("file"), List.of(lines));
    }

    @Test
    void connectionsHaveProtocolAddressAndPort() throws Exception {
        List<Endpoint> all = Endpoint.read(file("# servers", "T:127.0.0.1:5000", "U:127.0.0.2:5001", "",
                "127.0.0.3:5002",
                "t:[::1]:5003", "U:224.4.4.4:5004:10.0.0.1"));
        assertThat(all).extracting(Endpoint::tcp).containsExactly(true, false, false, true, false);
        assertThat(all).extracting(e -> e.address().getPort()).containsExactly(5000, 5001, 5002, 5003, 5004);
        assertThat(all.get(3).address().getAddress()).isEqualTo(InetAddress.getByName("::1"));
        assertThat(all.get(4).isGroup()).isTrue();
        assertThat(all.get(4).source()).isEqualTo(InetAddress.getByName("10.0.0.1"));
        assertThat(all.get(1)).hasToString("IP = 127.0.0.2       PORT =  5001 # UDP");
    }

    @ParameterizedTest
    @ValueSource(strings = {"T:127.0.0.1", "U:127.0.0.1:0", "U:127.0.0.1:70000", "X:127.0.0.1:5", "U:[::1:5", ":",
        "U:::1:5000"})
    void wrongConnectionsAreNamed(String line) throws Exception {
        Path f = file("T:127.0.0.1:5000", line);
        assertThatThrownBy(() -> Endpoint.read(f)).isInstanceOf(IOException.class).message().containsAnyOf("line 2",
                "no host");
    }

    @Test
    void aFileWithoutConnectionsIsRefused() throws Exception {
        Path f = file("# nothing");
        assertThatThrownBy(() -> Endpoint.read(f)).isInstanceOf(CommandException.class).hasMessageContaining(
                "no connection");
    }

    @Test
    void playbacksHaveTimesAndLengths() throws Exception {
        Playback p = Playback.read(file("# seconds, bytes", "0.5, 14", "0.5,100 # at once", "", "1, 65507"));
        assertThat(p.count()).isEqualTo(3);
        assertThat(p.nanos(0)).isEqualTo(500_000_000);
        assertThat(p.nanos(2)).isEqualTo(1_000_000_000);
        assertThat(p.bytes(1)).isEqualTo(100);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.1, 14", "1", "1, 2, 3", "x, 14", "1, x", "-1, 14", "NaN, 14", "1, 13", "1, 65508",
        "1e30, 14"})
    void wrongPlaybacksAreNamed(String line) throws Exception {
        Path f = file("0.5, 14", line);
        assertThatThrownBy(() -> Playback.read(f)).isInstanceOf(CommandException.class).hasMessageContaining("line 2");
    }

    @Test
    void processorsAreNumbersAndRanges() throws Exception {
        assertThat(Affinity.parse("--x", "0,2-4,7")).hasToString("{0, 2, 3, 4, 7}");
        for (String wrong : List.of("", "a", "3-1", "1-", "0,,1", "9000")) {
            assertThatThrownBy(() -> Affinity.parse("--x", wrong)).as(wrong).isInstanceOf(CommandException.class)
                    .hasMessageContaining("--x");
        }
    }
}
