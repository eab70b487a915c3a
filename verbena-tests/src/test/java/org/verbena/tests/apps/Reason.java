// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

/**
 * An expected reason why connections stay with TCP, by its name in the summary, and how many do.
 *
 * @param name in the summary
 * @param least the fewest
 * @param most the most
 */
record Reason(String name, long least, long most) {
    /** The other end is plain. */
    private static final String PLAIN_PEER = "plain_peer";

    /** At least this many; on a slow machine a supposedly short connection may live longer than the timeout. */
    static Reason plainPeers(long least) {
        return new Reason(PLAIN_PEER, least, Long.MAX_VALUE);
    }

    /** None is needed. */
    static Reason plainPeersUpTo(long most) {
        return new Reason(PLAIN_PEER, 0, most);
    }

    /** Connections that ended before the handshake, for instance those with one short answer. */
    static Reason closedEarly(long most) {
        return new Reason("closed_early", 0, most);
    }
}
