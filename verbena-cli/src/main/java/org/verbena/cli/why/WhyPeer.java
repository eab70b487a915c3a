// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.why;

import org.verbena.cli.stat.StatText;

/**
 * The process at the other end of a connection, on this host. Immutable.
 *
 * @param pid 0 if it is not known, since it is another user's
 * @param uid of the user that its socket belongs to
 * @param command its words; empty if they are not known
 * @param java whether it runs Java
 * @param verbena whether it shows objects of Verbena
 */
record WhyPeer(long pid, int uid, String command, boolean java, boolean verbena) {
    /** Two words for it, or more. */
    String name() {
        return pid == 0
                ? "a process of user " + Integer.toUnsignedString(uid)
                : "process " + pid + (command.isEmpty() ? "" : ", " + StatText.command(command));
    }
}
