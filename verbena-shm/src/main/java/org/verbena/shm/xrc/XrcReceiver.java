// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.xrc;

import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;

/** A queue pair of type XRC_RECV, of this process or another, as seen by its handles. For any thread. */
public interface XrcReceiver {
    /** A handle. */
    interface Observer {
        /** Receives its asynchronous events. */
        void raise(int event, String detail);
    }

    QueuePairState state();

    /** Why it went to ERR; empty if it did not. */
    String errorReason();

    QueuePairAttributes query(String verb) throws VerbsException;

    /**
     * Carries out a transition that the state machine allows.
     *
     * @param from the state that the transition was checked for
     * @throws VerbsException {@code EINVAL} if it is in another state by now
     */
    void modify(String verb, QueuePairState from, QueuePairAttributes a) throws VerbsException;

    /** Closes a handle; with the last one it is destroyed. */
    void close(Observer observer);
}
