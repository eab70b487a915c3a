// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Validity of user ids in this process's user namespace: user_namespaces(7). For a process or a file whose user is not
 * mapped, the kernel reports the overflow id. Thread-safe.
 */
public final class UserIds {
    private static final Path OVERFLOW = Path.of("/proc/sys/kernel/overflowuid");
    private static final Path MAP = Path.of("/proc/self/uid_map");
    private static final int DEFAULT_OVERFLOW = 65534;
    private static final int MOST_BYTES = 4096;
    private static final long ALL = 4294967295L;

    /** The last value read, for when there is no descriptor to read it with. -1 before that. */
    private static volatile int overflow = -1;

    private UserIds() {}

    /**
     * Whether an id that the kernel reported stands for one user of the machine, and not for all that are not mapped
     * here.
     *
     * @param uid from {@code SO_PEERCRED} or stat(2)
     * @return false for the overflow id, except where every user is mapped
     */
    public static boolean isOneUser(int uid) {
        int read = overflow;
        if (read == -1) {
            read = overflow(text(OVERFLOW));
            overflow = read;
        }
        // not cached: the map may be written after the process has begun
        return isOneUser(uid, read == -1 ? DEFAULT_OVERFLOW : read, text(MAP));
    }

    /**
     * Number of this process's user namespace, unique on this machine at a time; 0 for the initial one, whose ids are
     * the machine's, and where it is not known.
     */
    public static long namespace() {
        return Namespaces.ownUser();
    }

    /** As above, with the contents of the files; the map is parsed for one id only. */
    static boolean isOneUser(int uid, int overflowId, String map) {
        return uid != overflowId || mapsAll(map);
    }

    static int overflow(String text) {
        try {
            return Integer.parseUnsignedInt(text.strip());
        } catch (NumberFormatException notThere) {
            return -1;
        }
    }

    /** Whether a line of three numbers (first here, first in the parent, count) covers all ids. */
    private static boolean mapsAll(String map) {
        String[] words = map.strip().split("\\s+", -1);
        return words.length == 3 && words[2].equals(Long.toString(ALL));
    }

    /** In one call: the kernel ends the file after the first part that is read. */
    private static String text(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = new byte[MOST_BYTES];
            int n = in.read(bytes);
            return n <= 0 ? "" : new String(bytes, 0, n, StandardCharsets.US_ASCII);
        } catch (IOException | SecurityException unknown) {
            return "";
        }
    }
}
