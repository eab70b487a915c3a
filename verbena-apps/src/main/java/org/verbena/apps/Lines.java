package org.verbena.apps;

import java.io.IOException;
import java.lang.management.ManagementFactory;

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
     * A pause in which what a connection has begun comes to rest, in milliseconds: longer where starting took longer, and not
     * shorter than the system property {@code pause} says.
     */
    public static long pauseMillis() {
        return Math.max(Long.getLong("pause", 500), ManagementFactory.getRuntimeMXBean().getUptime());
    }
}
