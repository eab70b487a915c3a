package org.verbena.tests.apps;

/** Why a connection stays with TCP and nothing is wrong, as the summary names it. */
final class Reason {
    /** The other end is no Verbena. */
    static final String PLAIN_PEER = "plain_peer";
    /** It ended before its ends could agree, as connections that carry one short answer do. */
    static final String CLOSED_EARLY = "closed_early";

    private Reason() {}
}
