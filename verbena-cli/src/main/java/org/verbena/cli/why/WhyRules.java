// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.why;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.rules.RuleExplanation;
import org.verbena.cli.stat.StatObject;
import org.verbena.cli.stat.StatText;
import org.verbena.cli.support.OtherProcess;
import org.verbena.sockets.SocketObjectType;

/** The rules of a process, and why they have decided: for those of a file that is still as it was. */
final class WhyRules {
    private final OtherProcess process;
    private final Map<Long, StatObject> rules = new HashMap<>();
    /** By rule and role: connections that a rule decides are told together. */
    private final Map<String, WhyRule> known = new HashMap<>();

    WhyRules(OtherProcess process, List<StatObject> objects) {
        this.process = process;
        objects.stream().filter(o -> o.type() == SocketObjectType.RULE).forEach(o -> rules.put(o.id(), o));
    }

    /** The rule that has decided a socket; null if none has. */
    @Nullable
    WhyRule of(StatObject socket) {
        StatObject rule = socket.attributes().get("rule") instanceof Long id ? rules.get(id) : null;
        return rule == null
                ? null
                : known.computeIfAbsent(rule.id() + String.valueOf(socket.attributes().get("role")), k -> make(rule,
                        socket));
    }

    private WhyRule make(StatObject rule, StatObject socket) {
        String text = String.valueOf(rule.attributes().getOrDefault("text", ""));
        String source = String.valueOf(rule.attributes().getOrDefault("source", ""));
        long line = rule.attributes().get("line") instanceof Long n ? n : 0;
        Optional<RuleExplanation> found = source.startsWith("/")
                ? explain(Path.of(source), line, socket)
                : Optional.empty();
        return new WhyRule(found.map(RuleExplanation::rule).orElse(text), source, line, found.map(RuleExplanation::why)
                .orElse(""));
    }

    private Optional<RuleExplanation> explain(Path file, long line, StatObject socket) {
        Path seen = process.proc().resolve("root").resolve(file.toString().substring(1)); // as the process sees it
        Path there = Files.isReadable(file) ? file : seen;
        try {
            return RuleExplanation.inFile(there, line, "client".equals(socket.attributes().get("role")), StatText
                    .command(process.command()), address(socket, "local"), address(socket, "remote"));
        } catch (IOException | RuntimeException changed) { // it is not what it was when the process read it
            return Optional.empty();
        }
    }

    private static @Nullable InetSocketAddress address(StatObject socket, String name) {
        String text = String.valueOf(socket.attributes().getOrDefault(name, ""));
        int colon = text.lastIndexOf(':');
        return colon < 0
                ? null
                : new InetSocketAddress(InetAddress.ofLiteral(text.substring(0, colon).replaceAll("[\\[\\]]", "")),
                        Integer.parseInt(text.substring(colon + 1)));
    }
}
