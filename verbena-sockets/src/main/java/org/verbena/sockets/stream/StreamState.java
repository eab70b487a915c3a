// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import org.verbena.sockets.SocketState;

/**
 * How a connection stands at a moment.
 *
 * @param state see {@link SocketState}
 * @param inputByRing whether a ring carries what comes in
 * @param outputByRing whether a ring carries what goes out
 * @param reason why TCP carries it to the end
 * @param outRing size of the ring that goes out, in bytes; 0 if there is none
 * @param outOccupied bytes in it that the peer has not read, as far as the peer has reported
 * @param inRing size of the ring that comes in
 * @param inOccupied bytes in it that the program has not read
 */
public record StreamState(int state, boolean inputByRing, boolean outputByRing, FallbackReason reason, int outRing,
        long outOccupied, int inRing, long inOccupied) {
    /** Of one without rings. */
    static StreamState byTcp(int state, FallbackReason reason) {
        return new StreamState(state, false, false, reason, 0, 0, 0, 0);
    }

    /** What a connection that is decided is called, by what the program has ended of it. */
    static int state(boolean inputEnded, boolean outputEnded) {
        if (inputEnded) {
            return outputEnded ? SocketState.CLOSING : SocketState.INPUT_ENDED;
        }
        return outputEnded ? SocketState.OUTPUT_ENDED : SocketState.OPEN;
    }
}
