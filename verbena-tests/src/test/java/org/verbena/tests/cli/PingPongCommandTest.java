// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.Thorough;
import org.verbena.tests.PerfLane;

/** {@code verbena pingpong} between two processes, and against peers with another protocol. */
@PerfLane
class PingPongCommandTest {
    private static final TwoEnded PINGPONG = new TwoEnded("pingpong", "  ");
    private static final Pattern LOCAL = Pattern
            .compile("  local address:  LID 0x0000, QPN 0x([0-9a-f]{6}), PSN 0x([0-9a-f]{6}), GID (\\S+)");

    /** In the format of the C programs; the last byte is 0. */
    private static final Pattern ADDRESS = Pattern.compile("0000:[0-9a-f]{6}:[0-9a-f]{6}:[0-9a-f]{32}\0");
    private static final int ADDRESS_BYTES = 52;

    /** The results of a server and a client. */
    private record Ends(CommandProcess.Result server, CommandProcess.Result client) {
        static Ends run(String server, String client) throws IOException {
            try (CommandProcess s = PINGPONG.server("-p 0 " + server);
                    CommandProcess c = PINGPONG.client("localhost --json -p " + PINGPONG.port(s) + " " + client)) {
                return new Ends(s.end(), c.end());
            }
        }
    }

    /** Each type on each device, with lengths on both sides of pages and packets, spinning and sleeping. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "-d shm0 -t rc -s 4097 -e           |   1", "-d shm0 -t rc -s 1m -r 1           |   1",
        "-d shm0 -t uc -s 64k               |   1", "-d shm0 -t ud -s 1 -e              |   1",
        "-d shm0 -t srq -q 64 -s 8 -e       |  64", "-d roce_lo -t rc -s 1m -e -m 4096  |   1",
        "-d roce_lo -t uc -s 4097 -m 256 -e |   1", "-d roce_lo -t ud -s 1024 -e        |   1",
        "-d roce_lo -t srq -q 5 -s 4097 -e  |   5",
    })
    void messagesAreEchoed(String options, int qps) throws IOException {
        run(options, qps);
    }

    @Thorough
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "-d shm0 -t rc -s 1                 |   1", "-d shm0 -t uc -s 1 -e              |   1",
        "-d shm0 -t ud -s 4k                |   1", "-d shm0 -t srq -s 1 -e             |  16",
        "-d shm0 -t srq -q 3 -s 1m          |   3", "-d roce_lo -t rc -s 1 -e           |   1",
        "-d roce_lo -t rc -s 64k            |   1", "-d roce_lo -t uc -s 1 -e           |   1",
        "-d roce_lo -t ud -s 1 -e           |   1",
    })
    void messagesOfMoreLengthsAreEchoed(String options, int qps) throws IOException {
        run(options, qps);
    }

    private static void run(String options, int qps) throws IOException {
        String all = options + " -n 30 -c";
        Ends ends = Ends.run(all, all);
        assertThat(ends.client().code()).as(ends.client().err() + ends.server().err()).isZero();
        assertThat(ends.server().code()).as(ends.server().err()).isZero();
        assertThat(ends.server().err() + ends.client().err()).isEmpty();
        JsonNode r = new ObjectMapper().readTree(ends.client().out());
        assertThat(r.get("iterations").asInt()).isEqualTo(30);
        assertThat(r.get("bytes").asLong()).isEqualTo(60 * r.get("size").asLong());
        assertThat(r.get("seconds").asDouble()).isPositive();
        assertThat(r.get("checked").asBoolean()).isTrue();
        assertThat(r.get("local")).hasSize(qps);
        assertThat(r.get("remote")).hasSize(qps);
        if (!options.contains("-e")) {
            assertThat(r.get("events").asInt()).isZero();
        }
        assertThat(ends.server().out()).containsPattern(r.get("bytes").asText()
                + " bytes in [0-9.]+ seconds = [0-9.]+ Mbit/sec\n30 iters in [0-9.]+ seconds = [0-9.]+ usec/iter");
    }

    /** Each end describes the difference in one sentence. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "-d shm0 -s 64         | -d shm0 -s 128         | with LOC_LEN_ERR: the two ends differ       | with REM_INV_REQ_ERR: the two ends differ",
        "-d shm0 -s 128        | -d shm0 -s 64          | the peer sends messages of 64 bytes, this end of 128 | WR_FLUSH_ERR",
        "-d shm0 -t uc -s 64   | -d shm0 -t uc -s 128   | with LOC_LEN_ERR                            | verbena: ",
        "-d shm0 -t srq -q 3   | -d shm0 -t srq -q 5    | the peer has 5 queue pairs and this end 3   | the peer closed the connection",
        "-d shm0 -c            | -d shm0                | message 1 has invalid data in page 0, which begins with 0x7b | WR_FLUSH_ERR",
        "-d shm0 -n 20         | -d shm0 -n 10          | after 10 of 20 messages                     | ''",
        "-d roce_lo -m 256     | -d roce_lo -m 1024     | a packet of a SEND has a wrong length       | with REM_INV_REQ_ERR: the two ends differ",
        "-d roce_lo -m 1024    | -d roce_lo -m 256      | a packet of a SEND has a wrong length       | with REM_INV_REQ_ERR: the two ends differ",
    })
    void differingEndsAreReported(String server, String client, String serverSays, String clientSays)
            throws IOException {
        Ends ends = Ends.run(server + " -e --timeout 10", client + " -e --timeout 10");
        assertThat(ends.server().code()).as(ends.server().err()).isEqualTo(1);
        assertThat(ends.client().code()).as(ends.client().err()).isEqualTo(clientSays.isEmpty() ? 0 : 1);
        if (!serverSays.startsWith("after")) {
            assertThat(ends.server().err()).contains(serverSays);
        }
        assertThat(ends.client().err()).contains(clientSays);
        assertThat((ends.server().err() + "\n" + ends.client().err()).strip().lines()).hasSize(clientSays.isEmpty()
                ? 1
                : 2).allMatch(l -> l.startsWith("verbena: "));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "localhost -p 1 -d shm0            | no listener at localhost:1: start 'verbena pingpong --type rc' or ibv_rc_pingpong",
        "nowhere.invalid -d shm0           | the host 'nowhere.invalid' is not known",
        "-d mlx5_9                         | open device 'mlx5_9': ENODEV",
        "-d shm0 -i 2                      | query port 2",
        "-d shm0 -g 7                      | query GID 7",
        "-d shm0 -t ud -s 64k              | a message of 65536 bytes is too long: port 1 of shm0 carries 4096 at most in a datagram",
        "-d shm0 -r 100000000              | create",
    })
    void failuresAreReported(String arguments, String sentence) throws IOException {
        try (CommandProcess p = PINGPONG.client(arguments)) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).as(r.out()).isEqualTo(1);
            assertThat(r.err()).startsWith("verbena: ").contains(sentence).doesNotContain("\n");
        }
    }

    /** A server whose peer ends, is silent, or is another program. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "''                                                       | end    | the peer closed the connection before",
        "0000:000001                                              | end    | the peer closed the connection before",
        "0000:000001                                              | silent | the peer sent 11 of the 52 bytes of a message and was silent for 1 seconds",
        "GET / HTTP/1.1 Host: localhost User-Agent: something     | silent | the peer is no ping-pong: it said 'GET / HTTP",
        "zzzz:000001:000001:00000000000000000000000000000000.     | silent | the peer is no ping-pong",
        "0000:000001:000001:00000000000000000000000000000000#     | silent | the peer told neither a GID nor a LID",
    })
    void invalidClientsAreRefused(String says, String then, String sentence) throws IOException {
        try (CommandProcess server = PINGPONG.server("-p 0 -d shm0 --timeout 1");
                Socket s = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(PINGPONG.port(server)))) {
            s.getOutputStream().write(says.replace('#', '\0').getBytes(StandardCharsets.US_ASCII));
            if (then.equals("end")) {
                s.shutdownOutput();
            }
            CommandProcess.Result r = server.end();
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).startsWith("verbena: ").contains(sentence).doesNotContain("\n");
        }
    }

    /**
     * Byte by byte from the view of a client in C: nothing before its own address, then one message; "done" ends the
     * exchange.
     */
    @ParameterizedTest
    @ValueSource(strings = {"rc", "uc", "ud"})
    void serverMatchesC(String type) throws IOException {
        try (CommandProcess server = PINGPONG.server("-p 0 -d shm0 -e --timeout 2 -t " + type)) {
            Matcher own = LOCAL.matcher(server.line());
            assertThat(own.matches()).isTrue();
            String gid = own.group(3).equals("::") ? "" : hex(own.group(3));
            try (Socket s = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(PINGPONG.port(server)))) {
                OutputStream out = s.getOutputStream();
                out.write(("0000:" + own.group(1) + ":" + own.group(2) + ":" + gid + "\0")
                        .getBytes(StandardCharsets.US_ASCII));
                String answer = new String(s.getInputStream().readNBytes(ADDRESS_BYTES), StandardCharsets.US_ASCII);
                assertThat(answer).matches(ADDRESS).isEqualTo("0000:" + own.group(1) + ":" + own.group(2) + ":" + gid
                        + "\0");
                out.write("done\0".getBytes(StandardCharsets.US_ASCII));
                assertThat(s.getInputStream().read()).as("the server closes, as in C").isEqualTo(-1);
            }
            CommandProcess.Result r = server.end();
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).contains("the peer was silent for 2 seconds after 0 of 1000 messages");
        }
    }

    private static String hex(String gid) throws IOException {
        StringBuilder b = new StringBuilder();
        for (byte x : InetAddress.getByName(gid).getAddress()) {
            b.append(Integer.toHexString(1 << 8 | x & 0xff).substring(1));
        }
        return b.toString();
    }

    /** Byte by byte from the view of a server in C: its client sends first, and sends "done". */
    @ParameterizedTest
    @CsvSource({"rc,1", "ud,1", "srq,256"})
    void clientMatchesC(String type, int addresses) throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                CommandProcess client = PINGPONG.client("localhost -d shm0 -e --timeout 2 -t " + type + " -p "
                        + listener.getLocalPort());
                Socket s = listener.accept()) {
            byte[] own = s.getInputStream().readNBytes(ADDRESS_BYTES * addresses);
            for (int i = 0; i < addresses; i++) {
                assertThat(new String(own, i * ADDRESS_BYTES, ADDRESS_BYTES, StandardCharsets.US_ASCII))
                        .matches(ADDRESS);
            }
            s.getOutputStream().write(own);
            assertThat(s.getInputStream().readNBytes(5)).isEqualTo("done\0".getBytes(StandardCharsets.US_ASCII));
            // a queue pair that is its own peer gets its own message, and answers it: one end less than it takes
            int code = client.end().code();
            assertThat(code).isBetween(0, 1);
        }
    }

    /** A process that is killed in the middle. */
    @Test
    void killedPeerIsReported() throws IOException {
        try (CommandProcess server = PINGPONG.start("-p 0 -d shm0 -e -n 100000000 --timeout 20");
                CommandProcess client = PINGPONG.start("localhost -d shm0 -e -n 100000000 --timeout 20 -p "
                        + PINGPONG.port(server))) {
            String line = client.line();
            while (!line.startsWith("  remote address:")) {
                line = client.line();
            }
            client.process().destroyForcibly();
            CommandProcess.Result r = server.end();
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).startsWith("verbena: ").doesNotContain("\n");
        }
    }

    @Test
    void takenPortIsReported() throws IOException {
        try (ServerSocket taken = new ServerSocket(0);
                CommandProcess p = PINGPONG.client("-d shm0 -p " + taken.getLocalPort())) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.err()).contains("port " + taken.getLocalPort() + " is taken");
        }
    }
}
