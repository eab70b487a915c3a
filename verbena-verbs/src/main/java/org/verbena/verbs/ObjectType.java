// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** Kind of an object that a process shows to others: an open set, later versions may add values. */
public final class ObjectType {
    /** A flow, {@link Flow}. */
    public static final int FLOW = 0;
    /** A queue pair, {@link QueuePair}. */
    public static final int QP = 1;
    /** A completion queue, {@link CompletionQueue}. */
    public static final int CQ = 2;
    /** A shared receive queue, {@link SharedReceiveQueue}. */
    public static final int SRQ = 3;
    /** A memory region, {@link MemoryRegion}. */
    public static final int MR = 4;
    /** A port of an open device. */
    public static final int PORT = 5;
    /** An open device, {@link Context}. */
    public static final int DEVICE = 6;
    /** A protection domain, {@link ProtectionDomain}. */
    public static final int PD = 7;

    /** The sockets of a process, all of them. */
    public static final int SOCKETS = 8;
    /** A connected socket, or one that is about to be. */
    public static final int CONNECTION = 9;
    /** A socket that listens. */
    public static final int LISTENER = 10;
    /** A rule that decides what sockets use. */
    public static final int RULE = 11;
    /** A counter that rules name. */
    public static final int RULE_COUNTER = 12;
    /** The remote memory of a connected socket: regions of both ends, and copies between them. */
    public static final int REMOTE_MEMORY = 13;

    private ObjectType() {}

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        return switch (value) {
            case FLOW -> "FLOW";
            case QP -> "QP";
            case CQ -> "CQ";
            case SRQ -> "SRQ";
            case MR -> "MR";
            case PORT -> "PORT";
            case DEVICE -> "DEVICE";
            case PD -> "PD";
            case SOCKETS -> "SOCKETS";
            case CONNECTION -> "CONNECTION";
            case LISTENER -> "LISTENER";
            case RULE -> "RULE";
            case RULE_COUNTER -> "RULE_COUNTER";
            case REMOTE_MEMORY -> "REMOTE_MEMORY";
            default -> Integer.toString(value);
        };
    }
}
