// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.verbena.telemetry.CounterFolder;
import org.verbena.tests.CommandLane;
import org.verbena.tests.agent.TalkProcess;

/** {@code verbena stat --view sockets} on a terminal, of programs with hundreds of connections, by rings and by TCP. */
@CommandLane
class StatConnectionsScreenTest {
    private static final int CONNECTIONS = 300;
    private static final String ADDRESS = "127\\.0\\.0\\.1:[0-9]{4,5}";

    @TempDir private Path dir;
    private final List<TalkProcess> started = new ArrayList<>();
    private TalkProcess.Program talk;
    private String arguments;

    @BeforeEach
    void prepare() throws Exception {
        Path folder = Files.createDirectory(dir.resolve("counters"));
        arguments = "counters.directory=" + folder;
        talk = new TalkProcess.Program(dir);
    }

    @AfterEach
    void endAll() {
        started.forEach(TalkProcess::close);
    }

    private TalkProcess start(String more, String... words) throws Exception {
        TalkProcess p = talk.start(arguments + more, words);
        started.add(p);
        return p;
    }

    private ScreenProcess stat(int rows, int columns, String options) throws Exception {
        return stat(rows, columns, "-Xshare:auto", "-i 0.2 " + options);
    }

    /** With an option for the JVM. */
    private ScreenProcess stat(int rows, int columns, String option, String options) throws Exception {
        return new ScreenProcess("xterm", rows, columns, TerminalTest.verbena(List.of("-D" + CounterFolder.PROPERTY
                + "=" + dir.resolve("counters"), option)) + "stat " + options);
    }

    /** Also if samples are to be taken faster than the screen can show them. */
    @ParameterizedTest
    @CsvSource({"80, -Xshare:auto, 0.2, RX-B/s  TX-B/s   RX-RING, '( +[0-9.KMG]+){2} +[0-9K/-]+'",
        "160, -XX:TieredStopAtLevel=1, 0.01, RX-B/s  TX-B/s   RX-RING   TX-RING    RX-B    TX-B  TREND        WAKES/s BELLS/s STALLS/s  STATE, "
                + "'( +[0-9.KMG/-]+){6}  [ _▁-█.:=+*#-]{12}( +[0-9.KMG]+){3}  OPEN.*'"})
    void hundredsOfConnectionsHaveARowEach(int columns, String option, String interval, String header, String figures)
            throws Exception {
        TalkProcess server = start(",stream.patience=60000", "crowded", String.valueOf(CONNECTIONS));
        String port = server.line();
        TalkProcess client = start(",stream.patience=60000", "crowd", port, String.valueOf(CONNECTIONS));
        assertThat(client.line() + " " + server.line()).isEqualTo(CONNECTIONS + " " + CONNECTIONS);
        // the lower number comes first, which is the client's where the kernel has begun anew with 1
        String row = "(?s).*\n +(" + server.pid() + "  127.0.0.1:" + port + " +" + ADDRESS + "|" + client.pid() + "  "
                + ADDRESS + " +127.0.0.1:" + port + ")  (tcp/)?ring" + figures + "\n.*";
        try (ScreenProcess p = stat(24, columns, option, "-i " + interval + " --view sockets")) {
            p.await(s -> s.contains(2 * CONNECTIONS + " connections") && s.contains(header) && s.matches(row),
                    header + " and " + row);
            p.await(2 * CONNECTIONS + " ring", "total");
            p.type("/crowded\r"); // the server's command: its number may be part of a port
            // a screen may arrive in pieces
            p.await(s -> s.contains(CONNECTIONS + " connections") && s.lines().filter(l -> l.matches(" *" + server.pid()
                    + " .*")).count() >= 10, "those of the server");
            p.type(">>"); // by remote address
            p.await("sorted by remote");
            p.type("\033[F");
            p.await(s -> s.lines().toList().get(22).matches(" *" + server.pid() + "  127.0.0.1:" + port + " .*"),
                    "the last row");
            p.type("\r");
            p.await("connection:0x", "of process " + server.pid(), "SAMPLE POINT", "server  in by");
            p.type("q");
        }
    }

    /** As the locale has them or not. */
    @ParameterizedTest
    @CsvSource({"C.UTF-8, [▂-█]", "C, [.:=+*#-]"})
    void sumsHaveTheirLastRates(String locale, String bar) throws Exception {
        TalkProcess server = start(",stream.patience=60000", "serve", "1");
        TalkProcess client = start(",stream.patience=60000", "talk", server.line(), "1000000", "1");
        try (ScreenProcess p = new ScreenProcess("xterm", 24, 100, "LC_ALL=" + locale + " " + TerminalTest.verbena(
                List.of("-D" + CounterFolder.PROPERTY + "=" + dir.resolve("counters")))
                + "stat -i 0.2 --view sockets")) {
            String rates = "(?s).*\nRX-B/s +[0-9.KMG]+ [^\n]*" + bar + "  TX-B/s +[0-9.KMG]+ [^\n]*" + bar
                    + "  2 ring.*\n +total .*";
            p.await(s -> s.matches(rates), rates);
            p.type("s");
            p.await(s -> s.contains("all processes") && s.matches("(?s).*\n   total +[1-9][^\n]*all processes\n.*"),
                    "the sum of all processes");
            p.type("q");
        }
        client.close();
    }

    @Test
    void connectionByTcpHasItsReason() throws Exception {
        TalkProcess server = talk.start(List.of(), "sink", "20"); // without the agent
        started.add(server);
        TalkProcess client = start(",stream.patience=100", "half", server.line(), "20", "0");
        assertThat(client.line()).isEqualTo("0");
        try (ScreenProcess p = stat(12, 80, "--view sockets")) {
            p.await("1 connection", "tcp plain_peer", "RX-B/s", String.valueOf(client.pid()));
            p.type("t");
            p.await(s -> s.matches("(?s).*tcp plain_peer +20000 +20000.*"), "20000 bytes each way");
            p.type("s");
            p.await("1 process", "COMMAND", "Talk half");
            p.type("q");
        }
    }
}
