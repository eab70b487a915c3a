// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.verbena.testkit.Thorough;
import org.verbena.tests.PerfLane;

/** {@code verbena rping} between two processes. */
@PerfLane
class RpingCommandTest {
    private static final TwoEnded BY_SHM = on("shm0");

    private static TwoEnded on(String device) {
        return new TwoEnded("rping --device=" + device, "");
    }

    /** The options of the client of a server. */
    private static String to(CommandProcess server) throws IOException {
        return BY_SHM.to(server, "-c -a");
    }

    /** Each device, with the shortest text and the longest, and one of more than a packet. */
    @ParameterizedTest
    @CsvSource({"shm0,26", "shm0,65535", "roce_lo,4097"})
    void textsAreEchoed(String device, int size) throws IOException {
        run(device, size);
    }

    @Thorough
    @ParameterizedTest
    @CsvSource({"shm0,64", "shm0,4096", "roce_lo,26", "roce_lo,65535"})
    void textsOfMoreLengthsAreEchoed(String device, int size) throws IOException {
        run(device, size);
    }

    private static void run(String device, int size) throws IOException {
        try (CommandProcess server = on(device).server("-s -p 0");
                CommandProcess c = on(device).client(to(server) + "--json -C 20 -S " + size)) {
            CommandProcess.Result r = c.end();
            assertThat(r.code()).as(r.err()).isZero();
            assertThat(new ObjectMapper().readTree(r.out()).get("pings").asInt()).isEqualTo(20);
            CommandProcess.Result s = server.end();
            assertThat(s.code()).as(s.err()).isZero();
            assertThat(s.out()).matches("20 pings in [0-9.]+ seconds = [0-9.]+ usec/ping");
        }
    }

    @Test
    void textsAreShown() throws IOException {
        try (CommandProcess server = BY_SHM.server("-s -p 0 -v");
                CommandProcess c = BY_SHM.client(to(server) + "-V -v -C 3")) {
            List<String> lines = c.end().out().lines().toList();
            assertThat(lines).hasSize(4);
            assertThat(lines.get(2)).isEqualTo("ping data: rdma-ping-2: "
                    + "CDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrst");
            List<String> shown = lines.stream().limit(3).map(l -> "server " + l).toList();
            assertThat(server.end().out().lines().limit(3).toList()).isEqualTo(shown);
        }
    }

    /** A server that stays, with a client that is killed among others. */
    @Test
    void persistentServerServesManyClients() throws IOException {
        try (CommandProcess server = BY_SHM.start("-s -p 0 -P")) {
            String connect = to(server);
            try (CommandProcess endless = BY_SHM.start(connect + "-v")) {
                assertThat(endless.line()).startsWith("ping data: rdma-ping-0: A");
                try (CommandProcess other = BY_SHM.start(connect + "-C 3")) {
                    CommandProcess.Result r = other.end();
                    assertThat(r.code()).as(r.err()).isZero();
                }
            }
            assertThat(server.line()).startsWith("3 pings in ");
            try (CommandProcess other = BY_SHM.start(connect + "-C 4")) {
                CommandProcess.Result r = other.end();
                assertThat(r.code()).as(r.err()).isZero();
                assertThat(r.out()).startsWith("4 pings in ");
            }
            assertThat(server.process().isAlive()).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "-c -a 127.0.0.1 -p 1     | no listener at 127.0.0.1:1: start 'verbena rping -s' or rping -s there first",
        "-c -a nowhere.invalid    | the host 'nowhere.invalid' is not known",
        "-s --device=mlx5_9       | open device 'mlx5_9': ENODEV",
    })
    void failuresAreReported(String arguments, String sentence) throws IOException {
        try (CommandProcess p = CommandProcess.client(("rping " + (arguments.contains("--device")
                ? ""
                : "--device=shm0 ") + arguments).split(" +"))) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).as(r.out()).isEqualTo(1);
            assertThat(r.err()).startsWith("verbena: ").contains(sentence).doesNotContain("\n");
        }
    }
}
