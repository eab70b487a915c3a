// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/**
 * Sockets of this process that listened before Verbena was there: what they accept TCP carries, until the program opens
 * them anew. Found by what the kernel reports of this process, for they may be the JDK's or a library's. Thread-safe.
 */
public final class PlainListeners {
    private static final Path OWN = Path.of("/proc/self");
    private static final String SOCKET = "socket:[";

    /** Columns of /proc/net/tcp, proc_pid_net(5). */
    private static final int STATE = 3;
    private static final int INODE = 9;
    private static final String LISTENS = "0A";

    private static volatile Set<Long> known = Set.of();

    private PlainListeners() {}

    /** Finds them, of all sockets that listen now; answers how many there are. To be called before Verbena opens one. */
    public static int find() {
        Set<Long> listening = new HashSet<>();
        addListening("tcp", listening);
        addListening("tcp6", listening);
        if (!listening.isEmpty()) {
            listening.retainAll(open());
        }
        known = listening;
        if (!listening.isEmpty()) {
            PublishedSockets.begin(); // the program may never open another
        }
        return listening.size();
    }

    /** How many of them are still open. */
    static int count() {
        Set<Long> before = known;
        if (before.isEmpty()) {
            return 0;
        }
        Set<Long> left = new HashSet<>(before);
        left.retainAll(open());
        known = left; // their numbers may come back for others
        return left.size();
    }

    private static void addListening(String protocol, Set<Long> inodes) {
        try (BufferedReader lines = Files.newBufferedReader(OWN.resolve("net").resolve(protocol))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] columns = line.strip().split("\\s+", -1);
                if (columns.length > INODE && columns[STATE].equals(LISTENS)) {
                    inodes.add(Long.parseLong(columns[INODE]));
                }
            }
        } catch (IOException | NumberFormatException e) {
            // no such protocol, or nothing that can be read of it
        }
    }

    /** The sockets that descriptors of this process lead to. */
    private static Set<Long> open() {
        Set<Long> inodes = new HashSet<>();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(OWN.resolve("fd"))) {
            for (Path descriptor : descriptors) {
                long inode = socket(descriptor);
                if (inode != 0) {
                    inodes.add(inode);
                }
            }
        } catch (IOException e) {
            // what was read counts
        }
        return inodes;
    }

    /** 0 if it is no socket, or closed by now. */
    private static long socket(Path descriptor) {
        try {
            String target = Files.readSymbolicLink(descriptor).toString();
            return target.startsWith(SOCKET)
                    ? Long.parseLong(target.substring(SOCKET.length(), target.length() - 1))
                    : 0;
        } catch (IOException e) {
            return 0;
        }
    }
}
