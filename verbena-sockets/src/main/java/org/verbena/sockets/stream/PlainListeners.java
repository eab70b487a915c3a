// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

import org.verbena.linux.ProcTcp;

/**
 * Sockets of this process that listened before Verbena was there: what they accept TCP carries, until the program opens
 * them anew. Found by what the kernel reports of this process, for they may be the JDK's or a library's. Thread-safe.
 */
public final class PlainListeners {
    private static final Path OWN = Path.of("/proc/self");

    private static volatile Set<Long> known = Set.of();

    private PlainListeners() {}

    /** Finds them, of all sockets that listen now; answers how many there are. To be called before Verbena opens one. */
    public static int find() {
        Set<Long> listening = new HashSet<>();
        for (ProcTcp t : ProcTcp.all(OWN)) {
            if (t.isListener()) {
                listening.add(t.inode());
            }
        }
        if (!listening.isEmpty()) {
            listening.retainAll(ProcTcp.openInodes(OWN));
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
        left.retainAll(ProcTcp.openInodes(OWN));
        known = left; // their numbers may come back for others
        return left.size();
    }
}
