// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps;

import java.io.IOException;

/** The protocol of a program with its starter: lines on standard output, and the end of standard input. */
public final class Lines {
    private Lines() {}

    /** Prints a word with its arguments. */
    public static void say(String word, Object... more) {
        StringBuilder line = new StringBuilder(word);
        for (Object m : more) {
            line.append(' ').append(m);
        }
        System.out.println(line);
        System.out.flush();
    }

    /** Waits until the starter closes the input. */
    public static void awaitEnd() throws IOException {
        while (System.in.read() >= 0) {
            // lines before the end have no meaning
        }
    }

    /**
     * A pause in which the set-up of connections settles: prints {@code paused} and waits for a line from the starter,
     * or for the end of standard input.
     */
    public static void pause() throws IOException {
        say("paused");
        int c = System.in.read();
        while (c >= 0 && c != '\n') {
            c = System.in.read();
        }
    }
}
