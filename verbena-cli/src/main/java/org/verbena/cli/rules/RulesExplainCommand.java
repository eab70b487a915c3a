// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.rules;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import org.verbena.sockets.rules.Application;
import org.verbena.sockets.rules.Block;
import org.verbena.sockets.rules.Decision;
import org.verbena.sockets.rules.Role;
import org.verbena.sockets.rules.Rule;
import org.verbena.sockets.rules.RuleParser;
import org.verbena.sockets.rules.RuleSet;
import org.verbena.sockets.rules.RulesFile;
import org.verbena.sockets.rules.Transport;

/** {@code verbena rules explain}: which rule decides a connection, and why that one. */
@Command(name = "explain", description = "Says which rule of a file decides a given connection, and why.")
final class RulesExplainCommand implements Callable<Integer> {
    private static final int LARGEST_PORT = 65535;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(names = "--role", required = true, paramLabel = "ROLE",
            description = "tcp_server, tcp_client, udp_sender, udp_receiver or udp_connect.")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private String role;

    @Option(names = "--to", paramLabel = "HOST:PORT",
            description = "The remote address, in numbers.") private @Nullable String to;

    @Option(names = "--from", paramLabel = "HOST:PORT",
            description = "The local address, in numbers; none if not given.") private @Nullable String from;

    @Option(names = "--app", paramLabel = "NAME",
            description = "The program's class or jar; any if not given.") private @Nullable String app;

    @Option(names = "--id", paramLabel = "ID",
            description = "The program's id; any if not given.") private @Nullable String id;

    @Option(names = "--rules", paramLabel = "LINES",
            description = "Rules with semicolons between them; they come before those of the file.") private String lines = "";

    @Option(names = "--file", paramLabel = "FILE",
            description = "A file of rules.") private @Nullable Path file;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help message and exit.")
    @SuppressWarnings("UnusedVariable") // picocli looks at it
    private boolean help;

    @Override
    public Integer call() throws IOException {
        Role r = role();
        boolean remote = r == Role.TCP_CLIENT || r == Role.UDP_SENDER || r == Role.UDP_CONNECT;
        if ((remote ? to : from) == null) {
            throw wrong("role " + r + " needs " + (remote ? "--to" : "--from"));
        }
        List<Block> blocks = file == null ? List.of() : RulesFile.read(file);
        List<Rule> given = RuleParser.parseLines("--rules", lines);
        RuleSet rules = RuleSet.of(blocks, Application.named(app, id)).with(given);
        InetSocketAddress local = address("--from", from);
        InetSocketAddress peer = address("--to", to);
        Decision d = rules.decide(r, local, peer);
        PrintWriter out = spec.commandLine().getOut();
        Rule rule = d.rule();
        out.println("transport: " + (r.isDatagram() ? Transport.OS : d.transport()));
        if (d.device() != null) {
            out.println("device:    " + d.device() + ", for peers on other hosts");
        }
        out.println("rule:      " + (rule == null ? "none" : rule));
        out.println("why:       " + (r.isDatagram()
                ? "datagrams are always the kernel's, and no rule is asked; else: "
                : "")
                + RuleExplanation.why(rules, r, given, blocks, d, program()));
        if (local == null) {
            rules.askingForLocal(r, peer).forEach(open -> out.println("open:      " + open
                    + ": its local address was not compared, for there is no --from"));
        }
        out.flush();
        return 0;
    }

    private String program() {
        if (app == null && id == null) {
            return "any program (no --app, no --id)";
        }
        return app == null
                ? "a program of any name (no --app)"
                : id == null
                        ? "the program with any id (no --id)"
                        : "the program";
    }

    private Role role() {
        return Arrays.stream(Role.values()).filter(r -> r.toString().equals(role)).findFirst()
                .orElseThrow(() -> wrong("unknown role '" + role + "': it is one of " + Arrays.stream(Role.values())
                        .map(Role::toString).collect(Collectors.joining(", "))));
    }

    private @Nullable InetSocketAddress address(String option, @Nullable String text) {
        if (text == null) {
            return null;
        }
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        try {
            int port = Integer.parseInt(text.substring(colon + 1));
            if (!host.isEmpty() && port >= 0 && port <= LARGEST_PORT) {
                String bare = host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
                return new InetSocketAddress(InetAddress.ofLiteral(bare), port);
            }
        } catch (IllegalArgumentException e) {
            // said below
        }
        throw wrong(option + " takes an address in numbers and a port, as 10.1.2.3:443 or [2001:db8::1]:443, not '"
                + text
                + "'");
    }

    private ParameterException wrong(String what) {
        return new ParameterException(spec.commandLine(), what);
    }
}
