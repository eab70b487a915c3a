package org.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Set;

import org.junit.jupiter.api.Test;
import picocli.CommandLine;

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
    void wrongUsageIsExitCodeTwo() {
        assertThat(run("--nonsense")).isEqualTo(Main.USAGE);
        assertThat(run()).isEqualTo(Main.USAGE);
        assertThat(out.toString()).isEmpty();
        assertThat(err.toString()).contains("--nonsense").contains("A command is missing");
    }

    @Test
    void whoIsNamedComesAlone() {
        Set<String> all = Main.commandLine().getSubcommands().keySet();
        assertThat(all).contains("perf", "devices");
        assertThat(Main.commandLine("nonsense", "perf").getSubcommands().keySet()).isEqualTo(all);
        for (String name : all) {
            assertThat(Main.commandLine(name, "--help").getSubcommands().keySet()).containsExactly(name);
        }
    }
}
