// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import org.verbena.telemetry.ObjectKinds;

/**
 * Kind of an object that a process shows to others: an open set, later versions may add values, and other modules have types of
 * their own.
 */
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
    /** A work queue, {@link WorkQueue}. The numbers before it are those of other modules. */
    public static final int WQ = 14;

    private ObjectType() {}

    /** The value's name, or its number if this version does not know it. Types of other modules are known where those are there. */
    public static String toString(int value) {
        return ObjectKinds.of(value).name();
    }
}
