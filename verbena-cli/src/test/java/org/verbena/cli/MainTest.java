// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

import org.verbena.cli.support.ExitCode;

class MainTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        CommandLine command = Main.commandLine(args);
        command.setOut(new PrintWriter(out, true));
        command.setErr(new PrintWriter(err, true));
        return command.execute(args);
    }

    @Test
    void helpAndVersionGoToStdout() {
        assertThat(run("--help")).isZero();
        assertThat(out.toString()).contains("Usage: verbena");
        assertThat(run("--version")).isZero();
        assertThat(out.toString()).contains("verbena ");
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void wrongUsageExitsWithCodeTwo() {
        assertThat(run("--nonsense")).isEqualTo(ExitCode.USAGE);
        assertThat(run()).isEqualTo(ExitCode.USAGE);
        assertThat(out.toString()).isEmpty();
        assertThat(err.toString()).contains("--nonsense").contains("Usage: verbena").endsWith(
                "verbena: A command is missing.\nTry 'verbena --help'.\n");
    }

    /** A terminal has 24 lines, and the error must be visible on it. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "prf                       | there is no command 'prf': did you mean 'perf'? | verbena",
        "wholly-unknown            | there is no command 'wholly-unknown' | verbena",
        "perf --duratoin 1s        | did you mean --duration? | verbena perf",
        "devices one two           | the argument 'two' is one too many | verbena devices",
        "perftest write-bw         | TEST 'write-bw' is none of write_bw, | verbena perftest",
        "perftest write-bw         | did you mean 'write_bw'? | verbena perftest",
        "stat x                    | PID: 'x' is not the number of a process | verbena stat",
        "rules explan              | there is no command 'explan': did you mean 'explain'? | verbena rules",
        "help prf                  | there is no command 'prf': did you mean 'perf'? | verbena",
        "help rules nix            | there is no command 'nix' | verbena rules",
    })
    void wrongUsagePrintsTwoLines(String words, String sentence, String help) {
        assertThat(run(words.split(" +"))).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).startsWith("verbena: ").contains(sentence).doesNotContain("positional", "index")
                .endsWith("Try '" + help + " --help'.\n");
        assertThat(err.toString().lines()).hasSize(2);
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void helpAndVersionAreAlsoCommands() {
        assertThat(run("version")).isZero();
        assertThat(run("--version")).isZero();
        assertThat(out.toString().lines().distinct()).hasSize(1).allMatch(l -> l.startsWith("verbena "));
        assertThat(run("help")).isZero();
        assertThat(out.toString()).contains("Usage: verbena", "perftest");
        assertThat(run("help", "rules", "check")).isZero();
        assertThat(out.toString()).contains("Usage: verbena rules check");
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void namedSubcommandIsLoadedAlone() {
        Set<String> all = Main.commandLine().getSubcommands().keySet();
        assertThat(all).contains("perf", "devices");
        assertThat(Main.commandLine("nonsense", "perf").getSubcommands().keySet()).isEqualTo(all);
        assertThat(Main.commandLine("help", "perf").getSubcommands().keySet()).isEqualTo(all);
        for (String name : all.stream().filter(n -> !n.equals("help")).toList()) {
            assertThat(Main.commandLine(name, "--help").getSubcommands().keySet()).containsExactly(name);
        }
    }
}
