// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.verbena.testkit.LinkState;

/** {@code verbena netcat} as a process of its own, whose standard error is read by lines. */
record NetcatProcess(Process process, BufferedReader err) implements AutoCloseable {
    static NetcatProcess start(Redirect in, Redirect out, String... arguments) throws IOException {
        return start(List.of(), in, out, arguments);
    }

    /** Behind another command. */
    static NetcatProcess start(List<String> before, Redirect in, Redirect out, String... arguments) throws IOException {
        String modules = CommandProcess.modulePath();
        List<String> command = new ArrayList<>(before);
        command.addAll(CommandProcess.java(modules));
        command.addAll(CommandArchive.options(modules));
        command.addAll(CommandProcess.module("netcat"));
        command.addAll(List.of(arguments));
        Process p = new ProcessBuilder(command).redirectInput(in).redirectOutput(out).start();
        return new NetcatProcess(p, p.errorReader(StandardCharsets.UTF_8));
    }

    /** With pipes. */
    static NetcatProcess start(String... arguments) throws IOException {
        return start(Redirect.PIPE, Redirect.PIPE, arguments);
    }

    /** Waits until it listens at an address, and the other end of its interface is up. */
    void awaitListening(String address, String link) throws Exception {
        String line = err.readLine();
        assertThat(line).isNotNull().startsWith("verbena: listening at " + address);
        LinkState.awaitUp(link);
    }

    /** Waits for the end, which has to have this code; answers what it has said. */
    String end(int code) throws Exception {
        String said = err.lines().collect(Collectors.joining("\n"));
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).as(said).isEqualTo(code);
        return said;
    }

    void write(String text) throws IOException {
        OutputStream to = process.getOutputStream();
        to.write(text.getBytes(StandardCharsets.UTF_8));
        to.flush();
    }

    String output() throws IOException {
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
