package org.verbena.shm;

/** A queue pair of ours that is connected to one of a session's peer, as the session sees it. */
interface Connected {
    /** True if {@code peerView} is the connection that it is in, see {@link Link}. */
    boolean isLinkedAs(long peerView);

    /**
     * Moves to ERR, whatever the cause; any thread may call. Does nothing unless it is in use.
     *
     * @param event the asynchronous event to raise, or -1
     */
    void enterError(String reason, int event);

    void peerDied(String reason);

    /** The protection domains whose memory the peer may have to reach. */
    int[] pds();

    /** True if memory of that protection domain is sent, received or reached through it. */
    boolean uses(int pd);
}
