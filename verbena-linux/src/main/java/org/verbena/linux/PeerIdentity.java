// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

/**
 * Whether the process at the other end of a Unix socket has this process's user: the part of {@code SO_PEERCRED} that
 * is proof.
 *
 * <p>A user id belongs to this process's user namespace (user_namespaces(7)). All users that the namespace does not map
 * have the same id there, the overflow id, usually 65534: so that id proves nothing, unless the namespace maps every
 * user. Any other id that equals this process's proves the same user of the machine. That user's processes in other
 * user namespaces are not trusted, as the kernel does not let them trace each other; nor are those of other PID
 * namespaces, where a process id means another process.
 */
public enum PeerIdentity {
    /** The same user, in the same user and PID namespace. */
    SAME_USER("belongs to this user"),
    /** Another user. */
    OTHER_USER("belongs to another user"),
    /** The overflow id, shared by all users that this user namespace does not map. */
    UNMAPPED_USER("has the user id of all users whom this user namespace does not map"),
    /** The same user, in another user namespace. */
    OTHER_USER_NAMESPACE("is in another user namespace"),
    /** In another PID namespace. */
    OTHER_PID_NAMESPACE("is in another PID namespace"),
    /** The same user, but its namespaces are not visible, and this one is not the initial user namespace. */
    UNSEEN_NAMESPACE("does not let its user namespace be seen");

    private final String sentence;

    PeerIdentity(String sentence) {
        this.sentence = sentence;
    }

    /**
     * Identifies the peer of a socket.
     *
     * <p>If the kernel does not allow inspecting a process, since it may not be traced or has more privileges than this
     * one, the user id decides in the initial user namespace of the machine, and nothing is proof in others.
     *
     * @param socket connected
     * @return the identity; never cache it, for the next process at the same name may be another
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

    /** A statement about the process, to follow its name. */
    @Override
    public String toString() {
        return sentence;
    }
}
