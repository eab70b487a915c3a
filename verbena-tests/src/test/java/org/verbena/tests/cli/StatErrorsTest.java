// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.telemetry.CounterFolder;
import org.verbena.testkit.Await;
import org.verbena.tests.CommandLane;
import org.verbena.tests.agent.TalkProcess;
import org.verbena.tests.faults.Child;

/** The column ERR of {@code verbena stat}: a peer that ends in order is no error, a killed one is. */
@CommandLane
class StatErrorsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    /** The lost peer, and the queue pair that it broke. */
    private static final long KILLED = 2;

    @TempDir private Path dir;
    private Path folder;

    @BeforeEach
    void makeFolder() throws Exception {
        folder = Files.createDirectory(dir.resolve("counters"));
    }

    private String stat(String... arguments) throws IOException {
        try (CommandProcess p = CommandProcess.statistics(folder, arguments)) {
            CommandProcess.Result r = p.end();
            assertThat(r.code()).as(r.err()).isZero();
            return r.out();
        }
    }

    /** The errors of a process in the list of all. */
    private long errors(long pid) throws IOException {
        for (JsonNode p : JSON.readTree(stat("stat", "--once", "--json")).get("processes")) {
            if (p.get("pid").asLong() == pid) {
                return p.get("totals").get("errors").asLong();
            }
        }
        throw new AssertionError("process " + pid + " is not shown");
    }

    /** Those of its device, in the table. */
    private long deviceErrors(long pid) throws IOException {
        return stat("stat", String.valueOf(pid), "--once", "--type", "device").lines().filter(l -> l.startsWith(
                "shm0")).mapToLong(l -> Long.parseLong(l.split(" +", -1)[1])).sum();
    }

    private void awaitKilled(long pid) throws IOException {
        Await.until("the killed peer is counted", () -> errors(pid) >= KILLED);
        assertThat(errors(pid)).isEqualTo(KILLED);
        assertThat(deviceErrors(pid)).isEqualTo(KILLED);
    }

    @Test
    void endOfAVerbsProgramIsNoErrorAndAKilledOneIs() throws Exception {
        String property = "-D" + CounterFolder.PROPERTY + "=" + folder;
        try (Child server = Child.of(LeavingPeer.class).option(property).start()) {
            int port = Integer.parseInt(server.await("PORT"));
            try (Child leaver = Child.of(LeavingPeer.class).option(property).start(port)) {
                leaver.await("SENT");
                leaver.tell("leave");
                server.await("GONE");
                leaver.awaitExit();
            }
            assertThat(errors(server.pid())).isZero();
            assertThat(deviceErrors(server.pid())).isZero();
            try (Child killed = Child.of(LeavingPeer.class).option(property).start(port)) {
                killed.await("SENT");
                killed.kill();
                server.await("GONE");
            }
            awaitKilled(server.pid()); // what is counted late of the first would show, too
        }
    }

    @Test
    void endOfASocketProgramIsNoErrorAndAKilledOneIs() throws Exception {
        TalkProcess.Program talk = new TalkProcess.Program(dir);
        String arguments = "counters.directory=" + folder + ",stream.patience=60000";
        try (TalkProcess server = talk.start(arguments, "serve", "3")) {
            String port = server.line();
            try (TalkProcess leaver = talk.start(arguments, "talk", port, "300", "0")) {
                leaver.end();
            }
            try (TalkProcess next = talk.start(arguments, "hold", port, "300", "0")) {
                assertThat(next.line()).isEqualTo("0");
                awaitRing(server.pid());
                assertThat(errors(server.pid())).isZero();
                assertThat(deviceErrors(server.pid())).isZero();
                next.kill();
            }
            awaitKilled(server.pid());
        }
    }

    /** The process publishes its sockets a while after the first. */
    private void awaitRing(long pid) throws IOException {
        Await.until("a ring", () -> stat("stat", "--once", "--view", "netstat").lines().anyMatch(l -> l.matches(
                "ring .* " + pid + " .*")));
    }
}
