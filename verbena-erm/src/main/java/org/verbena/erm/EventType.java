// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

/** Types of the events of an {@link EventQueue}. An open set: later versions may add values. */
public final class EventType {
    /** The other end has registered memory that this end may read or write; {@link EventQueue#region()} is its id. */
    public static final int REGION_ADDED = 1;
    /** The other end has deregistered memory: the id is never valid again. */
    public static final int REGION_REMOVED = 2;
    /**
     * The other end has copied into memory of this end, with {@link CopyFlags#REMOTE_COMPLETION}: the bytes have
     * arrived. {@code SMC_ERM_CMD_COMPL} with {@code SMC_ERM_CMD_COPY}.
     */
    public static final int COPIED = 3;
    /** The other end has copied out of memory of this end, with {@link CopyFlags#REMOTE_COMPLETION}: it has the bytes. */
    public static final int COPIED_FROM = 4;
    /**
     * The remote memory has ended, {@link RemoteMemory#endReason()} has the reason; delivered once, after all other
     * events.
     */
    public static final int CLOSED = 5;

    /**
     * The other end has given a region other rights or another tag; {@link RemoteMemory#remoteRegion} returns them.
     * Changes since the program polled the last event of the region are reported as one.
     */
    public static final int REGION_UPDATED = 6;

    private EventType() {}

    /** The name of a type; an unknown one as its number. */
    public static String toString(int type) {
        return switch (type) {
            case REGION_ADDED -> "REGION_ADDED";
            case REGION_REMOVED -> "REGION_REMOVED";
            case COPIED -> "COPIED";
            case COPIED_FROM -> "COPIED_FROM";
            case CLOSED -> "CLOSED";
            case REGION_UPDATED -> "REGION_UPDATED";
            default -> Integer.toString(type);
        };
    }
}
