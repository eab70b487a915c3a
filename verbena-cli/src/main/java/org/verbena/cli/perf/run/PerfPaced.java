// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.run;

import java.io.IOException;

/** The side of a ping-pong test that measures, in the steps that a {@link PerfPacer} takes at times of its own. */
public interface PerfPaced {
    /** No limit but that of the transport, which may refuse a message. */
    int UNLIMITED = Integer.MAX_VALUE;

    /** How many messages may be under way at a time; 1 if {@link #poll} waits for the answer. */
    int inFlight();

    /** Messages are counted from 0 again. */
    default void begin() {}

    /** Sends the next message; false if the transport did not take all of it, and is to be asked again. */
    boolean send() throws IOException;

    /** Takes answers that are there, and says so for each by {@link PerfLoop#answered}. */
    void poll() throws IOException;

    /** No answer is expected. */
    default void idle() throws IOException {}
}
