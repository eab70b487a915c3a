package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code verbena rping} between two processes. */
class RpingCommandTest {
    private static final String LISTENING = "listening on port ";

    private static CommandProcess start(String arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of("rping", "--device=shm0"));
        all.addAll(Arrays.asList(arguments.strip().split(" +")));
        return CommandProcess.start(all.toArray(String[]::new));
    }

    private static String client(CommandProcess server) throws IOException {
        String line = server.line();
        assertThat(line).startsWith(LISTENING);
        return "-c -a 127.0.0.1 -p " + line.substring(LISTENING.length()) + " ";
    }

    @ParameterizedTest
    @ValueSource(ints = {26, 64, 4096, 65535})
    void textsComeBack(int size) throws IOException {
        try (CommandProcess server = start("-s -p 0 -v"); CommandProcess c = start(client(server) + "--json -C 20 -S "
                + size)) {
            CommandProcess.Result r = c.end();
            assertThat(r.code()).as(r.err()).isZero();
            assertThat(new ObjectMapper().readTree(r.out()).get("pings").asInt()).isEqualTo(20);
            CommandProcess.Result s = server.end();
            assertThat(s.code()).as(s.err()).isZero();
            List<String> lines = s.out().lines().toList();
            assertThat(lines).hasSize(21);
            assertThat(lines.get(19)).startsWith("server ping data: rdma-ping-19: T")
                    .hasSize("server ping data: ".length() + size - 1);
            assertThat(lines.get(20)).matches("20 pings in [0-9.]+ seconds = [0-9.]+ usec/ping");
        }
    }

    /** A server that stays, with a client that is killed among others. */
    @Test
    void persistentServer() throws IOException {
        try (CommandProcess server = start("-s -p 0 -P")) {
            String connect = client(server);
            try (CommandProcess endless = start(connect + "-v")) {
                assertThat(endless.line()).startsWith("ping data: rdma-ping-0: A");
                try (CommandProcess other = start(connect + "-C 3")) {
                    CommandProcess.Result r = other.end();
                    assertThat(r.code()).as(r.err()).isZero();
                }
            }
            assertThat(server.line()).startsWith("3 pings in ");
            try (CommandProcess other = start(connect + "-C 4")) {
                CommandProcess.Result r = other.end();
                assertThat(r.code()).as(r.err()).isZero();
                assertThat(r.out()).startsWith("4 pings in ");
            }
            assertThat(server.process().isAlive()).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "-c -a 127.0.0.1 -p 1     | nobody listens at 127.0.0.1:1: start 'verbena rping -s' or rping -s there first",
        "-c -a nowhere.invalid    | the host 'nowhere.invalid' is not known",
        "-s --device=mlx5_9       | open device 'mlx5_9': ENODEV",
    })
    void failures(String arguments, String sentence) throws IOException {
        try (CommandProcess p = CommandProcess.start(("rping " + (arguments.contains("--device")
                ? ""
                : "--device=shm0 ") + arguments).split(" +"))) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).as(r.out()).isEqualTo(1);
            assertThat(r.err()).startsWith("verbena: ").contains(sentence).doesNotContain("\n");
        }
    }
}
