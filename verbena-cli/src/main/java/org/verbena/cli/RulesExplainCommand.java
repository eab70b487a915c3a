package org.verbena.cli;

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
import org.verbena.sockets.rules.RuleSet;

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

    @Option(names = "--app", paramLabel = "ID",
            description = "The program's class, jar or id.") private String app = "";

    @Option(names = "--file", paramLabel = "FILE",
            description = "The rules; there are none if it is not given.") private @Nullable Path file;

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
        RuleSet rules = RuleSet.of(blocks, Application.named(app));
        Decision d = rules.decide(r, address("--from", from), address("--to", to));
        PrintWriter out = spec.commandLine().getOut();
        Rule rule = d.rule();
        out.println("transport: " + d.transport());
        out.println("rule:      " + (rule == null ? "none" : rule));
        out.println("why:       " + why(rules, r, blocks, d));
        out.flush();
        return 0;
    }

    private static String why(RuleSet rules, Role role, List<Block> blocks, Decision d) {
        Block block = rules.block();
        if (block == null) {
            return (blocks.isEmpty() ? "there are no rules" : "no block matches the program") + ": the default";
        }
        List<Rule> asked = rules.rules(role);
        String where = "the block at " + block.place() + " is the first that matches the program; of its rules for "
                + role
                + " (" + asked.size() + ") ";
        Rule rule = d.rule();
        if (rule == null) {
            return where + "none matches, and no later block is tried: the default";
        }
        return where + "number " + (asked.indexOf(rule) + 1) + " is the first that matches" + (d.isKernel()
                && !rule.transport().toString().equals("os") ? "; " + d.reason() : "");
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
