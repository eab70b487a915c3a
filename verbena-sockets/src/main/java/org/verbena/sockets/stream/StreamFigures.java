// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import org.verbena.sockets.telemetry.StreamEvents;

/**
 * What one connection has come to, or all of a process. Taken without stopping anybody: of a connection in use each number
 * is of some moment of the call.
 *
 * @param sentByRing bytes written that a ring carried
 * @param sentByTcp bytes written that TCP carried
 * @param receivedByRing bytes read that a ring carried
 * @param receivedByTcp bytes taken from TCP; the program may not have read the last of them
 * @param doorbells times this end woke the peer
 * @param wakeUps times this end took a doorbell of the peer's
 * @param stalls writes that found the ring full
 * @param growths times a ring was replaced by a larger one, in either direction
 */
public record StreamFigures(long sentByRing, long sentByTcp, long receivedByRing, long receivedByTcp, long doorbells,
        long wakeUps, long stalls, long growths) {
    /** For the flight recorder. */
    StreamEvents.Carried carried() {
        return new StreamEvents.Carried(sentByRing, sentByTcp, receivedByRing, receivedByTcp, doorbells, wakeUps,
                stalls);
    }
}
