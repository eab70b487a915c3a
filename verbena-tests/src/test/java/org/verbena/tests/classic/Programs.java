// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.classic;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.sun.tools.attach.VirtualMachine;

import org.verbena.testkit.Jvm;
import org.verbena.tests.agent.AgentArchive;

/** Starts programs that know nothing of Verbena: their class path has the tests' classes alone. */
final class Programs {
    private static final int LONGEST_SECONDS = 300;
    private static final Pattern COUNT = Pattern.compile("connections by stream: (\\d+) of (\\d+)");

    private final Path jar;
    private final Path scratch;

    /** @param jar the agent's */
    Programs(Path jar, Path scratch) {
        this.jar = jar;
        this.scratch = scratch;
    }

    /** The output of {@link Behaviours}, by name, and how many of its connections used the stream. */
    record Outcomes(Map<String, String> said, int byStream, int connections) {}

    String agent(String arguments) {
        return "-javaagent:" + jar + (arguments.isEmpty()
                ? "=quiet,stream.earn=0"
                : "=quiet,stream.earn=0," + arguments);
    }

    Process start(List<String> options, Class<?> main, String... words) throws IOException {
        ProcessBuilder b = builder(options, main, words);
        return b.start();
    }

    private ProcessBuilder builder(List<String> options, Class<?> main, String... words) {
        List<String> c = Jvm.command();
        c.addAll(AgentArchive.options());
        c.addAll(options);
        c.addAll(List.of("-cp", Jvm.classesOf(main).toString(),
                main.getName()));
        c.addAll(List.of(words));
        ProcessBuilder b = new ProcessBuilder(c).directory(scratch.toFile());
        b.environment().remove("JAVA_TOOL_OPTIONS");
        b.environment().remove("JDK_JAVA_OPTIONS");
        return b;
    }

    /** Runs groups of behaviours without the agent, as {@code the JDK's}, and with options, all at the same time. */
    Map<String, Outcomes> behave(List<String> groups, Map<String, List<String>> runs) throws Exception {
        return behave(groups, runs, groups.contains("factories")
                ? List.of("--add-opens=java.base/java.net=ALL-UNNAMED")
                : List.of());
    }

    /** Like the other method; {@code jdks} are the options of the run without the agent. */
    Map<String, Outcomes> behave(List<String> groups, Map<String, List<String>> runs, List<String> jdks)
            throws Exception {
        Map<String, List<String>> all = new LinkedHashMap<>(runs);
        all.put("the JDK's", jdks);
        Map<String, Process> started = new LinkedHashMap<>();
        Map<String, Path> outputs = new HashMap<>();
        try {
            for (Map.Entry<String, List<String>> run : all.entrySet()) {
                Path out = Files.createTempFile(scratch, "out", "");
                outputs.put(run.getKey(), out);
                started.put(run.getKey(), builder(run.getValue(), Behaviours.class, groups.toArray(String[]::new))
                        .redirectErrorStream(true).redirectOutput(out.toFile()).start());
            }
            Map<String, Outcomes> outcomes = new HashMap<>();
            for (Map.Entry<String, Process> p : started.entrySet()) {
                boolean ended = p.getValue().waitFor(LONGEST_SECONDS, TimeUnit.SECONDS);
                String text = Files.readString(outputs.get(p.getKey()), StandardCharsets.UTF_8);
                assertThat(ended && p.getValue().exitValue() == 0).as(p.getKey() + ": " + text).isTrue();
                outcomes.put(p.getKey(), outcomes(text));
            }
            return outcomes;
        } finally {
            started.values().forEach(Process::destroyForcibly);
        }
    }

    private static Outcomes outcomes(String text) {
        Map<String, String> said = new LinkedHashMap<>();
        for (String line : text.lines().toList()) {
            int equals = line.indexOf(" = ");
            if (equals > 0) {
                said.put(line.substring(0, equals), line.substring(equals + 3));
            }
        }
        Matcher count = COUNT.matcher(text);
        assertThat(count.find()).as(text).isTrue();
        return new Outcomes(said, Integer.parseInt(count.group(1)), Integer.parseInt(count.group(2)));
    }

    /** Attaches the agent to a running program. */
    void attach(Process p, String arguments) throws Exception {
        VirtualMachine vm = VirtualMachine.attach(Long.toString(p.pid()));
        try {
            vm.loadAgent(jar.toString(), "quiet," + arguments);
        } finally {
            vm.detach();
        }
    }
}
