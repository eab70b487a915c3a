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

import javax.tools.ToolProvider;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.testkit.Jvm;

/** A program that uses the Extra API where there is one, in two processes: with the agent, without it, with one of another version. */
@Timeout(180)
class ExtraApiTest {
    private static final int BYTES = 3_000_000;

    @TempDir static Path dir;
    private static Path jar;
    private static String classPath;

    @BeforeAll
    static void prepare() throws Exception {
        jar = AgentJar.in(dir);
        Path classes = Files.createDirectories(dir.resolve("packets"));
        Path source = dir.resolve("Packets.java");
        try (var in = ExtraApiTest.class.getResourceAsStream("/agent/Packets.java")) {
            Files.copy(in, source);
        }
        classPath = Stream.concat(Stream.of(classes), Stream.of("sockets", "linux", "telemetry", "verbs", "shm").map(
                AgentJar::onClassPath)).map(Path::toString).collect(Collectors.joining(File.pathSeparator));
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, "-nowarn", "-proc:none", "-cp", classPath,
                "-d",
                classes.toString(), source.toString())).isZero();
    }

    private static List<String> command(List<String> options, String path, String... words) {
        List<String> c = Jvm.command();
        c.addAll(options);
        c.addAll(List.of("-cp", path, "Packets"));
        c.addAll(List.of(words));
        return c;
    }

    private static List<String> agent(String arguments) {
        return List.of("-javaagent:" + jar + "=quiet" + arguments);
    }

    /** The last line of the receiver. */
    private static String receive(List<String> options, List<String> senders, boolean kill) throws Exception {
        Path errors = Files.createTempFile(dir, "receiver", "");
        Process receiver = new ProcessBuilder(command(options, classPath, "receive")).redirectError(errors.toFile())
                .start();
        try (var out = receiver.inputReader()) {
            String port = out.readLine();
            assertThat(port).as(Files.readString(errors)).isNotNull();
            Process sender = new ProcessBuilder(command(senders, classPath, "send", port, String.valueOf(BYTES)))
                    .redirectError(ProcessBuilder.Redirect.DISCARD).start();
            try (var sent = sender.inputReader()) {
                String bytes = sent.readLine();
                assertThat(bytes).isNotNull();
                if (kill) {
                    assertThat(sender.destroyForcibly().waitFor()).isNotZero();
                } else {
                    sender.getOutputStream().close();
                }
                String line = out.readLine();
                assertThat(Files.readString(errors)).isEmpty();
                assertThat(receiver.waitFor()).isZero();
                return String.valueOf(line).replace(bytes, "all");
            } finally {
                sender.destroyForcibly();
            }
        } finally {
            receiver.destroyForcibly();
        }
    }

    @Test
    void withoutTheAgentThereIsNone() throws Exception {
        assertThat(receive(List.of(), List.of(), false)).isEqualTo("read all");
    }

    /** TCP brings the first bytes, rings what follows; all are held until the channel is closed. */
    @Test
    void withTheAgent() throws Exception {
        String line = "received all, copied true, packets true, held 0, the end";
        assertThat(receive(agent(",stream.earn=20000,stream.patience=60000"), agent(
                ",stream.earn=20000,stream.patience=60000"), false)).isEqualTo(line);
    }

    @Test
    void fromAPlainPeer() throws Exception {
        assertThat(receive(agent(",stream.patience=1000"), List.of(), false)).isEqualTo(
                "received all, copied true, packets false, held 0, the end");
    }

    /** What the peer has sent stays, though its process is gone; what is held counts as unread for the peer alone. */
    @Test
    void peerIsKilledWhilePacketsAreHeld() throws Exception {
        assertThat(receive(agent(",stream.earn=20000,stream.patience=60000"), agent(
                ",stream.earn=20000,stream.patience=60000"), true)).isEqualTo(
                        "received all, copied true, packets true, held 0, the end");
    }

    /** What is held counts as unread where the process dies, and as read where it closes the channel. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void holderIsKilledOrCloses(boolean kill) throws Exception {
        List<String> options = agent(",stream.earn=0,stream.patience=60000");
        Process holder = new ProcessBuilder(command(options, classPath, "hold")).redirectError(
                ProcessBuilder.Redirect.DISCARD).start();
        try (var out = holder.inputReader()) {
            Process sender = new ProcessBuilder(command(options, classPath, "send", out.readLine(), "0")).redirectError(
                    ProcessBuilder.Redirect.DISCARD).start();
            try (var sent = sender.inputReader()) {
                // no byte is sent by rings until the holder has its share
                assertThat(sent.readLine()).isNotNull();
                assertThat(out.readLine()).isEqualTo("holds");
                if (kill) {
                    holder.destroyForcibly();
                } else {
                    holder.getOutputStream().write('\n');
                    holder.getOutputStream().flush();
                }
                assertThat(sent.readLine()).isEqualTo(kill ? "Connection reset" : "read -1");
            } finally {
                sender.destroyForcibly();
            }
        } finally {
            holder.destroyForcibly();
        }
    }

    /** The agent's own Verbena carries the process, which has one that is older, or incomplete. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void versionsThatDoNotFit(boolean older) throws Exception {
        List<String> path = new ArrayList<>(List.of(classPath.split(File.pathSeparator)));
        if (older) { // it has no DropIn that the agent takes
            Path old = AgentJar.copy(AgentJar.onClassPath("sockets"), dir.resolve("old.jar"), n -> !n.endsWith(
                    "/DropIn.class"));
            path.set(1, old.toString());
        }
        AgentRun r = AgentRun.of(command(agent(""), String.join(File.pathSeparator, path), "ask"), dir);
        assertThat(r.out()).as(r.err()).isEqualTo("api " + !older + "\n");
    }

    /** The JDK's property names Verbena's provider: there is no agent, and there is the API. */
    @Test
    void providerSetByTheJdkProperty() throws Exception {
        List<String> options = new ArrayList<>(Jvm.CHANNELS_ON_CLASS_PATH);
        options.add("-Djava.nio.channels.spi.SelectorProvider=org.verbena.sockets.VerbenaSelectorProvider");
        assertThat(AgentRun.of(command(options, classPath, "ask"), dir)).isEqualTo(new AgentRun(0, "api true\n", ""));
        assertThat(AgentRun.of(command(List.of(), classPath, "ask"), dir)).isEqualTo(new AgentRun(0, "api false\n",
                ""));
    }
}
