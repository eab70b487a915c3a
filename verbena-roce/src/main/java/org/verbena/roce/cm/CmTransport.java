// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

import org.verbena.verbs.Gid;

/** The transport of messages, and the clock: queue pair 1, or one of a test in virtual time. */
public interface CmTransport {
    /** Nanoseconds of a clock that only goes forward; only differences mean something. */
    long nanoTime();

    /**
     * Sends a message, which may be lost, repeated or come late.
     *
     * @param from own GID
     * @param to the peer's GID
     * @param mad {@value CmCodec#BYTES} bytes
     */
    void send(Gid from, Gid to, byte[] mad);
}
