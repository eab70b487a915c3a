// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.rules;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.rules.Application;
import org.verbena.sockets.rules.Block;
import org.verbena.sockets.rules.Decision;
import org.verbena.sockets.rules.Role;
import org.verbena.sockets.rules.Rule;
import org.verbena.sockets.rules.RuleSet;
import org.verbena.sockets.rules.RulesFile;
import org.verbena.sockets.rules.Transport;

/**
 * Why a rule decides a connection, in words.
 *
 * @param rule as it stands in the file
 * @param why the block, and which of its rules it is
 */
public record RuleExplanation(String rule, String why) {
    /**
     * The rule of a file that decides a connection; empty if none does, or if another line does than the one that has decided
     * in a program, as after a change of the file.
     *
     * @param line that has decided
     * @throws IOException if the file cannot be read
     * @throws RuntimeException if it is malformed
     */
    public static Optional<RuleExplanation> inFile(Path file, long line, boolean client, String program,
            @Nullable InetSocketAddress local, @Nullable InetSocketAddress remote) throws IOException {
        List<Block> blocks = RulesFile.read(file);
        RuleSet rules = RuleSet.of(blocks, Application.named(program, null));
        Role role = client ? Role.TCP_CLIENT : Role.TCP_SERVER;
        Decision d = rules.decide(role, local, remote);
        Rule rule = d.rule();
        return rule == null || rule.place().line() != line
                ? Optional.empty()
                : Optional.of(new RuleExplanation(rule.place().text().strip(), why(rules, role, List.of(), blocks, d,
                        "the program")));
    }

    /** @param given rules that come before those of a file */
    static String why(RuleSet rules, Role role, List<Rule> given, List<Block> blocks, Decision d, String program) {
        List<Rule> asked = given.stream().filter(x -> x.role() == role).toList();
        Rule rule = d.rule();
        if (rule != null && asked.contains(rule)) {
            return "--rules comes before any file; of its rules for " + role + " " + first(asked, rule, d);
        }
        String before = given.isEmpty() ? "" : "of --rules none matches; ";
        Block block = rules.block();
        if (block == null) {
            boolean none = blocks.isEmpty() && given.isEmpty();
            return before + (none ? "there are no rules: " : blocks.isEmpty() ? "" : "no block matches the program: ")
                    + "the default";
        }
        List<Rule> ofBlock = block.rules().stream().filter(x -> x.role() == role).toList();
        String where = before + "the block at " + block.place() + " is the first that matches " + program
                + "; of its rules for " + role + " ";
        return where + (rule == null
                ? "(" + ofBlock.size() + ") none matches, and no later block is tried: the default"
                : first(ofBlock, rule, d));
    }

    private static String first(List<Rule> asked, Rule rule, Decision d) {
        return "(" + asked.size() + ") number " + (asked.indexOf(rule) + 1) + " is the first that matches"
                + (rule.transport() == Transport.STACK ? "; " + d.reason() : "");
    }
}
