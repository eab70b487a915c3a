// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

/** Why a connection was rejected (IBTA volume 1, 12.6.7.2). An open set. */
public final class RejectReason {
    public static final int NO_QUEUE_PAIR = 1;
    public static final int NO_RESOURCES = 3;
    public static final int TIMEOUT = 4;
    public static final int UNSUPPORTED = 5;
    public static final int INVALID_SERVICE_ID = 8;
    public static final int INVALID_TRANSPORT = 9;
    public static final int STALE_CONNECTION = 10;
    public static final int INVALID_GID = 12;
    public static final int INVALID_MTU = 26;
    public static final int CONSUMER_DEFINED = 28;
    public static final int VENDOR_OPTION_UNSUPPORTED = 35;

    private RejectReason() {}

    /** Whether it is an application's, which may add private data; for others these are undefined. */
    static boolean isOfApplication(int reason) {
        return reason == CONSUMER_DEFINED || reason == VENDOR_OPTION_UNSUPPORTED;
    }

    /** The reason in words. */
    public static String toString(int reason) {
        return switch (reason) {
            case NO_QUEUE_PAIR -> "the peer has no queue pair for it";
            case NO_RESOURCES -> "the peer has too many requests waiting";
            case TIMEOUT -> "the peer has waited too long";
            case UNSUPPORTED -> "the peer does not support the request";
            case INVALID_SERVICE_ID -> "there is no listener";
            case INVALID_TRANSPORT -> "the peer does not support the type of queue pair";
            case STALE_CONNECTION -> "the peer still has an older connection with this queue pair";
            case INVALID_GID -> "the GID in the request is not one of the peer";
            case INVALID_MTU -> "the peer's path MTU is smaller";
            case CONSUMER_DEFINED -> "the peer's application rejected it";
            default -> "the peer gave reason " + reason;
        };
    }
}
