// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import org.verbena.cli.Main;

/** {@code verbena rules}: explanations, warnings, refusals. */
class RulesCommandTest {
    @TempDir private Path dir;

    /** How it ended. */
    private record Result(int code, String out, String err) {}

    private static Result run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine c = Main.commandLine().setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        return new Result(c.execute(arguments), out.toString(), err.toString());
    }

    private String file(String text) throws Exception {
        return Files.writeString(dir.resolve("rules.conf"), text).toString();
    }

    @Test
    void decidingRuleIsNamedWithItsBlock() throws Exception {
        String f = file("application-id B *\nuse os tcp_client *:*\napplication-id * *\nuse stream tcp_client *:1\n"
                + "use os tcp_client 10.0.0.0/8:* # all\n");
        Result r = run("rules", "explain", "--role", "tcp_client", "--to", "10.1.2.3:443", "--file", f, "--app", "A",
                "--id", "1");
        assertThat(r).isEqualTo(new Result(0, "transport: os\nrule:      " + f + ":5: use os tcp_client 10.0.0.0/8:*\n"
                + "why:       the block at " + f
                + ":3: application-id * * is the first that matches the program; of its"
                + " rules for tcp_client (2) number 2 is the first that matches\n", ""));
        assertThat(run("rules", "explain", "--role", "tcp_client", "--to", "[2001:db8::1]:443", "--file", f,
                "--app", "A").out())
                .startsWith("transport: stream\nrule:      none\n").contains(
                        "none matches, and no later block is tried");
        assertThat(run("rules", "explain", "--role", "tcp_client", "--to", "10.1.2.3:1", "--file", f, "--app", "B")
                .out()).contains(f + ":2: ");
        assertThat(run("rules", "explain", "--role", "tcp_client", "--to", "10.1.2.3:1", "--file", f).out())
                .contains(f + ":2: ").contains("matches any program (no --app, no --id)");
    }

    @Test
    void programIsMatchedByNameAndId() throws Exception {
        String f = file("application-id tcp_lat B1\nuse os tcp_client *:*\n");
        String[] command = {"rules", "explain", "--role", "tcp_client", "--to", "10.1.2.3:1", "--file", f};
        for (String[] is : new String[][] {{"--app", "tcp_lat"}, {"--id", "B1"}, {"--app", "tcp_lat", "--id", "B1"}}) {
            assertThat(run(with(command, is)).out()).as(String.join(" ", is)).startsWith("transport: os\n");
        }
        for (String[] not : new String[][] {{"--app", "B1"}, {"--id", "tcp_lat"}, {"--app", "tcp_lat", "--id", "B2"}}) {
            assertThat(run(with(command, not)).out()).as(String.join(" ", not)).startsWith("transport: stream\n")
                    .contains("no block matches the program");
        }
    }

    private static String[] with(String[] command, String... more) {
        String[] all = Arrays.copyOf(command, command.length + more.length);
        System.arraycopy(more, 0, all, command.length, more.length);
        return all;
    }

    @Test
    void rulesOfTheOptionPrecedeTheFile() throws Exception {
        String f = file("use os tcp_client *:*\n");
        String[] command = {"rules", "explain", "--role", "tcp_client", "--file", f, "--rules",
            "use os tcp_server *:1; use stream tcp_client *:1", "--to"};
        assertThat(run(with(command, "10.1.2.3:1")).out()).isEqualTo(
                "transport: stream\nrule:      --rules:2: use stream"
                        + " tcp_client *:1\nwhy:       --rules comes before any file; of its rules for tcp_client (1) number 1 is"
                        + " the first that matches\n");
        assertThat(run(with(command, "10.1.2.3:2")).out()).startsWith("transport: os\nrule:      " + f + ":1: ")
                .contains("why:       of --rules none matches; the block at ").contains("(1) number 1 is the first");
        Result wrong = run("rules", "explain", "--role", "tcp_client", "--to", "10.1.2.3:1", "--rules", "use on");
        assertThat(wrong.code()).isEqualTo(1);
        assertThat(wrong.err()).contains("verbena: --rules, line 1, column 5: unknown word 'on'");
        assertThat(run("rules", "explain", "--role", "tcp_client", "--to", "10.1.2.3:1", "--rules",
                "use os tcp_client *:2").out()).endsWith("why:       of --rules none matches; the default\n");
    }

    @Test
    void datagramsUseTheKernelWhateverTheRules() {
        assertThat(run("rules", "explain", "--role", "udp_sender", "--to", "10.1.2.3:1", "--rules",
                "use stream udp_sender *:*").out()).startsWith("transport: os\nrule:      --rules:1: ")
                .contains("why:       datagrams are always the kernel's, and no rule is asked");
        assertThat(run("rules", "explain", "--role", "udp_receiver", "--from", "10.1.2.3:1").out())
                .startsWith("transport: os\nrule:      none\nwhy:       datagrams are always the kernel's");
    }

    @Test
    void ruleNeedingFromIsReportedAsUndecided() {
        String[] command = {"rules", "explain", "--role", "tcp_client", "--to", "10.1.2.3:1", "--rules",
            "use os tcp_client *:*:127.0.0.0/8:*"};
        assertThat(run(command).out()).startsWith("transport: stream\n").endsWith(
                "open:      --rules:1: use os tcp_client"
                        + " *:*:127.0.0.0/8:*: its local address was not compared, for there is no --from\n");
        assertThat(run(with(command, "--from", "127.0.0.1:5")).out()).startsWith("transport: os\n")
                .doesNotContain("open:");
    }

    @Test
    void missingRulesMeanTheDefault() {
        assertThat(run("rules", "explain", "--role", "tcp_server", "--from", "0.0.0.0:5001"))
                .isEqualTo(new Result(0,
                        "transport: stream\nrule:      none\nwhy:       there are no rules: the default\n",
                        ""));
    }

    @Test
    void missingTransportIsReported() throws Exception {
        assertThat(run("rules", "explain", "--role", "tcp_server", "--from", "127.0.0.1:1", "--file",
                file("use vma tcp_server *:*")).out()).startsWith("transport: os\n").contains(
                        "; the rule asks for stack");
    }

    @Test
    void checkReportsWarningsOfAFile() throws Exception {
        String f = file("application-id * *\nuse os tcp_client *:*\nuse stream tcp_client *:1\n");
        assertThat(run("rules", "check", f)).isEqualTo(new Result(0, "warning: " + f + ":3: use stream tcp_client *:1:"
                + " never used, since line 2 (use os tcp_client *:*) matches all that it matches\n" + f
                + ": 2 rules in 1 block\n", ""));
    }

    @Test
    void invalidRulesAreRefused() throws Exception {
        String f = file("use os tcp_client *:1\nuse os tcp_cleint *:1\n");
        for (Result r : new Result[] {run("rules", "check", f), run("rules", "explain", "--role", "tcp_client", "--to",
                "1.2.3.4:5", "--file", f)}) {
            assertThat(r.code()).isEqualTo(1);
            assertThat(r.out()).isEmpty();
            assertThat(r.err()).contains("verbena: " + f + ", line 2, column 8: unknown word 'tcp_cleint'");
        }
        assertThat(run("rules", "check", dir + "/none").code()).isEqualTo(1);
        assertThat(run("rules").code()).isEqualTo(2);
        assertThat(run("rules", "explain", "--role", "tcp_client").err()).contains("needs --to");
        assertThat(run("rules", "explain", "--role", "x", "--to", "1.2.3.4:5").err()).contains("unknown role 'x'");
        for (String bad : new String[] {"localhost:1", "1.2.3.4", "1.2.3.4:65536", ":1", "1.2.3.4:x"}) {
            Result r = run("rules", "explain", "--role", "tcp_client", "--to", bad);
            assertThat(r.code()).as(bad).isEqualTo(2);
            assertThat(r.err()).as(bad).contains("--to takes an address in numbers and a port");
        }
    }
}
