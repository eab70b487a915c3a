// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.Thorough;
import org.verbena.tests.PerfLane;

/** {@code verbena perftest} between two processes, and against a peer with another protocol. */
@PerfLane
class PerftestCommandTest {
    private static final TwoEnded PERFTEST = new TwoEnded("perftest", " ");

    /** Each test, device, option and kind of size once. */
    @ParameterizedTest
    @ValueSource(strings = {
        "write_bw -d shm0 -q 3 -b", "read_bw -d roce_lo -s 100000", "send_bw -d shm0 -q 3 -b -e",
        "send_bw -d roce_lo -m 256 -t 3", "atomic_bw -d roce_lo -q 3 -b -e",
        "write_lat -d roce_lo -s 5000", "read_lat -d shm0 -e", "send_lat -d shm0 -s 1", "atomic_lat -d roce_lo",
    })
    void bothEndsExchangeMessages(String arguments) throws Exception {
        run(arguments);
    }

    @Thorough
    @ParameterizedTest
    @ValueSource(strings = {
        "write_bw -d shm0", "read_bw -d shm0 -s 4097", "send_bw -d shm0 -e", "atomic_bw -d shm0",
        "write_lat -d shm0", "atomic_lat -d shm0", "write_bw -d roce_lo -e", "atomic_bw -d roce_lo",
        "read_bw -d shm0 -q 2", "atomic_bw -d shm0 -q 2 -b",
        "write_bw -d roce_lo -q 4", "read_bw -d roce_lo -b", "send_bw -d roce_lo -q 3 -b", "send_bw -d roce_lo -q 3",
        "read_lat -d roce_lo", "send_lat -d roce_lo -e",
    })
    void bothEndsExchangeMessagesInAllCombinations(String arguments) throws Exception {
        run(arguments);
    }

    private static void run(String arguments) throws Exception {
        String[] words = arguments.split(" ", 2);
        // 8 times 1 s: a process that is not scheduled for half a second is still alive
        String rest = " -n 700 -u 18 " + words[1];
        try (CommandProcess s = PERFTEST.server(words[0] + " -p 0" + rest);
                CommandProcess c = PERFTEST.client(words[0] + " localhost -p " + PERFTEST.port(s) + rest)) {
            CommandProcess.Result client = c.end();
            CommandProcess.Result server = s.end();
            assertThat(client.code()).as("%s", client).isZero();
            assertThat(server.code()).as("%s", server).isZero();
            Matcher several = Pattern.compile("-q (\\d+)").matcher(arguments);
            int n = 700 * (several.find() ? Integer.parseInt(several.group(1)) : 1);
            assertThat(client.out()).contains(" #bytes ").containsPattern("(?m)^ \\d+ +" + n + " +\\d");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"send_bw -d shm0 -b -q 2", "read_bw -d roce_lo -b", "write_lat -d roce_lo"})
    void allSizesAreMeasured(String arguments) throws Exception {
        runAllSizes(arguments);
    }

    @Thorough
    @ParameterizedTest
    @ValueSource(strings = {"write_bw -d shm0", "send_bw -d roce_lo", "read_lat -d shm0", "send_lat -d roce_lo -e"})
    void allSizesOfMoreTestsAreMeasured(String arguments) throws Exception {
        runAllSizes(arguments);
    }

    private static void runAllSizes(String arguments) throws Exception {
        String[] words = arguments.split(" ", 2);
        String rest = " -a -n 6 -u 18 " + words[1];
        try (CommandProcess s = PERFTEST.server(words[0] + " -p 0" + rest);
                CommandProcess c = PERFTEST.client(words[0] + " localhost -p " + PERFTEST.port(s) + rest)) {
            CommandProcess.Result client = c.end();
            assertThat(client.code()).as("%s", client).isZero();
            CommandProcess.Result server = s.end();
            assertThat(server.code()).as("%s", server).isZero();
            List<Integer> sizes = Pattern.compile("(?m)^ (\\d+) ").matcher(client.out()).results().map(r -> Integer
                    .valueOf(
                            r.group(1))).toList();
            assertThat(sizes).isEqualTo(IntStream.rangeClosed(1, 23).mapToObj(i -> 1 << i).toList());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"write_bw -d shm0 -q 2", "send_bw -d roce_lo -q 3 -b", "atomic_lat -d roce_lo"})
    void connectionManagerConnectsBothEnds(String arguments) throws Exception {
        runByTheConnectionManager(arguments);
    }

    @Thorough
    @ParameterizedTest
    @ValueSource(strings = {"read_bw -d roce_lo", "write_lat -d roce_lo", "send_lat -d shm0",
        "atomic_bw -d roce_lo -q 2 -b"})
    void connectionManagerConnectsBothEndsOfMoreTests(String arguments) throws Exception {
        runByTheConnectionManager(arguments);
    }

    private static void runByTheConnectionManager(String arguments) throws Exception {
        String[] words = arguments.split(" ", 2);
        String rest = " -R -n 300 " + words[1];
        try (CommandProcess s = PERFTEST.server(words[0] + " -p 0" + rest)) {
            try (CommandProcess c = PERFTEST.client(PERFTEST.to(s, words[0]) + rest)) {
                CommandProcess.Result client = c.end();
                assertThat(client.code()).as("%s", client).isZero();
                CommandProcess.Result server = s.end();
                assertThat(server.code()).as("%s", server).isZero();
                assertThat(client.out()).contains(" #bytes ");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"write_lat -q 2", "send_lat -b", "atomic_bw -a", "write_bw -a -s 100", "read_bw -q 0"})
    void conflictingOptionsAreRefused(String arguments) {
        CommandProcess.Result r = PERFTEST.refuse(arguments + " -d shm0 -p 0");
        assertThat(r.code()).isEqualTo(2);
        assertThat(r.err()).contains(arguments.contains("-a")
                ? "--all"
                : arguments.contains("-b")
                        ? "--bidirectional"
                        : "--qp");
    }

    @Test
    void peerWithAnotherProtocolIsReported() throws Exception {
        try (ServerSocket web = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                CommandProcess c = PERFTEST.client("write_bw localhost -d shm0 -p " + web.getLocalPort())) {
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
