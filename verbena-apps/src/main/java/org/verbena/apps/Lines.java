// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps;

import java.io.IOException;

/** How a program talks with who started it: lines to standard output, and the end of standard input. */
public final class Lines {
    private Lines() {}

    /** Says a word and what belongs to it. */
    public static void say(String word, Object... more) {
        StringBuilder line = new StringBuilder(word);
        for (Object m : more) {
            line.append(' ').append(m);
        }
        System.out.println(line);
        System.out.flush();
    }

    /** Waits until whoever started the program closes its input. */
    public static void awaitEnd() throws IOException {
        while (System.in.read() >= 0) {
            // what is said meanwhile means nothing
        }
    }

    /**
     * A pause in which what a connection has begun comes to rest: says {@code paused} and waits for a line of whoever started the
     * program, or for the end of standard input.
     */
    public static void pause() throws IOException {
        say("paused");
        int c = System.in.read();
        while (c >= 0 && c != '\n') {
            c = System.in.read();
        }
    }
}
