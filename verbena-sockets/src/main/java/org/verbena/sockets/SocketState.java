// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets;

/** State of a socket that a process publishes: an open set, later versions may add values. */
public final class SocketState {
    /** It waits for connections. */
    public static final int LISTEN = 1;
    /** TCP is about to connect it. */
    public static final int CONNECTING = 2;
    /** It is connected, TCP carries its bytes, and the handshake decides whether rings will. */
    public static final int HANDSHAKE = 3;
    /** It is connected, and what carries its bytes is decided. */
    public static final int OPEN = 4;
    /** The program has ended the direction that goes out. */
    public static final int OUTPUT_ENDED = 5;
    /** The program wants no more of the direction that comes in. */
    public static final int INPUT_ENDED = 6;
    /** The program has ended both directions. */
    public static final int CLOSING = 7;

    private SocketState() {}

    /** The value's name, or its number if this version has no name for it; empty for 0. */
    public static String toString(int value) {
        return switch (value) {
            case 0 -> "";
            case LISTEN -> "LISTEN";
            case CONNECTING -> "CONNECTING";
            case HANDSHAKE -> "HANDSHAKE";
            case OPEN -> "OPEN";
            case OUTPUT_ENDED -> "OUTPUT_ENDED";
            case INPUT_ENDED -> "INPUT_ENDED";
            case CLOSING -> "CLOSING";
            default -> Integer.toString(value);
        };
    }
}
