// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

import org.verbena.cli.Main;
import org.verbena.testkit.Finished;
import org.verbena.testkit.Jvm;
import org.verbena.tests.CommandLane;
import org.verbena.tests.Repository;

/** The manual pages and completions that {@code ./verbena dist} makes have what the command has. */
@CommandLane
class ManPagesTest {
    @TempDir static Path folder;

    @BeforeAll
    static void makePages() throws Exception {
        Finished f = Finished.run(Jvm.JAVA, "-XX:TieredStopAtLevel=1", Jvm.NATIVE_ON_CLASS_PATH, "-cp", System
                .getProperty(
                        "java.class.path"), Repository.root().resolve("packaging/ManPages.java").toString(), folder
                                .toString(),
                "1.2", "2026-01-02");
        assertThat(f.output()).isEmpty();
        assertThat(f.code()).isZero();
    }

    private static List<CommandSpec> commands(CommandLine command) {
        List<CommandSpec> all = new ArrayList<>(List.of(command.getCommandSpec()));
        new LinkedHashSet<>(command.getSubcommands().values()).forEach(c -> all.addAll(commands(c)));
        return all;
    }

    private static String page(CommandSpec command) throws Exception {
        return Files.readString(folder.resolve("man/man1/" + command.qualifiedName("-") + ".1"));
    }

    @Test
    void everyCommandHasAPageWithItsOptions() throws Exception {
        List<CommandSpec> commands = commands(Main.commandLine());
        assertThat(commands).hasSizeGreaterThan(15);
        for (CommandSpec command : commands) {
            String page = page(command);
            assertThat(page).contains(".SH NAME\n" + command.qualifiedName("-").replace("-", "\\-") + " \\- ",
                    "\"2026-01-02\" \"Verbena 1.2\"", ".SH SYNOPSIS\n", ".SH EXIT STATUS\n");
            for (OptionSpec option : command.options()) {
                if (!option.hidden()) {
                    assertThat(page).as(command.qualifiedName()).contains(option.longestName().replace("-", "\\-"));
                }
            }
        }
    }

    /** What a terminal or a template needs is not in them; a line that begins with a dot is a request of the man macros. */
    @Test
    void pagesHaveNoMarkup() throws Exception {
        for (CommandSpec command : commands(Main.commandLine())) {
            assertThat(page(command)).doesNotContain("@|", "|@", "${", "%n", "\033").doesNotContainPattern(
                    "(?m)^'|^\\.(?!\\\\\"|TH|SH|TP|PP|BR?|nf|fi)");
        }
    }

    @Test
    void shellsCompleteEveryCommand() throws Exception {
        String bash = Files.readString(folder.resolve("bash-completion/completions/verbena"));
        assertThat(Main.commandLine().getSubcommands().keySet()).allSatisfy(c -> assertThat(bash).contains(c));
        assertThat(bash).contains("--duration").contains("complete -F _complete_verbena");
        assertThat(bash).as("what stands for an operand or an option's value, as it is written").contains("send-lat",
                "netstat", "srq", "write_bw").doesNotContain("NETSTAT", "SEND_LAT");
        assertThat(bash).as("what help can be asked about").contains("COMMAND_pos_param_args=(\"attach\" \"copy\"");
        assertThat(Files.readString(folder.resolve("zsh/vendor-completions/_verbena"))).startsWith("#compdef verbena\n")
                .contains("../../bash-completion/completions/verbena");
    }
}
