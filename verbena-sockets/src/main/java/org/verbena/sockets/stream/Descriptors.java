package org.verbena.sockets.stream;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.io.IOException;

/** How many descriptors this process has, and may have. */
final class Descriptors {
    private static final String LIMIT = "Max open files";

    private Descriptors() {}

    /** Whether so many can be opened. It takes no more than one itself, which the program may need. */
    static boolean areLeft(int wanted) {
        String[] open = new File("/proc/self/fd").list();
        return open != null && most() - open.length >= wanted;
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
