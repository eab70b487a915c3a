// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

import org.verbena.testkit.Await;

/** A shell command on its own terminal, which {@code script} creates: keys go in, a {@link Screen} comes out. */
final class ScreenProcess implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Process process;
    private final Screen screen;
    private volatile String failure = "";

    /** Starts it with that terminal type and size, after the command has printed the terminal's name. */
    ScreenProcess(String terminal, int rows, int columns, String command) throws IOException {
        ProcessBuilder b = new ProcessBuilder("script", "-qec", "stty rows " + rows + " cols " + columns + "; "
                + command,
                "/dev/null");
        b.environment().put("TERM", terminal);
        b.environment().put("SHELL", "/bin/sh");
        b.environment().keySet().removeAll(List.of("NO_COLOR"));
        b.redirectErrorStream(true);
        screen = new Screen(rows, columns);
        process = b.start();
        Thread.ofPlatform().daemon().start(this::draw);
    }

    private void draw() {
        byte[] bytes = new byte[8192];
        try (InputStream in = process.getInputStream()) {
            for (int n = in.read(bytes); n >= 0; n = in.read(bytes)) {
                screen.write(bytes, n);
            }
        } catch (IOException e) {
            // it is closed
        } catch (RuntimeException e) {
            failure = e.toString();
        }
    }

    void type(String keys) throws IOException {
        process.getOutputStream().write(keys.getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
    }

    /** Waits until the screen shows all of these. */
    String await(String... texts) {
        return await(s -> List.of(texts).stream().allMatch(s::contains), String.join(", ", texts));
    }

    String await(Predicate<String> wanted, String what) {
        Await.until(LIMIT, () -> failure.isEmpty() && wanted.test(screen.text()), () -> "no " + what + " " + failure
                + " on the screen:\n" + screen.text());
        return screen.text();
    }

    Screen screen() {
        return screen;
    }

    /** The JVM in it. */
    ProcessHandle java() {
        return process.descendants().filter(p -> p.info().command().orElse("").endsWith("/java")).findFirst()
                .orElseThrow(() -> new AssertionError("no JVM:\n" + screen.text()));
    }

    @Override
    public void close() throws IOException {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
