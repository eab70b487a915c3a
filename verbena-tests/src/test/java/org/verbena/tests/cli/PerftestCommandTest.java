package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code verbena perftest} between two processes, and against a peer that is none. */
class PerftestCommandTest {
    private static final String LISTENING = " listening on port ";

    private static CommandProcess start(String arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of("perftest"));
        all.addAll(Arrays.asList(arguments.strip().split(" +")));
        return CommandProcess.start(all.toArray(String[]::new));
    }

    private static String port(CommandProcess server) throws IOException {
        String line = server.line();
        while (!line.startsWith(LISTENING)) {
            line = server.line();
        }
        return line.substring(LISTENING.length());
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "write_bw -d shm0", "read_bw -d shm0 -s 4097", "send_bw -d shm0 -e", "atomic_bw -d shm0",
        "write_lat -d shm0", "read_lat -d shm0 -e", "send_lat -d shm0 -s 1", "atomic_lat -d shm0",
        "write_bw -d roce_lo -e", "read_bw -d roce_lo -s 100000", "send_bw -d roce_lo -m 256 -t 3",
        "atomic_bw -d roce_lo",
        "write_lat -d roce_lo -s 5000", "read_lat -d roce_lo", "send_lat -d roce_lo -e", "atomic_lat -d roce_lo",
    })
    void bothEnds(String arguments) throws Exception {
        String[] words = arguments.split(" ", 2);
        // 8 times 1 s: a process that is not scheduled for half a second has not gone
        String rest = " -n 700 -u 18 " + words[1];
        try (CommandProcess s = start(words[0] + " -p 0" + rest);
                CommandProcess c = start(words[0] + " localhost -p " + port(s) + rest)) {
            CommandProcess.Result client = c.end();
            CommandProcess.Result server = s.end();
            assertThat(client.code()).as("%s", client).isZero();
            assertThat(server.code()).as("%s", server).isZero();
            assertThat(client.out()).contains(" #bytes ").containsPattern("(?m)^ \\d+ +(700|699) +\\d");
        }
    }

    @Test
    void aPeerThatIsNone() throws Exception {
        try (ServerSocket web = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                CommandProcess c = start("write_bw localhost -d shm0 -p " + web.getLocalPort())) {
            try (Socket s = web.accept()) {
                OutputStream out = s.getOutputStream();
                out.write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                CommandProcess.Result r = c.end();
                assertThat(r.code()).isOne();
                assertThat(r.err()).contains("the peer is none of perftest: its version is 'HTTP/1.1");
            }
        }
    }
}
