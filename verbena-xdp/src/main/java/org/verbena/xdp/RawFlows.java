// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.VerbsException;

/** The flows of a queue pair. Thread-safe. */
interface RawFlows {
    /** The queue pair has a wire. */
    void use(String verb, Wire wire) throws VerbsException;

    /** It has none any more. */
    void unuse();

    /** Makes one. */
    Flow create(XdpQueuePair qp, FlowAttributes attributes) throws VerbsException;

    /** The queue pair is closed. */
    void close();
}
