// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.why;

import java.util.List;
import java.util.Locale;

/**
 * The answer about one process. Immutable.
 *
 * @param command its words
 * @param verbena whether it has Verbena
 * @param state the same for people
 * @param remedy how it gets Verbena, or what it lacks; empty if there is nothing to do
 * @param connections that were asked about
 * @param listeners addresses where Verbena listens
 * @param plain addresses of other listeners: TCP carries what they accept
 * @param notes other sentences about it
 */
record WhyProcess(long pid, String command, Presence verbena, String state, String remedy,
        List<WhyConnection> connections, List<String> listeners, List<String> plain, List<String> notes) {

    /** Whether a process has Verbena. */
    enum Presence {
        /** Its sockets are Verbena's. */
        ACTIVE,
        /** In part: another agent has taken something back. */
        PARTLY,
        /** They will be as soon as it opens one. */
        PENDING,
        /** The agent is there, and says why it is not active. */
        REFUSED,
        /** It has none. */
        NONE,
        /** It cannot be asked. */
        UNKNOWN;

        String key() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    boolean hasVerbena() {
        return verbena == Presence.ACTIVE || verbena == Presence.PARTLY;
    }

    /** How many of its connections something carries. */
    long count(WhyConnection.Carrier carrier) {
        return connections.stream().filter(c -> c.carrier() == carrier).count();
    }
}
