// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

import org.verbena.verbs.Gid;

/** Carries messages and reads the clock: queue pair 1, or a test's transport in virtual time. */
public interface CmTransport {
    /** Nanoseconds of a monotonic clock; only differences are meaningful. */
    long nanoTime();

    /**
     * Sends a message, which may be lost, duplicated or delayed.
     *
     * @param from the local GID
     * @param to the peer's GID
     * @param mad {@value CmCodec#BYTES} bytes
     */
    void send(Gid from, Gid to, byte[] mad);
}
