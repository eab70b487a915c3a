// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.LinkedBlockingQueue;

/** The child's end of the lines between a test and a {@link Child}. The child ends when its input does. */
public final class Peer {
    private static final LinkedBlockingQueue<String> LINES = new LinkedBlockingQueue<>();

    private Peer() {}

    /** Starts to listen to the test. */
    public static void begin() {
        Thread.ofPlatform().daemon().name("lines").start(() -> {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            try {
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    LINES.add(line);
                }
            } catch (IOException e) {
                // the test is gone
            }
            Runtime.getRuntime().halt(0);
        });
    }

    /** Says a line to the test. */
    public static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    /** Waits for a line of the test. */
    public static String hear() throws InterruptedException {
        return LINES.take();
    }

    /** True if a line of the test waits; cheap. */
    public static boolean told() {
        return !LINES.isEmpty();
    }
}
