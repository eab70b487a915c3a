// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.Jvm;
import org.verbena.tests.ProgramLane;

/** A failure while a program opens its first socket leaves it all sockets that it has without Verbena. */
@ProgramLane
class FirstSocketTest {
    /** More than {@code NoThreads} leaves free. */
    private static final String STACK = "-Xss512m";
    private static final String INACTIVE = "verbena: not active, all sockets are the kernel's: ";

    @TempDir static Path dir;
    private static Path jar;
    private static Path classes;

    @BeforeAll
    static void prepare() throws Exception {
        jar = AgentJar.in(dir);
        AgentJar.program(dir, "Report");
        classes = AgentJar.program(dir, "NoThreads");
    }

    private static AgentRun withoutThreads(List<String> options, String kind) throws Exception {
        List<String> command = Jvm.command("-Xmx256m", "-Xlog:disable", STACK);
        command.addAll(options);
        command.addAll(List.of("NoThreads", kind));
        AgentRun r = AgentRun.of(command, dir);
        String said = kind.equals("classic") ? "classic s" : "channels c";
        assertThat(r.code()).as(r.err()).isZero();
        assertThat(r.out().lines().filter(l -> !l.equals("a thread again"))).as(r.err())
                .containsExactly("no thread", said, said, said);
        return r;
    }

    @ParameterizedTest
    @ValueSource(strings = {"channels", "classic"})
    void threadLimitMakesTheAgentKeepTheSocketsOfTheJdk(String kind) throws Exception {
        AgentRun r = withoutThreads(List.of("-javaagent:" + jar, "-cp", classes.toString()), kind);
        assertThat(r.err()).startsWith(INACTIVE + "java.lang.OutOfMemoryError: ");
        assertThat(r.err().lines()).hasSize(1);
    }

    @Test
    void threadLimitMakesChannelsUseTheKernel() throws Exception {
        String path = Stream.concat(Stream.of(classes), Stream.of("linux", "telemetry", "verbs", "shm", "sockets")
                .map(AgentJar::onClassPath)).map(Path::toString).collect(Collectors.joining(File.pathSeparator));
        List<String> options = new ArrayList<>(Jvm.CHANNELS_ON_CLASS_PATH);
        options.addAll(List.of("-Djava.nio.channels.spi.SelectorProvider=org.verbena.sockets.VerbenaSelectorProvider",
                "-cp", path));
        AgentRun r = withoutThreads(options, "channels");
        assertThat(r.err()).contains("no memory for rings");
    }

    @Test
    void brokenServiceFileDoesNotAffectClassicSockets() throws Exception {
        Path services = Files.createDirectories(dir.resolve("broken/META-INF/services"));
        Files.writeString(services.resolve("java.nio.channels.spi.SelectorProvider"), "no.such.Provider\n");
        String path = classes + File.pathSeparator + services.getParent().getParent();
        AgentRun r = AgentRun.of(AgentRun.command(AgentRun.java(), List.of("-javaagent:" + jar, "-cp", path), classes,
                "classic"), dir);
        assertThat(r.code()).as(r.err()).isZero();
        assertThat(r.out()).isEqualTo("classic hello\n");
        assertThat(r.err()).startsWith(INACTIVE + "java.util.ServiceConfigurationError: ");
        assertThat(r.err().lines()).hasSize(1);
    }
}
