// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

/**
 * Whether the process at the other end of a Unix socket is of this process's user: what {@code SO_PEERCRED} says, less
 * what it does not prove.
 *
 * <p>A user id is one of this process's user namespace (user_namespaces(7)). All users that the namespace does not map have
 * the same one there, the overflow id, 65534 as a rule: so that id proves nothing, unless the namespace maps every user.
 * Any other id that is this process's proves the same user of the machine. His processes in other user namespaces are not
 * trusted, as the kernel does not let them trace each other; nor are those of other PID namespaces, where a process id is
 * another process's.
 */
public enum PeerIdentity {
    /** The same user, in the same user and PID namespace. */
    SAME_USER("belongs to this user"),
    /** Another user. */
    OTHER_USER("belongs to another user"),
    /** The id is that of all users which this user namespace does not map. */
    UNMAPPED_USER("has the user id of everybody whom this user namespace does not map"),
    /** The same user, in another user namespace. */
    OTHER_USER_NAMESPACE("is in another user namespace"),
    /** In another PID namespace. */
    OTHER_PID_NAMESPACE("is in another PID namespace"),
    /** The same user, but the kernel does not let its namespaces be seen, and this one is not the first user namespace. */
    UNSEEN_NAMESPACE("does not let its user namespace be seen");

    private final String sentence;

    PeerIdentity(String sentence) {
        this.sentence = sentence;
    }

    /**
     * Who is at the other end.
     *
     * <p>Where the kernel does not let a process be looked at, for it may not be traced or may do more than this one, the
     * user id decides in the first user namespace of the machine, and nothing proves anything in others.
     *
     * @param socket connected
     * @return the answer; never kept, for the next process at the same name may be another
     * @throws LinuxException {@code EBADF}, {@code ENOTSOCK}
     */
    public static PeerIdentity of(UnixSocket socket) throws LinuxException {
        PeerCredentials peer = socket.peerCredentials();
        if (peer.pid() == Sys.pid()) {
            return SAME_USER; // this process itself
        }
        if (peer.uid() != Sys.uid()) {
            return OTHER_USER;
        }
        if (!UserIds.isOneUser(peer.uid())) {
            return UNMAPPED_USER;
        }
        if (peer.pid() == 0) { // not visible from here
            return OTHER_PID_NAMESPACE;
        }
        return Namespaces.compare(peer.pid(), socket);
    }

    /** What is said of the process, to go behind its name. */
    @Override
    public String toString() {
        return sentence;
    }
}
