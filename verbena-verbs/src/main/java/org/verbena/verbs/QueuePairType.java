// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** Type of a queue pair, {@code enum ibv_qp_type}: an open set, later versions may add values. */
public final class QueuePairType {
    /** Reliable connection. */
    public static final int RC = 2;
    /** Unreliable connection. */
    public static final int UC = 3;
    /** Unreliable datagram. */
    public static final int UD = 4;
    /** Raw packets. */
    public static final int RAW_PACKET = 8;
    /** Extended reliable connection, sending side. */
    public static final int XRC_SEND = 9;
    /** Extended reliable connection, receiving side. */
    public static final int XRC_RECV = 10;

    private QueuePairType() {}

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        return switch (value) {
            case RC -> "RC";
            case UC -> "UC";
            case UD -> "UD";
            case RAW_PACKET -> "RAW_PACKET";
            case XRC_SEND -> "XRC_SEND";
            case XRC_RECV -> "XRC_RECV";
            default -> Integer.toString(value);
        };
    }
}
