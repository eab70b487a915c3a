// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Callable;

import com.sun.tools.attach.AgentInitializationException;
import com.sun.tools.attach.AgentLoadException;
import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.AttachOperationFailedException;
import com.sun.tools.attach.VirtualMachine;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import org.verbena.cli.support.Distribution;
import org.verbena.cli.support.ExitCode;
import org.verbena.cli.support.OtherProcess;

/** {@code verbena attach}: loads the agent into a running JVM. */
@Command(name = "attach", description = {"Brings Verbena's sockets into a Java program that runs: its new sockets.",
    "The program runs Java 25 or newer and is of the same user."})
final class AttachCommand implements Callable<Integer> {
    private static final String INSTRUMENT = "java.instrument";
    private static final String ACTIVE = "active";
    private static final String PENDING = "active when";
    private static final int NEEDED = 25;
    private static final int TRIES = 250;
    private static final int PAUSE_MILLIS = 20;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "PID", description = "The process.") private long pid;

    @Option(names = "--quiet", description = "The agent prints nothing in that program.") private boolean quiet;

    @Option(names = "--set", paramLabel = "KEY=VALUE",
            description = "A property verbena.KEY; may be repeated.") private List<String> settings = new ArrayList<>();

    @Option(names = "--agent", paramLabel = "JAR",
            description = "The agent, if not the one of this Verbena.") private @Nullable Path agent;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help message and exit.")
    @SuppressWarnings("UnusedVariable") // picocli looks at it
    private boolean help;

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path jar = agent == null ? Distribution.agent() : agent;
        if (!Files.isReadable(jar)) {
            throw new IOException("the agent " + jar + " cannot be read: name it with --agent");
        }
        requireJvm();
        VirtualMachine vm = attach();
        try {
            String state = load(vm, jar.toAbsolutePath());
            PrintWriter out = spec.commandLine().getOut();
            out.println("process " + pid + ": " + state);
            out.flush();
            return state.startsWith(ACTIVE) ? 0 : ExitCode.FAILURE;
        } finally {
            vm.detach();
        }
    }

    /** Checks the process here, so that errors are clear: those of the JVM speak of sockets and timeouts. */
    private void requireJvm() throws IOException {
        if (pid <= 0) {
            throw new ParameterException(spec.commandLine(), "there is no process " + pid);
        }
        OtherProcess process = OtherProcess.require(pid);
        String wrong = process.refusal();
        if (wrong != null) {
            throw new IOException(wrong + ": attach " + (process.isOfOtherUser()
                    ? "as that user"
                    : "from the namespace of that process"));
        }
        if (!process.isJava()) {
            throw new IOException("process " + pid + " does not run Java");
        }
    }

    private VirtualMachine attach() throws IOException {
        try {
            return VirtualMachine.attach(Long.toString(pid));
        } catch (AttachNotSupportedException | IOException e) {
            throw new IOException("process " + pid + " does not let itself be attached to: it has attaching switched"
                    + " off (-XX:+DisableAttachMechanism), is stopped, or runs no Java; if it does, start it with -javaagent"
                    + " instead", e);
        }
    }

    private String load(VirtualMachine vm, Path jar) throws IOException, InterruptedException {
        Properties before = vm.getSystemProperties();
        String version = before.getProperty("java.specification.version", "unknown");
        if (!isNewEnough(version)) {
            return "not active: it runs Java " + version + ", and Verbena needs " + NEEDED + " or newer";
        }
        String old = before.getProperty(OtherProcess.AGENT_STATE, "");
        if (old.startsWith(ACTIVE)) {
            if (!settings.isEmpty()) {
                throw new IOException("process " + pid + " has the agent already (" + old
                        + "), which reads its arguments at its start: leave --set out");
            }
            return old + " (since before)";
        }
        try {
            vm.loadAgent(jar.toString(), arguments());
        } catch (AgentLoadException | AttachOperationFailedException e) {
            if (String.valueOf(e.getMessage()).contains(INSTRUMENT)) {
                throw new IOException("process " + pid + " runs without the module " + INSTRUMENT
                        + ", by which agents come in: build its runtime with it (jlink --add-modules " + INSTRUMENT
                        + ")", e);
            }
            throw new IOException("process " + pid + " does not take the agent (" + e.getMessage()
                    + "): has it -XX:-EnableDynamicAgentLoading?", e);
        } catch (AgentInitializationException e) {
            throw new IOException("the agent failed in process " + pid + ": " + e.getMessage(), e);
        }
        for (int i = 0; i < TRIES; i++) {
            String state = vm.getSystemProperties().getProperty(OtherProcess.AGENT_STATE, PENDING);
            if (!state.startsWith(PENDING)) {
                return state;
            }
            Thread.sleep(PAUSE_MILLIS);
        }
        return "not active: the agent does not answer";
    }

    private static boolean isNewEnough(String version) {
        try {
            return Integer.parseInt(version) >= NEEDED;
        } catch (NumberFormatException old) { // 1.8, or none
            return false;
        }
    }

    private String arguments() {
        List<String> all = new ArrayList<>();
        if (quiet) {
            all.add("quiet");
        }
        settings.forEach(s -> all.add(s.replace(",", "\\,")));
        return String.join(",", all);
    }
}
