// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.io.IOException;

import org.verbena.linux.Errno;
import org.verbena.verbs.VerbsException;

/** How many descriptors this process has, and may have. */
final class Descriptors {
    private static final String LIMIT = "Max open files";

    /** The fraction of the limit that is kept for the program: one in this number. */
    private static final int PART = 32;
    private static final int MIN_RESERVE = 32;
    private static final int MAX_RESERVE = 1024;

    /** Why nothing is begun unless they {@linkplain #areAmple are ample}. */
    static final String SCARCE = "nearly all descriptors are used, and the last ones are the program's; raise ulimit -n";

    private Descriptors() {}

    /**
     * Refuses to begin something for which they have to be {@linkplain #areAmple ample}.
     *
     * @throws VerbsException {@code EMFILE}
     */
    static void requireAmple(String verb) throws VerbsException {
        if (!areAmple()) {
            throw new VerbsException(verb, Errno.EMFILE, SCARCE);
        }
    }

    /** Whether that number can be opened. Opens at most one itself, which the program may need. */
    static boolean areLeft(int wanted) {
        return areLeft(most(), wanted);
    }

    private static boolean areLeft(long most, int wanted) {
        String[] open = new File("/proc/self/fd").list();
        return open != null && most - open.length >= wanted;
    }

    /**
     * Whether there are enough for a session with one more process, and then some: the last ones are the program's,
     * which cannot do without.
     */
    static boolean areAmple() {
        long most = most();
        return areLeft(most, Math.clamp(most / PART, MIN_RESERVE, MAX_RESERVE));
    }

    /** How many there may be; 0 if that cannot be read, most likely for want of one. */
    static long most() {
        try (BufferedReader limits = new BufferedReader(new FileReader("/proc/self/limits", US_ASCII))) {
            for (String line = limits.readLine(); line != null; line = limits.readLine()) {
                if (line.startsWith(LIMIT)) {
                    String most = line.substring(LIMIT.length()).strip().split(" ", 2)[0];
                    return most.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(most);
                }
            }
            return Long.MAX_VALUE;
        } catch (IOException e) {
            return 0;
        }
    }
}
