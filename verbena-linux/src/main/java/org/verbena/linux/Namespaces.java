// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

/** Compares the user and PID namespaces of another process with this one's: namespaces(7), by {@code /proc/PID/ns}. */
final class Namespaces {
    /** Inode of the initial user namespace: the same on every kernel that has these files. */
    private static final long INITIAL_USER = 0xEFFF_FFFDL;
    private static final Path STATUS = Path.of("/proc/self/status");

    /** Whether /proc shows the numbers of this process's PID namespace; null before that is known. */
    private static volatile @Nullable Boolean ownNumbers;

    private Namespaces() {}

    /** For a process with this process's user id; the connected socket shows whether it is still that process. */
    static PeerIdentity compare(int pid, UnixSocket socket) {
        if (!hasOwnNumbers()) {
            return PeerIdentity.UNSEEN_NAMESPACE;
        }
        long ownUser = number("self", "user");
        long ownPids = number("self", "pid");
        if (ownUser < 0 || ownPids < 0) {
            return PeerIdentity.UNSEEN_NAMESPACE;
        }
        long user = number(Integer.toString(pid), "user");
        long pids = number(Integer.toString(pid), "pid");
        if (user < 0 || pids < 0 || !socket.isPeerAlive()) {
            return ownUser == INITIAL_USER || ownUser == 0
                    ? PeerIdentity.SAME_USER
                    : PeerIdentity.UNSEEN_NAMESPACE;
        }
        if (user != ownUser) {
            return PeerIdentity.OTHER_USER_NAMESPACE;
        }
        return pids == ownPids ? PeerIdentity.SAME_USER : PeerIdentity.OTHER_PID_NAMESPACE;
    }

    /** The number of this process's user namespace; 0 for the initial one, and where it is not known. */
    static long ownUser() {
        long own = number("self", "user");
        return own == INITIAL_USER ? 0 : Math.max(0, own);
    }

    /** The number of a namespace; 0 where the kernel does not have that type; negative if it is not readable. */
    private static long number(String process, String kind) {
        long found = Statx.inode("/proc/" + process + "/ns/" + kind);
        return found == -Errno.ENOENT && Statx.inode("/proc/" + process + "/ns") > 0 ? 0 : found;
    }

    /** A /proc that was mounted in another PID namespace shows other processes under these numbers. */
    private static boolean hasOwnNumbers() {
        Boolean known = ownNumbers;
        if (known == null) {
            try {
                known = isOneNumber(Files.readString(STATUS));
                ownNumbers = known;
            } catch (IOException | SecurityException unknown) {
                return false; // none, or no free descriptor to read it
            }
        }
        return known;
    }

    /** Whether a process has only one number at and below the namespace of /proc, its own. */
    static boolean isOneNumber(String status) {
        return status.lines().filter(l -> l.startsWith("NSpid:"))
                .anyMatch(l -> l.substring("NSpid:".length()).strip().equals(Integer.toString(Sys.pid())));
    }
}
