// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

/**
 * Why connections stay with TCP and nothing is wrong, as the summary names it, and how many do.
 *
 * @param name as in the summary
 * @param least there are
 * @param most there may be
 */
record Reason(String name, long least, long most) {
    /** The other end is no Verbena. */
    private static final String PLAIN_PEER = "plain_peer";

    /** This many at least; a connection that was thought to be short may live longer than the patience, on a slow machine. */
    static Reason plainPeers(long least) {
        return new Reason(PLAIN_PEER, least, Long.MAX_VALUE);
    }

    /** None is needed. */
    static Reason plainPeersUpTo(long most) {
        return new Reason(PLAIN_PEER, 0, most);
    }

    /** Those that ended before their ends could agree, as connections that carry one short answer do. */
    static Reason closedEarly(long most) {
        return new Reason("closed_early", 0, most);
    }
}
