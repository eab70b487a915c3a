// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.why;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import org.verbena.cli.doctor.SocketConditions;
import org.verbena.cli.support.HumanText;
import org.verbena.cli.support.OtherProcess;
import org.verbena.cli.support.Terminal;

/** {@code verbena why}: which connections TCP carries, why, and what to change. */
@Command(name = "why", description = {
    "Says what carries the connections of a process, or of a TCP port: rings or TCP,"
            + " why, since when, and what to change.",
    "A number is that of a process or, if no Java program has it, a port; :PORT is a port always."})
public final class WhyCommand implements Callable<Integer> {
    private static final int PORTS = 65535;
    /** Reasons that may lie in what two processes of this machine may do together. */
    private static final Set<String> OF_PAIRS = Set.of("other_user", "other_namespace", "unavailable", "no_session",
            "no_memory", "name_taken");

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "PID|PORT", description = "A process, or a local or remote TCP port.")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private String asked;

    @Option(names = "--all", description = "Print each connection, however many are alike.") private boolean all;

    @Option(names = "--json", description = "Print JSON, with each connection.") private boolean json;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help message and exit.")
    @SuppressWarnings("UnusedVariable") // picocli looks at it
    private boolean help;

    @Override
    public Integer call() throws IOException, InterruptedException {
        boolean colon = asked.startsWith(":");
        long number = number(colon ? asked.substring(1) : asked);
        if (number < 1 || number > (colon ? PORTS : Integer.MAX_VALUE)) {
            throw wrong();
        }
        Instant time = Instant.now();
        WhyAnswer answer;
        try (WhyLook look = new WhyLook()) {
            if (colon || isPort(number)) {
                WhyLook.Port found = look.port((int) number);
                answer = new WhyAnswer(time, (int) number, found.processes(), found.notes(), host(found.processes()));
            } else {
                List<WhyProcess> found = List.of(look.process(number));
                answer = new WhyAnswer(time, 0, found, List.of(), host(found));
            }
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(WhyJson.of(answer));
            out.flush();
        } else {
            new WhyText(out, Terminal.OUT.colours().ansi(), all).print(answer);
        }
        return 0;
    }

    private static long number(String text) {
        return text.matches("[0-9]{1,10}") ? Long.parseLong(text) : 0;
    }

    private ParameterException wrong() {
        return new ParameterException(spec.commandLine(), "'" + HumanText.printable(asked)
                + "' is neither the number of"
                + " a process, nor a port (1 to " + PORTS + ", or :8080 where a process may have the number, too)");
    }

    /** Whether a number is meant as a port: there is such a one, and no process that has an answer. */
    private boolean isPort(long number) throws IOException {
        if (number > PORTS) {
            return false;
        }
        Optional<OtherProcess> process = OtherProcess.find(number);
        if (process.isPresent() && process.get().refusal() == null && process.get().isJava()) {
            return false;
        }
        boolean port = WhyLook.isPort((int) number);
        if (port && process.isPresent()) {
            PrintWriter err = spec.commandLine().getErr();
            err.println("verbena: there is a process " + number + ", too, which does not run Java or is another user's:"
                    + " this is about port " + number);
            err.flush();
        }
        return port;
    }

    /** What was tried on this machine; nothing where no process has Verbena. */
    private static List<SocketConditions.Condition> host(List<WhyProcess> processes) {
        List<WhyProcess> having = processes.stream().filter(WhyProcess::hasVerbena).toList();
        boolean pairs = having.stream().flatMap(p -> p.connections().stream()).anyMatch(c -> OF_PAIRS.contains(c
                .reason()));
        return having.isEmpty()
                ? List.of()
                : SocketConditions.of(having.stream().map(p -> Path.of("/proc", Long.toString(p.pid()))).toList(),
                        pairs);
    }
}
