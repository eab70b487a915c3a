// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.verbena.linux.Xsk;
import org.verbena.telemetry.CounterFile;
import org.verbena.testkit.Jvm;
import org.verbena.verbs.Context;
import org.verbena.verbs.CounterAttachAttributes;
import org.verbena.verbs.Counters;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowFlags;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.VerbsException;

/**
 * A process with flows on an interface, of which a test has several. It does what its input says, a line each: {@code take},
 * {@code drop} or {@code watch} with a port, {@code count} with one of these ports, {@code received}, {@code churn}, which changes
 * flows until the process is killed, {@code end}. Another one takes a port with work queues, {@code spread}, and says how many
 * packets came to them whatever else it is asked.
 */
final class SharedMember implements AutoCloseable {
    private final Process process;
    private final BufferedReader out;

    private SharedMember(Process process) {
        this.process = process;
        out = process.inputReader();
    }

    /** A new process on an interface of the calling thread's namespace; behind a command that takes privileges, for instance. */
    static SharedMember start(String name, String... wrapper) throws Exception {
        String classes = Stream.of(Xsk.class, CounterFile.class, Context.class, XdpDevice.class, SharedMember.class,
                Jvm.class, org.assertj.core.api.Assertions.class, org.junit.jupiter.api.Assumptions.class,
                org.opentest4j.TestAbortedException.class).map(Jvm::classesOf).map(Path::toString).distinct().collect(
                        Collectors.joining(File.pathSeparator));
        List<String> command = new ArrayList<>(List.of(wrapper));
        command.addAll(Jvm.command(Jvm.NATIVE_ON_CLASS_PATH, "-cp", classes, SharedMember.class.getName(), name));
        return new SharedMember(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    }

    void tell(String line) throws Exception {
        process.outputWriter().write(line + "\n");
        process.outputWriter().flush();
    }

    String answer() throws Exception {
        String line = out.readLine();
        return line == null ? "it has ended" : line;
    }

    String ask(String line) throws Exception {
        tell(line);
        return answer();
    }

    long number(String line) throws Exception {
        return Long.parseLong(ask(line));
    }

    long pid() {
        return process.pid();
    }

    void kill() throws Exception {
        process.destroyForcibly();
        process.waitFor();
    }

    /** Ends as a program does that closes its device. */
    void end() throws Exception {
        tell("end");
        process.waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    // ---- the process

    public static void main(String[] args) throws Exception {
        RawEnd end = null;
        SpreadEnd spread = null;
        Map<String, Counters> counters = new TreeMap<>();
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
                String[] words = line.split(" ", -1);
                if (words[0].equals("spread")) {
                    spread = SpreadEnd.ready(args[0], 1);
                    spread.ready(SpreadEnd.hash(new byte[40], SpreadEnd.UDP), 0).createFlow(toPort(words[1]).build());
                    System.out.println("done");
                    continue;
                }
                if (spread != null) {
                    System.out.println(received(spread));
                    continue;
                }
                if (end == null) {
                    end = words[0].equals("take") ? RawEnd.ready(args[0]) : RawEnd.open(args[0]);
                }
                System.out.println(answer(end, counters, words));
            }
        } finally {
            if (end != null) {
                end.close();
            }
        }
    }

    private static int received(SpreadEnd end) {
        int received = 0;
        for (int i = 0; i < end.queues.size(); i++) {
            while (end.frame(i) != null) {
                received++;
            }
        }
        return received;
    }

    private static FlowAttributes.Builder toPort(String port) {
        return FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, Integer.parseInt(port)));
    }

    private static String answer(RawEnd end, Map<String, Counters> counters, String[] words) {
        try {
            return switch (words[0]) {
                case "count" -> {
                    long[] values = new long[1];
                    counters.get(words[1]).read(values, 0);
                    yield Long.toString(values[0]);
                }
                case "churn" -> {
                    System.out.println("begun");
                    churn(end);
                    yield "";
                }
                case "received" -> {
                    int received = 0;
                    while (!end.isIdle()) {
                        received++;
                    }
                    yield Integer.toString(received);
                }
                default -> {
                    flow(end, counters, words);
                    yield "done";
                }
            };
        } catch (VerbsException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** Flows of ever other priorities, each of which needs a new list of masks or gives one up. */
    private static void churn(RawEnd end) throws VerbsException {
        Random random = new Random();
        long sourcePort = ProcessHandle.current().pid() & 0xffff; // another one in each process
        Deque<Flow> flows = new ArrayDeque<>();
        while (true) {
            flows.add(end.qp.createFlow(FlowAttributes.builder().priority(random.nextInt(4)).spec(FlowSpec.tcp().match(
                    FlowField.DESTINATION_PORT, 1 + random.nextInt(60_000)).match(FlowField.SOURCE_PORT, sourcePort))
                    .spec(FlowSpec.drop()).build()));
            if (flows.size() > random.nextInt(12)) {
                flows.remove().close();
            }
        }
    }

    private static void flow(RawEnd end, Map<String, Counters> counters, String[] words) throws VerbsException {
        Counters c = end.context.createCounters();
        c.attach(CounterAttachAttributes.of(SamplePoint.PACKETS, 0));
        FlowAttributes.Builder b = toPort(words[1]).spec(FlowSpec.count(c));
        switch (words[0]) {
            case "drop" -> b.spec(FlowSpec.drop());
            case "watch" -> b.flags(FlowFlags.DONT_TRAP);
            default -> { // to the queue pair
            }
        }
        end.qp.createFlow(b.build());
        counters.put(words[1], c);
    }
}
