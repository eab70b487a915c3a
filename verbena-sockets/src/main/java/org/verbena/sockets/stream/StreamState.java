// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

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
    /** What takes the parameters, for one that looks again and again and is not to allocate. */
    interface Reader {
        /** As the record has them. The stream may be locked. */
        void read(int state, boolean inputByRing, boolean outputByRing, FallbackReason reason, int outRing,
                long outOccupied, int inRing, long inOccupied);

        /** Of a stream without rings. */
        default void readByTcp(int state, FallbackReason reason) {
            read(state, false, false, reason, 0, 0, 0, 0);
        }
    }

    /** Keeps what it reads. */
    static final class Kept implements Reader {
        private @Nullable StreamState state;

        @Override
        public void read(int state, boolean inputByRing, boolean outputByRing, FallbackReason reason, int outRing,
                long outOccupied, int inRing, long inOccupied) {
            this.state = new StreamState(state, inputByRing, outputByRing, reason, outRing, outOccupied, inRing,
                    inOccupied);
        }

        StreamState state() {
            return Objects.requireNonNull(state);
        }
    }

    /** What a connection that is decided is called, by what the program has ended of it. */
    static int state(boolean inputEnded, boolean outputEnded) {
        if (inputEnded) {
            return outputEnded ? SocketState.CLOSING : SocketState.INPUT_ENDED;
        }
        return outputEnded ? SocketState.OUTPUT_ENDED : SocketState.OPEN;
    }
}
