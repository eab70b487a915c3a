// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

/**
 * Credentials of the process at the other end of a Unix socket, as the kernel recorded them when the connection (or the
 * pair) was made: SO_PEERCRED, unix(7).
 *
 * @param pid process id, in the reader's PID namespace; 0 if it is not visible there
 * @param uid effective user id
 * @param gid effective group id
 */
public record PeerCredentials(int pid, int uid, int gid) {}
