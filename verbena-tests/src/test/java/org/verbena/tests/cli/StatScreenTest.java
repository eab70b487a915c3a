// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.tests.CommandLane;
import org.verbena.tests.faults.Child;

/** {@code verbena stat} on a full terminal: keys, messages, and restoring the terminal. */
@CommandLane
class StatScreenTest {
    private static final String AFTER = "; echo \"ended with $?\"; stty -a";
    private static final String DOWN = "\033[B";

    private Child peer;
    private String pid;
    private String sender;

    @BeforeEach
    void startPeer() throws Exception {
        peer = Child.start(StatPeer.class);
        sender = "qp:0x" + Integer.toHexString(Integer.parseInt(peer.await("QPS").split(" ", -1)[0]));
        pid = String.valueOf(peer.pid());
    }

    @AfterEach
    void closePeer() throws Exception {
        peer.close();
    }

    private static ScreenProcess stat(String arguments) throws Exception {
        return new ScreenProcess("xterm", 30, 120, "tty; " + TerminalTest.verbena() + "stat -i 0.1 " + arguments
                + AFTER);
    }

    private static void assertRestored(ScreenProcess p, int code) {
        String shown = p.await("ended with " + code, "isig icanon", " echo echoe");
        assertThat(p.screen().isAlternate()).isFalse();
        assertThat(p.screen().hasCursor()).isTrue();
        assertThat(shown).doesNotContain("-isig", "-icanon", "-echo ", "WARNING", "Exception").contains("brkint",
                "opost");
    }

    @Test
    void keysNavigateFromProcessesToSamplePointsAndBack() throws Exception {
        peer.tell("send 12345 10").await("SENT");
        try (ScreenProcess p = stat("")) {
            p.await("verbena stat", "rates", "PID", "TX/s", pid, "StatPeer");
            assertThat(p.screen().isAlternate()).isTrue();
            assertThat(p.screen().hasCursor()).isFalse();
            p.type("/" + pid + "\r"); // others may use Verbena on this machine
            p.await("lines with: " + pid);
            p.type("t");
            p.await("totals", "12345", "123450");
            p.type("\r");
            p.await("process " + pid + ", ", "OBJECT", sender, "port:1", "shm0", "RTS");
            p.type("/" + sender + "\r\r");
            p.await(sender + " of process " + pid, "state RTS", "SAMPLE POINT", "tx_sends", "peer process " + pid);
            p.type("d");
            p.await("rates");
            p.type(">>"); // by rate, then round to the name
            p.await("sorted by rate");
            p.type("\033");
            p.await("lines with: " + sender);
            p.type("\033");
            p.await(s -> s.contains("cq:0x") && s.contains("mr:0x"), "all objects");
            p.type("h");
            p.await("the other way round");
            p.type("h");
            p.await("OBJECT");
            p.type("p");
            p.await("PAUSED");
            p.type("\033");
            p.await("COMMAND");
            p.type("q");
            assertRestored(p, 0);
        }
    }

    @Test
    void ctrlCRestoresTheTerminal() throws Exception {
        try (ScreenProcess p = stat(pid)) {
            p.await("process " + pid, sender);
            p.type(DOWN + "\003");
            assertRestored(p, 0);
        }
    }

    @Test
    void terminalIsRestoredAfterASignal() throws Exception {
        try (ScreenProcess p = stat(pid)) {
            p.await("process " + pid, sender);
            assertThat(p.java().destroy()).isTrue(); // SIGTERM
            assertRestored(p, 143);
        }
    }

    @Test
    void endOfTheProcessReturnsToTheList() throws Exception {
        try (ScreenProcess p = stat(pid)) {
            p.await("process " + pid, sender);
            peer.kill();
            p.await("process " + pid + " has ended", "COMMAND");
            p.type("q");
            assertRestored(p, 0);
        }
    }

    @Test
    void stoppedProcessIsReported() throws Exception {
        try (ScreenProcess p = stat(pid)) {
            p.await("process " + pid, sender);
            peer.stop();
            p.await("process " + pid + " does not answer (stopped? another network namespace?)", sender);
            peer.proceed();
            p.await(s -> !s.contains("does not answer") && s.contains(sender), "answer");
            p.type("q");
            assertRestored(p, 0);
        }
    }

    @Test
    void tooSmallScreenStatesRequiredSizeAndRecovers() throws Exception {
        try (ScreenProcess p = stat(pid)) {
            String tty = p.await("process " + pid, sender).isEmpty() ? "" : tty(p);
            TestUser.run("stty", "-F", tty, "rows", "5", "cols", "50");
            p.await("The terminal is too small: 80 columns");
            TestUser.run("stty", "-F", tty, "rows", "30", "cols", "120");
            p.await(s -> s.contains(sender) && !s.contains("too small"), "objects again");
            p.type("q");
            assertRestored(p, 0);
        }
    }

    /** The terminal of the JVM on it. */
    private static String tty(ScreenProcess p) throws Exception {
        return java.nio.file.Files.readSymbolicLink(java.nio.file.Path.of("/proc/" + p.java().pid() + "/fd/1"))
                .toString();
    }

    @Test
    void errorsArePrintedOnTheMainScreen() throws Exception {
        try (ScreenProcess p = stat("4000000")) {
            String shown = p.await("ended with 1");
            assertThat(shown).contains("verbena: look at process 4000000: ESRCH: there is no such process");
        }
    }

    @Test
    void dumbTerminalGetsLines() throws Exception {
        try (ScreenProcess p = new ScreenProcess("dumb", 30, 120, TerminalTest.verbena() + "stat " + pid
                + " -i 0.1; echo")) {
            p.await("totals", "OBJECT", sender);
            assertThat(p.screen().isAlternate()).isFalse();
            assertThat(p.java().destroy()).isTrue();
        }
    }

    @Test
    void unknownTerminalGetsLines() throws Exception {
        try (ScreenProcess p = new ScreenProcess("nosuchterm", 30, 120, TerminalTest.verbena() + "stat " + pid
                + " -i 0.1; echo")) {
            String shown = p.await("totals", "OBJECT", sender);
            assertThat(shown).doesNotContain("Exception", "WARNING", "nosuchterm");
            assertThat(p.screen().isAlternate()).isFalse();
            assertThat(p.java().destroy()).isTrue();
        }
    }

    @Test
    void terminalWithoutSizeHasTheDefaultSize() throws Exception {
        try (ScreenProcess p = new ScreenProcess("xterm", 30, 120, "stty rows 0 cols 0; unset LINES COLUMNS; "
                + TerminalTest.verbena() + "stat -i 0.1 " + pid)) {
            p.await("process " + pid, sender, "h help");
            assertThat(p.screen().text().lines().toList().get(23)).as("the last of 24 lines").startsWith("h help");
        }
        try (ScreenProcess p = new ScreenProcess("xterm", 30, 120, "stty rows 0 cols 0; COLUMNS=90 LINES=12 "
                + TerminalTest.verbena() + "stat -i 0.1 " + pid)) {
            p.await("process " + pid, "h help");
            assertThat(p.screen().text().lines().toList().get(11)).as("the last of 12 lines").startsWith("h help");
        }
    }
}
