// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import com.fasterxml.jackson.databind.JsonNode;

import org.verbena.testkit.Await;
import org.verbena.tests.agent.TalkProcess;

/**
 * The processes of one test that know nothing of Verbena, and the folder in which those with the agent publish what commands
 * show of them.
 */
final class ObservedTalk implements AutoCloseable {
    private static final long LONGEST_NANOS = 60_000_000_000L;
    private static final Duration PAUSE = Duration.ofMillis(20);

    private final TalkProcess.Program talk;
    private final Path folder;
    private final List<TalkProcess> started = new ArrayList<>();

    /** What a command answers at the moment. */
    interface Answer {
        JsonNode now() throws IOException;
    }

    /** @param dir where the folder is made */
    ObservedTalk(TalkProcess.Program talk, Path dir) throws IOException {
        this.talk = talk;
        folder = Files.createTempDirectory(dir, "counters");
    }

    Path folder() {
        return folder;
    }

    /** Starts one with the agent, and arguments for it. */
    TalkProcess start(String arguments, String... words) throws IOException {
        return started(talk.start("counters.directory=" + folder + (arguments.isEmpty() ? "" : "," + arguments),
                words));
    }

    /** Starts one with options of the JVM's. */
    TalkProcess start(List<String> options, String... words) throws IOException {
        return started(talk.start(options, words));
    }

    /** Starts one without the agent. */
    TalkProcess plain(String... words) throws IOException {
        return start(List.of(), words);
    }

    private TalkProcess started(TalkProcess p) {
        started.add(p);
        return p;
    }

    /** Asks until the answer is that: the processes work, and publish, meanwhile. */
    static JsonNode until(Answer asked, Predicate<JsonNode> wanted) throws IOException {
        long end = System.nanoTime() + LONGEST_NANOS;
        while (true) {
            JsonNode answer = asked.now();
            if (wanted.test(answer)) {
                return answer;
            }
            assertThat(System.nanoTime() - end).as("too late: " + answer).isNegative();
            Await.during(PAUSE); // to ask takes the processor that the other one needs
        }
    }

    /** Kills all of them. */
    @Override
    public void close() {
        started.forEach(TalkProcess::close);
    }
}
